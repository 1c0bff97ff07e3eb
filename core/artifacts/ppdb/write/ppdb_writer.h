/*
 * ppdb_writer.h - builds an artifact of kind `ppdb`, method by method.
 *
 * The writer puts points and texts as they arrive and keeps only their refs in
 * memory until the end.  Every call returns SYM_OK or the status that it also
 * put in *err; after a failure only sym_ppdb_writer_free() may be called.
 */
#ifndef SYM_ARTIFACTS_PPDB_WRITE_PPDB_WRITER_H
#define SYM_ARTIFACTS_PPDB_WRITE_PPDB_WRITER_H

#include <stdbool.h>

#include "artifacts/ppdb/format.h"
#include "artifacts/symcache/write/writer.h"

typedef struct sym_ppdb_writer_s sym_ppdb_writer_t;

typedef struct {
    uint32_t offset, line, document;
} sym_ppdb_given_t;

/* Creates a writer for the methods 1 to n_methods, at most
 * SYM_PPDB_METHODS_MAX.  NULL when out of memory. */
sym_ppdb_writer_t *sym_ppdb_writer_create(sym_extent_put_pt put, void *ctx,
                                          uint32_t n_methods, sym_error_t *err);
void sym_ppdb_writer_free(sym_ppdb_writer_t *w);

/* Adds a document; *number counts from 0.  SYM_LIMIT: there are too many, or
 * the path is too long. */
sym_status_t sym_ppdb_add_document(sym_ppdb_writer_t *w, sym_str_t path,
                                   uint8_t lang, uint32_t *number);

/*
 * Adds the n points of a method, sorted by offset.  The last of several points
 * with one offset wins.  Points that do not change any answer are dropped.  The
 * call may modify the array.
 */
sym_status_t sym_ppdb_add_method(sym_ppdb_writer_t *w, uint32_t method,
                                 sym_ppdb_given_t *points, size_t n);

/* Sets bytes, extents and quality of *stats. */
sym_status_t sym_ppdb_finish(sym_ppdb_writer_t *w, bool has_sources,
                             sym_writer_stats_t *stats);

#endif
