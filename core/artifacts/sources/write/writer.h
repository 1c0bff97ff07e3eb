/*
 * writer.h - builds an artifact of kind `sources`, text by text.
 *
 * Texts are packed and passed to the sink as they arrive.  Paths, and the
 * positions of their texts, stay in memory until the end.  Every call returns
 * SYM_OK or the status it also put in *err; after a failure only
 * sym_sources_writer_free() may be called.
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
 * Adds a text under a path and a URL; one of them may be empty.  If names
 * collide, the first file wins.  SYM_LIMIT: there are too many, or the name is
 * too long.
 */
sym_status_t sym_sources_add(sym_sources_writer_t *w, sym_str_t path,
                             sym_str_t url, sym_str_t text, sym_error_t *err);

/*
 * Adds a link for paths without a text: one path, or a prefix if the pattern
 * ends in `*`.  The best match wins: an exact path, then the longest prefix.
 * Ties go to the first link.  SYM_LIMIT: there are too many, or it is too long.
 */
sym_status_t sym_sources_add_link(sym_sources_writer_t *w, sym_str_t pattern,
                                  sym_str_t url, sym_error_t *err);

/* Counts a part of the file that is left out. */
void sym_sources_leave_out(sym_sources_writer_t *w);

/* Sets bytes, extents and quality of *stats. */
sym_status_t sym_sources_finish(sym_sources_writer_t *w,
                                sym_writer_stats_t *stats, sym_error_t *err);

#endif
