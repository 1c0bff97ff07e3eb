/*
 * module.h - reads the functions of modules into a shard of the writer.
 *
 * A reader belongs to one thread and reads one module after the other.
 */
#ifndef SYM_FORMATS_PDB_MODULE_H
#define SYM_FORMATS_PDB_MODULE_H

#include "artifacts/symcache/write/shard.h"
#include "formats/pdb/cross.h"

typedef struct {
    uint64_t modules, broken; /* broken: malformed modules, read up to the
                                 error */
    uint64_t functions, publics;
    sym_error_t first_broken;
} sym_pdb_stats_t;

/* A thunk: code of the linker or compiler that jumps to other code (S_THUNK32).
 * Its name is used if no public symbol has the address. */
typedef struct {
    uint32_t addr, size;
    sym_str_t name;
} sym_pdb_thunk_t;

typedef struct {
    sym_pdb_thunk_t *items;
    size_t n, size;
    sym_arena_t names;
} sym_pdb_thunks_t;

typedef struct sym_pdb_reader_s sym_pdb_reader_t;

/* NULL: out of memory. */
sym_pdb_reader_t *sym_pdb_reader_create(const sym_pdb_t *pdb,
                                        sym_pdb_exports_t *exports);
void sym_pdb_reader_free(sym_pdb_reader_t *r);

/* Sets the shard for the next modules. */
void sym_pdb_reader_fill(sym_pdb_reader_t *r, sym_shard_t *shard,
                         sym_pdb_thunks_t *thunks);

/* A malformed module is counted, and its functions before the error are kept.
 * The call fails only when out of memory. */
sym_status_t sym_pdb_reader_module(sym_pdb_reader_t *r,
                                   const sym_pdb_module_t *m,
                                   sym_pdb_stats_t *stats, sym_error_t *err);

#endif
