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
} sym_pdb_table_t;

typedef struct {
    sym_pdb_line_t *lines;
    size_t n_lines, lines_size;
    sym_pdb_table_t *tables; /* by address */
    size_t n_tables, tables_size;
    sym_sort_item_t *inlinees; /* by id; where in c13 */
    size_t n_inlinees, inlinees_size;
    sym_str_t files;
    sym_str_t c13;

    /* scratch */
    sym_sort_item_t *order;
    sym_pdb_line_t *spare_lines;
    sym_pdb_table_t *spare_tables;
    size_t order_size, spare_lines_size, spare_tables_size;
} sym_pdb_lines_t;

/* Forgets what was read before.  Borrows c13. */
sym_status_t sym_pdb_lines_read(sym_pdb_lines_t *l, sym_str_t c13,
                                const sym_pdb_addresses_t *addresses,
                                sym_error_t *err);
void sym_pdb_lines_free(sym_pdb_lines_t *l);

/* The table that covers that address, or NULL. */
const sym_pdb_table_t *sym_pdb_lines_find(const sym_pdb_lines_t *l,
                                          uint32_t linked);

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
