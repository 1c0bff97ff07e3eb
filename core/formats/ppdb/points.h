/*
 * points.h - the sequence points of a method (Portable PDB, "Sequence Points
 * Blob").
 */
#ifndef SYM_FORMATS_PPDB_POINTS_H
#define SYM_FORMATS_PPDB_POINTS_H

#include "artifacts/ppdb/write/ppdb_writer.h"
#include "formats/ppdb/metadata.h"

/* An array that grows as needed. */
typedef struct {
    sym_ppdb_given_t *items; /* `document`: row, from 1 */
    size_t n, cap;
} sym_ppdb_points_t;

void sym_ppdb_points_free(sym_ppdb_points_t *points);

/* Reads the points of a MethodDebugInformation row, except hidden ones.  Their
 * documents are valid rows. */
sym_status_t sym_ppdb_points_read(sym_ppdb_points_t *points,
                                  const sym_ppdb_metadata_t *m, uint32_t row,
                                  sym_error_t *err);

#endif
