/*
 * publics.h - the public symbols of a PDB.  They name code outside of
 * functions.
 */
#ifndef SYM_FORMATS_PDB_PUBLICS_H
#define SYM_FORMATS_PDB_PUBLICS_H

#include "formats/pdb/pdb.h"

typedef struct {
    uint32_t addr;
    sym_str_t name; /* view of the symbol stream */
} sym_pdb_public_t;

typedef struct {
    sym_pdb_public_t *items; /* the caller frees them */
    size_t n, size;
} sym_pdb_publics_t;

/* Adds the public symbols of code.  After a failure the symbols before the
   error were added. */
sym_status_t sym_pdb_read_publics(const sym_pdb_t *pdb,
                                  sym_pdb_publics_t *publics, sym_error_t *err);

#endif
