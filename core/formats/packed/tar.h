/*
 * tar.h - the files of a tar, from its front to its end.
 *
 * Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Interchange
 * Format"; GNU tar's manual, "Basic Tar Format", for long names, large numbers
 * and its magic.  The bytes come in pieces from a callback, such as an
 * unpacker, and are never kept, except for extended headers.
 *
 * Folders, links, devices and vendors' extensions are entries that are not
 * files.  A sparse file fails with SYM_UNSUPPORTED, because a reader that took
 * its bytes as they are would get another file.
 */
#ifndef SYM_FORMATS_PACKED_TAR_H
#define SYM_FORMATS_PACKED_TAR_H

#include "formats/packed/pieces.h"

#define SYM_TAR_BLOCK_BYTES 512

/* Maximum size of an extended header.  It may contain long attributes. */
#define SYM_TAR_EXTRA_MAX 65536

typedef struct {
    sym_pieces_t in;
    char block[SYM_TAR_BLOCK_BYTES];
    char name[SYM_TAR_BLOCK_BYTES]; /* a name in two parts */
    char extra[SYM_TAR_EXTRA_MAX];
} sym_tar_t;

/* Whether the file begins with a header that has the magic of a tar. */
bool sym_tar_is(const char *data, size_t len);

/* Allocates nothing. */
void sym_tar_start(sym_tar_t *tar, sym_pieces_more_pt more, void *ctx);

/* Moves to the next entry, whose bytes sym_pieces_body(&tar->in) returns; bytes
 * of the current one are skipped.
 * SYM_NOT_FOUND: the end; the callback has returned all of its bytes. */
sym_status_t sym_tar_next(sym_tar_t *tar, sym_packed_entry_t *entry,
                          sym_error_t *err);

#endif
