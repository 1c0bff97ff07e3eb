/*
 * sources.h - finds texts in an artifact of kind `sources`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes: with any contents, a call gives an answer or a
 * status, in bounded time, and reads only inside the extents.  It allocates
 * nothing but what zlib needs while a block is unpacked.  Views live as long
 * as the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_SOURCES_READ_SOURCES_H
#define SYM_ARTIFACTS_SOURCES_READ_SOURCES_H

#include "artifacts/sources/format.h"
#include "artifacts/extents.h"
#include "base/str.h"

/* Only the reader looks inside. */
typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    uint32_t n_extents, n_files, n_blocks;
    uint32_t n_links;
    uint32_t files_ref, blocks_ref, links_ref;
    uint64_t text_bytes, left_out;
} sym_sources_t;

typedef struct {
    sym_str_t path; /* as the object's maker spelled it */
    bool is_url;
    uint32_t first_block, n_blocks;
    uint64_t len;   /* of the text */
    uint64_t lines; /* newlines in it */
} sym_sources_file_t;

/* Where the texts of other paths lie (docs/formats/sources.md, 2). */
typedef struct {
    sym_str_t pattern; /* a path, or the beginning of paths */
    sym_str_t url;     /* with `*` where the rest of the path goes */
    bool is_prefix;
} sym_sources_link_t;

/* SYM_VERSION: another version; SYM_DAMAGED: bytes that no writer of ours
 * made, which the other calls may give, too. */
sym_status_t sym_sources_open(sym_sources_t *s, sym_extent_get_pt get,
                              void *ctx, sym_error_t *err);

/* Files by their number, in the order of their paths, from 0 to n_files - 1. */
sym_status_t sym_sources_file(const sym_sources_t *s, uint32_t number,
                              sym_sources_file_t *file);

/* The file with this path, '\' and '/' being the same.  SYM_NOT_FOUND. */
sym_status_t sym_sources_find(const sym_sources_t *s, sym_str_t path,
                              sym_sources_file_t *file);

/*
 * Unpacks block `number` of a file (from 0) to out, and says how much that is
 * and how many newlines of the file come before it.  SYM_NOMEM.
 */
sym_status_t sym_sources_block(const sym_sources_t *s,
                               const sym_sources_file_t *file, uint32_t number,
                               char out[SYM_SOURCES_BLOCK_TEXT], size_t *len,
                               uint64_t *line);

/* How many newlines of the file come before its block `number`, which is not
 * unpacked. */
sym_status_t sym_sources_newlines_before(const sym_sources_t *s,
                                         const sym_sources_file_t *file,
                                         uint32_t number, uint64_t *newlines);

/* Links by their number, in the order in which they are tried. */
sym_status_t sym_sources_link(const sym_sources_t *s, uint32_t number,
                              sym_sources_link_t *link);

/*
 * Writes the URL at which a link says that the text of the path lies, to out.
 * SYM_NOT_FOUND: no link does; SYM_LIMIT: it has no room.
 */
sym_status_t sym_sources_url(const sym_sources_t *s, sym_str_t path,
                             char out[SYM_SOURCES_URL_MAX], size_t *len);

/* Reads all of it: order, bounds, every text. */
sym_status_t sym_sources_check(const sym_sources_t *s, sym_error_t *err);

#endif
