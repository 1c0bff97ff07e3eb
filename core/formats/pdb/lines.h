/*
 * lines.h - the C13 line information of one module: which line stands where,
 * where functions that are inlined were declared, which files there are
 * (LLVM: docs/PDB/ModiStream.rst; cvinfo.h, CV_DebugS*).
 */
#ifndef SYM_FORMATS_PDB_LINES_H
#define SYM_FORMATS_PDB_LINES_H

#include "base/sort.h"
#include "formats/pdb/addresses.h"
#include "base/error.h"

/* A file is named by an offset into the module's list of files. */
typedef struct {
    uint32_t linked;
    uint32_t line;
    uint32_t file;
} sym_pdb_line_t;

/* The lines of one contribution to a section: those of one function, or of all
 * that an assembler made of a file.  A line reaches to the next one, the last to
 * `end`. */
typedef struct {
    uint32_t linked, end;
    uint32_t first, n; /* lines, by their addresses */

    /* Functions that the linker folded into one have tables at one place: */
    uint32_t twin;  /* the first of them; its are */
    uint32_t twins; /* how many, */
    uint32_t taken; /* and how many were found */
} sym_pdb_table_t;

typedef struct {
    sym_pdb_line_t *lines;
    size_t n_lines, lines_size;
    sym_pdb_table_t *tables; /* by address */
    size_t n_tables, tables_size;
    sym_sort_item_t *inlinees; /* by id; where in c13 */
    size_t n_inlinees, inlinees_size;
    sym_str_t files;
    sym_str_t imports; /* cross.h */
    sym_str_t c13;

    /* scratch */
    sym_sort_item_t *order;
    sym_pdb_line_t *spare_lines;
    sym_pdb_table_t *spare_tables;
    size_t order_size, spare_lines_size, spare_tables_size;
} sym_pdb_lines_t;

/* DEBUG_S_SUBSECTION_TYPE (cvinfo.h) */
enum {
    SYM_PDB_LINES = 0xf2,
    SYM_PDB_FILES = 0xf4,
    SYM_PDB_INLINEES = 0xf6,
    SYM_PDB_IMPORTS = 0xf7,
    SYM_PDB_EXPORTS = 0xf8
};

/* The first subsection of that kind, or an empty one. */
sym_str_t sym_pdb_subsection(sym_str_t c13, uint32_t kind);

/* Forgets what was read before.  Borrows c13. */
sym_status_t sym_pdb_lines_read(sym_pdb_lines_t *l, sym_str_t c13,
                                const sym_pdb_addresses_t *addresses,
                                sym_error_t *err);
void sym_pdb_lines_free(sym_pdb_lines_t *l);

/* The table that covers that address, or NULL; of several that begin there the
 * next one at each call, as functions stand in the module. */
const sym_pdb_table_t *sym_pdb_lines_find(sym_pdb_lines_t *l, uint32_t linked);

/* The line of an address in the table: its index; the first one's, if it begins
 * behind. */
uint32_t sym_pdb_lines_at(const sym_pdb_lines_t *l,
                          const sym_pdb_table_t *table, uint32_t linked);

/* Where the lines of an inlined function count from.  False: it has none. */
bool sym_pdb_lines_inlinee(const sym_pdb_lines_t *l, uint32_t id,
                           uint32_t *file, uint32_t *line);

/* Where in the table of names a file's name is.  False: there is no such
 * file. */
bool sym_pdb_lines_file(const sym_pdb_lines_t *l, uint32_t file,
                        uint32_t *name);

#endif
