/*
 * writer.h - builds an artifact of kind `sources`, text by text.
 *
 * Texts are packed and handed to the sink as they come; paths and where their
 * texts are stay in memory until the end.  Every call returns SYM_OK or the
 * status it also put in *err; after a failure the writer is only good for
 * sym_sources_writer_free().
 */
#ifndef SYM_ARTIFACTS_SOURCES_WRITE_WRITER_H
#define SYM_ARTIFACTS_SOURCES_WRITE_WRITER_H

#include "artifacts/sources/format.h"
#include "artifacts/symcache/write/writer.h"

typedef struct sym_sources_writer_s sym_sources_writer_t;

/* NULL when out of memory. */
sym_sources_writer_t *sym_sources_writer_create(sym_extent_put_pt put,
                                                void *ctx, sym_error_t *err);
void sym_sources_writer_free(sym_sources_writer_t *w);

/*
 * Adds a text under a path and a URL, either of which may be empty, not both.
 * Of files with the same name the first one stands.  SYM_LIMIT: too many, or
 * the name is too long.
 */
sym_status_t sym_sources_add(sym_sources_writer_t *w, sym_str_t path,
                             sym_str_t url, sym_str_t text, sym_error_t *err);

/*
 * Says where the texts of paths lie that are not here: of one path, or of all that
 * begin so if the pattern ends in `*`.  Of links that fit a path that of the path
 * itself counts, then that with the longest beginning, of equal ones the first.
 * SYM_LIMIT: too many, or too long.
 */
sym_status_t sym_sources_add_link(sym_sources_writer_t *w, sym_str_t pattern,
                                  sym_str_t url, sym_error_t *err);

/* Something the file had that is not kept: it is counted in the artifact. */
void sym_sources_leave_out(sym_sources_writer_t *w);

/* Of *stats bytes, extents and quality are filled. */
sym_status_t sym_sources_finish(sym_sources_writer_t *w,
                                sym_writer_stats_t *stats, sym_error_t *err);

#endif
