/*
 * read.h - writes a complete PDB to a symcache writer: the threads of a pool
 * read the functions of modules; public symbols name all other code.
 */
#ifndef SYM_FORMATS_PDB_READ_H
#define SYM_FORMATS_PDB_READ_H

#include "formats/format.h"
#include "formats/pdb/module.h"

/* The output does not depend on the services' threads.  *stats is filled even
 * after a failure. */
sym_status_t sym_pdb_read(const sym_pdb_t *pdb, sym_writer_t *w,
                          const sym_format_services_t *services,
                          sym_pdb_stats_t *stats, sym_error_t *err);

#endif
