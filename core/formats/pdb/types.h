/*
 * types.h - builds names of functions from a PDB's type records.
 *
 * A procedure symbol contains a name without arguments and the index of its
 * type.  An inlined call contains only the index of an id.  Types are in the
 * TPI stream, ids are in the IPI stream.  A record has a length, a kind and
 * fields (LLVM: docs/PDB/TpiStream.rst, docs/PDB/CodeViewTypes.rst; Microsoft:
 * microsoft-pdb/include/cvinfo.h).  Names are spelled as in Sentry's reader:
 * "ns::A<int>::f(char const*, int&) const", without the return type.
 *
 * sym_pdb_types_t borrows the streams and does not change once it is open: any
 * thread may read it, with its own scratch.
 */
#ifndef SYM_FORMATS_PDB_TYPES_H
#define SYM_FORMATS_PDB_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread_pool.h"

/* Limit on the length of a name with arguments.  A longer name is returned
 * without arguments. */
#define SYM_PDB_NAME_MAX 65536

/* One stream of records. */
typedef struct {
    sym_str_t stream;
    uint32_t *offsets; /* offset of each record */
    uint32_t first, n; /* index of the first record; number of records */
    sym_str_t hashes;  /* hashes of the records, of 4 bytes each; or "" */
    uint32_t buckets;  /* hashes are modulo this; not 0 if there are hashes */
} sym_pdb_records_t;

typedef struct {
    sym_pdb_records_t types, ids;
} sym_pdb_types_t;

/* A buffer for one name, and a cache of rendered types. */
typedef struct sym_pdb_scratch_s sym_pdb_scratch_t;

/* A stream of types or ids.  It may be empty; then lookups find nothing. */
typedef struct {
    sym_str_t records;
    sym_str_t hashes; /* its hash stream, or "" */
} sym_pdb_type_stream_t;

/* The stream number of a stream's hash stream. */
uint32_t sym_pdb_hash_stream(sym_str_t records);

/* The caller must close *types even after a failure.  pool: may be NULL. */
sym_status_t sym_pdb_types_open(sym_pdb_types_t *types,
                                const sym_pdb_type_stream_t *tpi,
                                const sym_pdb_type_stream_t *ipi,
                                const sym_thread_pool_t *pool,
                                sym_error_t *err);
void sym_pdb_types_close(sym_pdb_types_t *types);

/* NULL: out of memory. */
sym_pdb_scratch_t *sym_pdb_scratch_create(const sym_pdb_types_t *types);
void sym_pdb_scratch_free(sym_pdb_scratch_t *scratch);

/* Empties the cache.  Where types nest too deep, a name depends on its
 * contents. */
void sym_pdb_scratch_forget(sym_pdb_scratch_t *scratch);

/*
 * Appends the arguments of its type to the name of a procedure symbol.  Without
 * such a type the name is returned unchanged.  is_id: the index is one of the
 * IPI stream (S_GPROC32_ID, S_LPROC32_ID, ...).  SYM_OK or SYM_NOMEM.  *out is
 * valid until the next call.
 */
sym_status_t sym_pdb_types_function_name(sym_pdb_scratch_t *scratch,
                                         sym_str_t name, uint32_t index,
                                         bool is_id, sym_str_t *out);

/*
 * The qualified name of an inlined function with its arguments.  SYM_NOT_FOUND:
 * the id does not exist, or is not a function's, or the name is too long.  *out
 * is then the part that was written.
 */
sym_status_t sym_pdb_types_inlinee_name(sym_pdb_scratch_t *scratch,
                                        uint32_t index, sym_str_t *out);

#endif
