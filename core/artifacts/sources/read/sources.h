/*
 * sources.h - finds source code in an artifact of kind `sources`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes.  For any contents, each call returns a result or
 * a status in bounded time, and reads only inside the extents.  It allocates
 * only libdeflate's memory while a block is unpacked.  Views live as long as
 * the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_SOURCES_READ_SOURCES_H
#define SYM_ARTIFACTS_SOURCES_READ_SOURCES_H

#include "artifacts/sources/format.h"
#include "artifacts/extents.h"
#include "base/str.h"

/* Only the reader uses the members. */
typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    uint32_t n_extents, n_files, n_blocks;
    uint32_t n_links;
    uint32_t files_ref, blocks_ref, links_ref;
    uint64_t text_bytes, left_out;
} sym_sources_t;

typedef struct {
    sym_str_t path;  /* spelled as in the object */
    uint32_t number; /* number in the order of paths */
    bool is_url;
    uint32_t first_block, n_blocks;
    uint64_t len;   /* of the text */
    uint64_t lines; /* number of newlines */
} sym_sources_file_t;

/* A link to the source code of other paths (docs/formats/sources.md, 2). */
typedef struct {
    sym_str_t pattern; /* a path, or a prefix of several paths */
    sym_str_t url;     /* `*` is in place of the rest of the path */
    bool is_prefix;
} sym_sources_link_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_sources_open(sym_sources_t *s, sym_extent_get_pt get,
                              void *ctx, sym_error_t *err);

/* Gets files by number, from 0 to n_files - 1, in the order of their paths. */
sym_status_t sym_sources_file(const sym_sources_t *s, uint32_t number,
                              sym_sources_file_t *file);

/* The number of the first file whose path is `path` or sorts after it; n_files:
 * there is none. */
sym_status_t sym_sources_first(const sym_sources_t *s, sym_str_t path,
                               uint32_t *number);

/* Finds the file with this path; '\' equals '/'.  SYM_NOT_FOUND: there is
 * none. */
sym_status_t sym_sources_find(const sym_sources_t *s, sym_str_t path,
                              sym_sources_file_t *file);

/*
 * Unpacks block `number` of a file (from 0) to out.  Returns its length and the
 * number of newlines before it.  SYM_NOMEM.
 */
sym_status_t sym_sources_block(const sym_sources_t *s,
                               const sym_sources_file_t *file, uint32_t number,
                               char out[SYM_SOURCES_BLOCK_TEXT], size_t *len,
                               uint64_t *line);

/* Number of newlines of the file before block `number`.  Does not unpack the
 * block. */
sym_status_t sym_sources_newlines_before(const sym_sources_t *s,
                                         const sym_sources_file_t *file,
                                         uint32_t number, uint64_t *newlines);

/* Gets links by number, in the order in which they are tried. */
sym_status_t sym_sources_link(const sym_sources_t *s, uint32_t number,
                              sym_sources_link_t *link);

/*
 * Writes the path's URL, made by a link, to out.  SYM_NOT_FOUND: no link
 * matches; SYM_LIMIT: out is too small.
 */
sym_status_t sym_sources_url(const sym_sources_t *s, sym_str_t path,
                             char out[SYM_SOURCES_URL_MAX], size_t *len);

/* Checks everything: order, bounds, and all texts. */
sym_status_t sym_sources_check(const sym_sources_t *s, sym_error_t *err);

#endif
