/*
 * sourcemap.h - looks up positions in an artifact of kind `sourcemap`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes.  For any contents, each call returns a result or
 * a status in bounded time, and reads only inside the extents.  It allocates
 * nothing.  Views live as long as the extents stay mapped.
 *
 * Lines and columns count from 0, columns in units of UTF-16.
 */
#ifndef SYM_ARTIFACTS_SOURCEMAP_READ_SOURCEMAP_H
#define SYM_ARTIFACTS_SOURCEMAP_READ_SOURCEMAP_H

#include <stdbool.h>

#include "artifacts/extent_reader.h"
#include "artifacts/sourcemap/format.h"
#include "base/str.h"
#include "object/object_id.h"

/* Only the reader uses the members. */
typedef struct {
    sym_extent_reader_t in;
    uint32_t n_blocks, n_tokens, n_sources, n_names;
    uint32_t blocks_ref, sources_ref, names_ref;
    bool has_scopes;         /* the map contains the functions of tokens */
    sym_debug_id_t debug_id; /* debug id in the map; form NONE: none */
} sym_sourcemap_t;

typedef struct {
    sym_str_t name; /* "": none */
    bool is_ignored, has_text, is_numbered;
} sym_sourcemap_source_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_sourcemap_open(sym_sourcemap_t *s, sym_extent_get_pt get,
                                void *ctx, sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries to cache extents in, so
 * that it gets each only once.  The extents must not move. */
void sym_sourcemap_remember(sym_sourcemap_t *s, sym_extent_view_t *table);

/*
 * The last token at or before the position, on any line.  If several are at the
 * position, the first of them.  SYM_NOT_FOUND: there is no such token.
 */
sym_status_t sym_sourcemap_find(const sym_sourcemap_t *s, uint32_t line,
                                uint32_t column, sym_sourcemap_token_t *token);

/* Same, but only tokens on this line, and only if the token has a source. */
sym_status_t sym_sourcemap_lookup(const sym_sourcemap_t *s, uint32_t line,
                                  uint32_t column,
                                  sym_sourcemap_token_t *token);

/* Gets tokens by number, from 0 to n_tokens - 1, sorted by position. */
sym_status_t sym_sourcemap_token(const sym_sourcemap_t *s, uint32_t number,
                                 sym_sourcemap_token_t *token);

sym_status_t sym_sourcemap_source(const sym_sourcemap_t *s, uint32_t number,
                                  sym_sourcemap_source_t *source);
sym_status_t sym_sourcemap_name(const sym_sourcemap_t *s, uint32_t number,
                                sym_str_t *name);

/* Reads the complete artifact, and checks order, bounds and counts. */
sym_status_t sym_sourcemap_check(const sym_sourcemap_t *s, sym_error_t *err);

#endif
