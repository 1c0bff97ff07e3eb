/*
 * artifact_file.h - artifacts of an object as a file, which another store can
 * load.
 *
 * A file has one or more artifacts, one after the other.  It has the same bytes
 * on every host.  docs/formats/artifact.md describes it byte by byte.  The kind's
 * reader verifies the extents; this file only checks the frame around them.
 */
#ifndef SYM_ARTIFACTS_ARTIFACT_FILE_H
#define SYM_ARTIFACTS_ARTIFACT_FILE_H

#include "artifacts/extents.h"
#include "artifacts/kinds.h"

#define SYM_ARTIFACT_FILE_VERSION 3

/* Room for everything before the first extent. */
#define SYM_ARTIFACT_HEAD_MAX 2048

/* Bytes before each extent: its length and checksum. */
#define SYM_ARTIFACT_EXTENT_HEAD 8

/* An artifact.  Without a kind and extents: only what its file lacks. */
typedef struct {
    const sym_kind_row_t *kind; /* NULL: none, or an unknown one */
    uint32_t kind_version;
    uint8_t quality;
    uint16_t features; /* contents of that file: SYM_FEATURES */
    bool is_nameless;  /* the ids alone identify the object */
    uint32_t extents;
    uint64_t bytes;        /* of all extents; not set when it is read */
    uint64_t source_bytes; /* size of the file that it was made from */
    uint32_t lacks; /* kinds that were not found in that file, 1 << kind ... */
    uint32_t
        reader;     /* ... by this version of the readers: sym_kinds_reader() */
    sym_str_t name; /* name of the object's debug file */
    sym_str_t debug_id; /* canonical, or "" */
    sym_str_t code_id;  /* or "" */
    sym_str_t digest;   /* digest of its URL (sym_object_ref_digest()), or "" */
    sym_str_t reason;   /* which companions were missing; "": none */
    const char *unread; /* why this program takes nothing from it; NULL: it can
                           be read */
} sym_artifact_file_t;

bool sym_artifact_file_is(const uint8_t *data, size_t len);

/* Writes the head; returns its length.  0: a text is too long. */
size_t sym_artifact_file_write(const sym_artifact_file_t *file,
                               char out[SYM_ARTIFACT_HEAD_MAX]);

/*
 * Reads the head of the first artifact of *data; the texts are views of it.
 * *extents: the bytes of its extents.  *data: the other artifacts.  One that this
 * program does not read, because of its version or kind, is SYM_OK, too.
 * SYM_MALFORMED, SYM_TRUNCATED, SYM_DAMAGED.
 */
sym_status_t sym_artifact_file_read(sym_str_t *data, sym_artifact_file_t *file,
                                    sym_str_t *extents, sym_error_t *err);

void sym_artifact_file_extent(const uint8_t *data, size_t len,
                              char out[SYM_ARTIFACT_EXTENT_HEAD]);

/* Splits the bytes, which begin at `offset` of the file, into `n` extents.
 * Checks their checksums, and that nothing follows them. */
sym_status_t sym_artifact_file_extents(sym_str_t bytes, uint64_t offset,
                                       sym_extent_view_t *extents, uint32_t n,
                                       sym_error_t *err);

#endif
