/*
 * cross.h - type and id indexes that refer to another module's list.
 *
 * With link-time code generation, a symbol refers to a type or id by an entry
 * in its module's list of imports.  The entry contains the name of another
 * module and a local id.  The other module's list of exports maps the local id
 * to a record (cvinfo.h, CrossScopeReferences, LocalIdAndGlobalIdPair).
 */
#ifndef SYM_FORMATS_PDB_CROSS_H
#define SYM_FORMATS_PDB_CROSS_H

#include "formats/pdb/pdb.h"

static inline bool
sym_pdb_is_cross(uint32_t index)
{
    return index >> 31 != 0;
}


/* The exports of all modules, each read at its first use. */
typedef struct sym_pdb_exports_s sym_pdb_exports_t;

/* NULL: out of memory. */
sym_pdb_exports_t *sym_pdb_exports_create(const sym_pdb_t *pdb);
void sym_pdb_exports_free(sym_pdb_exports_t *e);

/*
 * Resolves an index to an index of the TPI or IPI stream.  imports: the list of
 * the module that contains the index.  Any thread may call this.
 * SYM_NOT_FOUND: there is no such record; SYM_NOMEM.
 */
sym_status_t sym_pdb_exports_find(sym_pdb_exports_t *e, sym_str_t imports,
                                  uint32_t index, uint32_t *found);

#endif
