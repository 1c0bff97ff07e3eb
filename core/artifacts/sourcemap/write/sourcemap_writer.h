/*
 * sourcemap_writer.h - builds an artifact of kind `sourcemap`, token by token.
 *
 * The writer keeps one block of tokens.  It puts names and finished blocks at
 * once, and keeps only their refs in memory until the end.  Every call returns
 * SYM_OK or the status that it also put in *err; after a failure only
 * sym_sourcemap_writer_free() may be called.
 */
#ifndef SYM_ARTIFACTS_SOURCEMAP_WRITE_SOURCEMAP_WRITER_H
#define SYM_ARTIFACTS_SOURCEMAP_WRITE_SOURCEMAP_WRITER_H

#include <stdbool.h>

#include "artifacts/sourcemap/format.h"
#include "artifacts/symcache/write/writer.h"
#include "object/object_id.h"

typedef struct sym_sourcemap_writer_s sym_sourcemap_writer_t;

/* NULL when out of memory. */
sym_sourcemap_writer_t *sym_sourcemap_writer_create(sym_extent_put_pt put,
                                                    void *ctx,
                                                    sym_error_t *err);
void sym_sourcemap_writer_free(sym_sourcemap_writer_t *w);

/* Sources and names are numbered from 0, in the order of these calls. flags:
 * SYM_SOURCEMAP_*. */
sym_status_t sym_sourcemap_add_source(sym_sourcemap_writer_t *w, sym_str_t name,
                                      uint32_t flags);
sym_status_t sym_sourcemap_add_name(sym_sourcemap_writer_t *w, sym_str_t name);

/* Tokens must be in the order of their positions. */
sym_status_t sym_sourcemap_add_token(sym_sourcemap_writer_t *w,
                                     const sym_sourcemap_token_t *token);

/* id: the map's debug id; NULL: none.  Sets bytes, extents and quality of
 * *stats. */
sym_status_t sym_sourcemap_finish(sym_sourcemap_writer_t *w, bool has_scopes,
                                  const sym_debug_id_t *id,
                                  sym_writer_stats_t *stats);

#endif
