/*
 * lines.h - the C13 line information of one module: line tables, declarations
 * of inlined functions, and files (LLVM: docs/PDB/ModiStream.rst, "C13 Line
 * Information"; cvinfo.h, CV_DebugS*).
 */
#ifndef SYM_FORMATS_PDB_LINES_H
#define SYM_FORMATS_PDB_LINES_H

#include "base/sort.h"
#include "formats/pdb/addresses.h"
#include "base/error.h"

/* `file` is an offset in the module's list of files (DEBUG_S_FILECHKSMS). */
typedef struct {
    uint32_t linked;
    uint32_t line;
    uint32_t file;
} sym_pdb_line_t;

/* The lines of one contribution to a section: one function, or all code that an
 * assembler generated from a file.  A line extends to the next one, and the
 * last line to `end`. */
typedef struct {
    uint32_t linked, end;
    uint32_t first, n; /* lines, sorted by address */

    /* Functions that the linker folded (/OPT:ICF) have tables at the same
     * address.  `twins` and `taken` are valid in the first of these tables. */
    uint32_t twin;  /* the first table at this address */
    uint32_t twins; /* number of tables at this address */
    uint32_t taken; /* tables that sym_pdb_lines_find() has returned */
} sym_pdb_table_t;

typedef struct {
    sym_pdb_line_t *lines;
    size_t n_lines, lines_size;
    sym_pdb_table_t *tables; /* sorted by address */
    size_t n_tables, tables_size;
    sym_sort_item_t *inlinees; /* id, file -> offset in c13, sorted */
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

/* Where an inlined function is declared.  Line numbers in its annotations are
 * relative to that line. */
typedef struct {
    uint32_t file, line;
    bool has_namesakes; /* the module declares several functions with this id */
} sym_pdb_inlinee_t;

/* DEBUG_S_SUBSECTION_TYPE (cvinfo.h) */
enum {
    SYM_PDB_LINES = 0xf2,
    SYM_PDB_FILES = 0xf4,
    SYM_PDB_INLINEES = 0xf6,
    SYM_PDB_IMPORTS = 0xf7,
    SYM_PDB_EXPORTS = 0xf8
};

/* The first subsection of that kind; "": the module has none. */
sym_str_t sym_pdb_subsection(sym_str_t c13, uint32_t kind);

/* Replaces the result of an earlier call.  Borrows c13. */
sym_status_t sym_pdb_lines_read(sym_pdb_lines_t *l, sym_str_t c13,
                                const sym_pdb_addresses_t *addresses,
                                sym_error_t *err);
void sym_pdb_lines_free(sym_pdb_lines_t *l);

/* The table that covers an address, or NULL.  If several tables begin there,
 * each call returns the next one, in the order of the functions in the
 * module. */
const sym_pdb_table_t *sym_pdb_lines_find(sym_pdb_lines_t *l, uint32_t linked);

/* The index of the line that covers an address in the table; the first line if
 * the address is before it. */
uint32_t sym_pdb_lines_at(const sym_pdb_lines_t *l,
                          const sym_pdb_table_t *table, uint32_t linked);

/*
 * False: the module does not declare the function.  Link-time optimisation
 * joins modules and gives one id to static functions of one name and type in
 * several files.  Then the result is one of these functions.
 */
bool sym_pdb_lines_inlinee(const sym_pdb_lines_t *l, uint32_t id,
                           sym_pdb_inlinee_t *inlinee);

/* The inlinee with that id in that file.  False: not found. */
bool sym_pdb_lines_inlinee_in(const sym_pdb_lines_t *l, uint32_t id,
                              uint32_t file, sym_pdb_inlinee_t *inlinee);

/* The offset of a file's name in the table of names.  False: the module does
 * not have this file. */
bool sym_pdb_lines_file(const sym_pdb_lines_t *l, uint32_t file,
                        uint32_t *name);

#endif
