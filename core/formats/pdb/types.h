/*
 * types.h - names of functions out of a PDB's type records.
 *
 * A procedure's symbol has a name without arguments, and the index of its type;
 * an inlined call has only the index of an id.  The TPI stream holds the types,
 * the IPI stream the ids: records of a length, a kind and the kind's fields
 * (LLVM: docs/PDB/TpiStream.rst, docs/PDB/CodeViewTypes.rst; Microsoft:
 * microsoft-pdb/include/cvinfo.h).  Names are written as Sentry's reader writes
 * them: "ns::A<int>::f(char const*, int&) const", without what is returned.
 *
 * sym_pdb_types_t borrows both streams and does not change once it is open: all
 * threads read it, each with a scratch of its own.
 */
#ifndef SYM_FORMATS_PDB_TYPES_H
#define SYM_FORMATS_PDB_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* Of a name with its arguments; a longer one is given without them. */
#define SYM_PDB_NAME_MAX 65536

/* One stream of records. */
typedef struct {
    sym_str_t stream;
    uint32_t *offsets; /* of each record */
    uint32_t first, n; /* the first one's index; how many */
} sym_pdb_records_t;

typedef struct {
    sym_pdb_records_t types, ids;
} sym_pdb_types_t;

/* Room for one name, and the texts of types that were asked for lately. */
typedef struct sym_pdb_scratch_s sym_pdb_scratch_t;

/* Either stream may be empty: nothing is found in it.  To be closed after a
 * failure, too. */
sym_status_t sym_pdb_types_open(sym_pdb_types_t *types, sym_str_t tpi,
                                sym_str_t ipi, sym_error_t *err);
void sym_pdb_types_close(sym_pdb_types_t *types);

/* NULL: no memory. */
sym_pdb_scratch_t *sym_pdb_scratch_create(const sym_pdb_types_t *types);
void sym_pdb_scratch_free(sym_pdb_scratch_t *scratch);

/*
 * The name of a procedure's symbol with the arguments of its type, or as it is
 * if there is no such type.  is_id: the index is an id's (S_GPROC32_ID,
 * S_LPROC32_ID, ...).  SYM_OK or SYM_NOMEM; *out is valid until the next call.
 */
sym_status_t sym_pdb_types_function_name(sym_pdb_scratch_t *scratch,
                                         sym_str_t name, uint32_t index,
                                         bool is_id, sym_str_t *out);

/*
 * The whole name of an inlined function, with its scope.  SYM_NOT_FOUND: there is
 * no such id, or it is not a function's.
 */
sym_status_t sym_pdb_types_inlinee_name(sym_pdb_scratch_t *scratch,
                                        uint32_t index, sym_str_t *out);

#endif
