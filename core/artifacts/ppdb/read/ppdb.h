/*
 * ppdb.h - looks up (method, IL offset) in an artifact of kind `ppdb`.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes.  For any contents, each call returns a result or
 * a status in bounded time, and reads only inside the extents.  It allocates
 * nothing.  Views live as long as the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_PPDB_READ_PPDB_H
#define SYM_ARTIFACTS_PPDB_READ_PPDB_H

#include <stdbool.h>

#include "artifacts/extent_reader.h"
#include "artifacts/ppdb/format.h"
#include "base/str.h"

/* Only the reader uses the members. */
typedef struct {
    sym_extent_reader_t in;
    uint32_t n_methods, n_documents;
    uint32_t methods_ref, documents_ref;
    uint64_t n_points, n_bodies;
    bool has_sources; /* the file contains source code or links */
} sym_ppdb_t;

/* A path is the concatenation of folder and name. */
typedef struct {
    sym_str_t folder; /* with its last separator, or "" */
    sym_str_t name;
    uint8_t lang; /* SYM_LANG_* */
} sym_ppdb_document_t;

typedef struct {
    uint32_t offset; /* start in the method's IL */
    uint32_t line;
    uint32_t document;
} sym_ppdb_point_t;

/* Columns of points.  Only the reader uses the members. */
typedef struct {
    const uint8_t *offsets, *lines, *documents;
    uint32_t n, base_line, base_document;
    uint8_t offset_width, line_width, document_width;
} sym_ppdb_piece_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_ppdb_open(sym_ppdb_t *p, sym_extent_get_pt get, void *ctx,
                           sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries to cache extents in, so
 * that it gets each only once.  The extents must not move. */
void sym_ppdb_remember(sym_ppdb_t *p, sym_extent_view_t *table);

/*
 * The last point of a method that begins at or before the offset.  The method
 * is a row in the table of methods, from 1.  SYM_NOT_FOUND: there is no such
 * point.
 */
sym_status_t sym_ppdb_lookup(const sym_ppdb_t *p, uint32_t method,
                             uint32_t offset, sym_ppdb_point_t *point);

sym_status_t sym_ppdb_document(const sym_ppdb_t *p, uint32_t number,
                               sym_ppdb_document_t *document);

/*
 * The points of a method, piece by piece from 0 on.  SYM_NOT_FOUND: there is no
 * such piece, or it has no points.
 */
sym_status_t sym_ppdb_piece(const sym_ppdb_t *p, uint32_t method,
                            uint32_t number, sym_ppdb_piece_t *piece);
sym_ppdb_point_t sym_ppdb_point(const sym_ppdb_piece_t *piece, uint32_t i);

/* Reads the complete artifact, and checks order, bounds and counts. */
sym_status_t sym_ppdb_check(const sym_ppdb_t *p, sym_error_t *err);

#endif
