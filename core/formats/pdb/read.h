/*
 * read.h - writes a whole PDB to a symcache writer: the threads of a pool read
 * the functions of modules; public symbols name all other code.
 */
#ifndef SYM_FORMATS_PDB_READ_H
#define SYM_FORMATS_PDB_READ_H

#include "base/thread_pool.h"
#include "formats/pdb/module.h"

/* pool: may be NULL.  The output does not depend on it.  *stats is filled even
 * after a failure. */
sym_status_t sym_pdb_read(const sym_pdb_t *pdb, sym_writer_t *w,
                          const sym_thread_pool_t *pool, sym_pdb_stats_t *stats,
                          sym_error_t *err);

/* Writes public symbols, which name code outside of functions, and counts them
 * in *n. */
sym_status_t sym_pdb_read_publics(const sym_pdb_t *pdb, sym_writer_t *w,
                                  uint64_t *n, sym_error_t *err);

#endif
