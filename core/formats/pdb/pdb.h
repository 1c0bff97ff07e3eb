/*
 * pdb.h - what is known of an open PDB before its modules are read.
 *
 * The streams and their headers: LLVM's docs/PDB, Microsoft's
 * microsoft-pdb; docs/formats/pdb.md sums them up.  Nothing here changes once
 * sym_pdb_open() is done: all threads read it.
 */
#ifndef SYM_FORMATS_PDB_PDB_H
#define SYM_FORMATS_PDB_PDB_H

#include "formats/pdb/addresses.h"
#include "formats/pdb/msf.h"
#include "formats/pdb/types.h"
#include "object/object_id.h"

/* One compiland: what an object file became. */
typedef struct {
    sym_str_t name;
    uint32_t stream;
    uint32_t symbol_bytes, c11_bytes, c13_bytes; /* one behind the other */
} sym_pdb_module_t;

/* Streams that are kept while the modules are read. */
enum {
    SYM_PDB_INFO,
    SYM_PDB_DBI,
    SYM_PDB_NAMES,
    SYM_PDB_SECTIONS,
    SYM_PDB_OMAP,
    SYM_PDB_SYMBOLS, /* of all modules: publics, and references to others */
    SYM_PDB_TPI,
    SYM_PDB_IPI,
    SYM_PDB_SRCSRV,
    SYM_PDB_STREAMS
};

typedef struct {
    sym_msf_t msf;
    sym_str_t streams[SYM_PDB_STREAMS];
    sym_buffer_t copies[SYM_PDB_STREAMS];

    sym_debug_id_t id;
    uint16_t machine; /* PE/COFF, 3.3.1 */
    sym_str_t names;  /* texts by their offsets, of NAMES */
    sym_pdb_module_t *modules;
    size_t n_modules; /* with a stream of their own */
    sym_pdb_addresses_t addresses;
    sym_pdb_types_t types; /* none, if they are in other PDBs */
    bool has_type_servers;
} sym_pdb_t;

/* Borrows the file.  To be closed after a failure, too. */
sym_status_t sym_pdb_open(sym_pdb_t *pdb, sym_str_t file, sym_error_t *err);
void sym_pdb_close(sym_pdb_t *pdb);

/* The symbols and the C13 line information of a module, in the file or in *copy,
 * whose former content is lost. */
sym_status_t sym_pdb_module_read(const sym_pdb_t *pdb,
                                 const sym_pdb_module_t *m, sym_buffer_t *copy,
                                 sym_str_t *symbols, sym_str_t *c13,
                                 sym_error_t *err);

/* A text of the table of names, or an empty one. */
sym_str_t sym_pdb_name(const sym_pdb_t *pdb, uint32_t offset);

/* Breakpad's word for the processor; "" if it is unknown. */
const char *sym_pdb_arch(const sym_pdb_t *pdb);

#endif
