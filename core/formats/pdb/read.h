/*
 * read.h - all of a PDB into a writer: its modules' functions by the threads of
 * a pool, and public symbols for the rest.
 */
#ifndef SYM_FORMATS_PDB_READ_H
#define SYM_FORMATS_PDB_READ_H

#include "base/thread_pool.h"
#include "formats/pdb/module.h"

/* pool: may be NULL.  What is written is the same with any.  *stats is always
 * filled. */
sym_status_t sym_pdb_read(const sym_pdb_t *pdb, sym_writer_t *w,
                          const sym_thread_pool_t *pool, sym_pdb_stats_t *stats,
                          sym_error_t *err);

/* Public symbols, as names of what no function covers; *n is how many. */
sym_status_t sym_pdb_read_publics(const sym_pdb_t *pdb, sym_writer_t *w,
                                  uint64_t *n, sym_error_t *err);

#endif
