/*
 * cross.h - types and ids that a module shares with another one.
 *
 * With link-time code generation a symbol names a type or id by a place in its
 * module's list of imports: another module's name, and a number there.  That
 * module's list of exports says which record it is (cvinfo.h,
 * CrossScopeReferences, LocalIdAndGlobalIdPair).
 */
#ifndef SYM_FORMATS_PDB_CROSS_H
#define SYM_FORMATS_PDB_CROSS_H

#include "formats/pdb/pdb.h"

static inline bool
sym_pdb_is_cross(uint32_t index)
{
    return index >> 31 != 0;
}


/* The exports of all modules, each read when it is first asked for. */
typedef struct sym_pdb_exports_s sym_pdb_exports_t;

/* NULL: no memory. */
sym_pdb_exports_t *sym_pdb_exports_create(const sym_pdb_t *pdb);
void sym_pdb_exports_free(sym_pdb_exports_t *e);

/*
 * The index in the stream of types or ids; imports: the module's.  In any
 * thread.  SYM_NOT_FOUND: it leads nowhere; SYM_NOMEM.
 */
sym_status_t sym_pdb_exports_find(sym_pdb_exports_t *e, sym_str_t imports,
                                  uint32_t index, uint32_t *found);

#endif
