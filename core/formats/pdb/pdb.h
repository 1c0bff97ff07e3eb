/*
 * pdb.h - an open PDB: its id, list of modules, and shared streams.
 *
 * LLVM: docs/PDB/PdbStream.rst, DbiStream.rst; docs/formats/pdb.md sums up the
 * streams and their headers.  A sym_pdb_t does not change after sym_pdb_open(),
 * so any number of threads may read it.
 */
#ifndef SYM_FORMATS_PDB_PDB_H
#define SYM_FORMATS_PDB_PDB_H

#include "formats/pdb/addresses.h"
#include "formats/pdb/msf.h"
#include "formats/pdb/types.h"
#include "object/object_id.h"

/* A module, or compiland: the contribution of one object file. */
typedef struct {
    sym_str_t name;
    uint32_t stream;
    uint32_t symbol_bytes, c11_bytes, c13_bytes; /* the two parts are
                                                    adjacent, in this order */
    bool has_type_server; /* another PDB contains its types */
} sym_pdb_module_t;

/* Streams that stay open while the modules are read. */
enum {
    SYM_PDB_INFO,
    SYM_PDB_DBI,
    SYM_PDB_NAMES,
    SYM_PDB_SECTIONS,
    SYM_PDB_OMAP,
    SYM_PDB_SYMBOLS, /* symbols of all modules: publics, and references to
                        others */
    SYM_PDB_TPI,
    SYM_PDB_IPI,
    SYM_PDB_TPI_HASHES,
    SYM_PDB_IPI_HASHES,
    SYM_PDB_SRCSRV,
    SYM_PDB_STREAMS
};

typedef struct {
    sym_msf_t msf;
    sym_str_t streams[SYM_PDB_STREAMS];
    sym_buffer_t copies[SYM_PDB_STREAMS];

    sym_debug_id_t id;
    uint16_t machine; /* PE/COFF, 3.3.1 */
    sym_str_t names;  /* strings of /names, addressed by offset */
    sym_pdb_module_t *modules;
    size_t n_modules; /* number of modules that have a stream */
    sym_pdb_addresses_t addresses;
    uint32_t frame_stream, fpo_stream; /* frames.h */
    sym_pdb_types_t types;
    bool has_type_servers;
} sym_pdb_t;

/* Borrows the file.  The caller must close it even after a failure. pool may be
 * NULL. */
sym_status_t sym_pdb_open(sym_pdb_t *pdb, sym_str_t file,
                          const sym_thread_pool_t *pool, sym_error_t *err);
void sym_pdb_close(sym_pdb_t *pdb);

/* The symbols and the C13 line information of a module.  They are views of the
 * file or of *copy, which the call may overwrite. */
sym_status_t sym_pdb_module_read(const sym_pdb_t *pdb,
                                 const sym_pdb_module_t *m, sym_buffer_t *copy,
                                 sym_str_t *symbols, sym_str_t *c13,
                                 sym_error_t *err);

/* A string of /names; "" if the offset is invalid. */
sym_str_t sym_pdb_name(const sym_pdb_t *pdb, uint32_t offset);

/* Breakpad's name for the processor; "" if it is unknown. */
const char *sym_pdb_arch(const sym_pdb_t *pdb);

#endif
