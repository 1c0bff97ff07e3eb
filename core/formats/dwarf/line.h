/*
 * line.h - runs a line program (DWARF 5, 6.2) and keeps its rows, sorted by
 * address.
 *
 * Rows are relative to the image base.  Sequences of code that the linker
 * dropped are left out.  A table is reused for the next program and keeps its
 * memory; its names are views into the sections.
 */
#ifndef SYM_FORMATS_DWARF_LINE_H
#define SYM_FORMATS_DWARF_LINE_H

#include "formats/dwarf/bytes.h"
#include "formats/dwarf/dwarf.h"
#include "base/buffer.h"

/* "no file"; also the result for an index that is not in the header. */
#define SYM_DW_NO_FILE UINT32_MAX

typedef struct {
    uint32_t addr;
    uint32_t line;
    uint32_t file; /* file number as in the program */
} sym_dw_row_t;

typedef struct {
    sym_dw_row_t *items;
    size_t n, size;
} sym_dw_rows_t;

/* Rows [first, end).  The first row is at low, and the last one ends at high.
 * first_statement, end_statement: the same for the rows of atos. */
typedef struct {
    uint32_t low, high;
    uint32_t first, end;
    uint32_t first_statement, end_statement;
} sym_dw_sequence_t;

typedef struct {
    sym_str_t name;
    uint64_t dir;
} sym_dw_file_t;

/* The effects of a special opcode. */
typedef struct {
    int32_t line;
    uint32_t addr;
} sym_dw_special_t;

typedef struct {
    uint8_t version, offset_size;
    uint8_t min_inst_length, max_ops, line_range, opcode_base;
    int8_t line_base;
    bool default_is_stmt;
    uint8_t lengths[256]; /* number of operands of standard opcodes */

    sym_str_t *dirs;
    size_t n_dirs, dirs_size;
    sym_dw_file_t *files;
    size_t n_files, files_size;

    sym_dw_rows_t rows;
    sym_dw_rows_t statements;     /* rows for atos, if requested */
    sym_dw_sequence_t *sequences; /* sorted by `high` */
    size_t n_sequences, sequences_size;

    /* registers at the last end_sequence */
    uint32_t end_line, end_file;

    uint64_t bytes; /* size of the program and its header */
} sym_dw_lines_t;

void sym_dw_lines_free(sym_dw_lines_t *l);

/* Runs the program at this offset of .debug_line.  After a failure the rows
 * before the error are kept. */
sym_status_t sym_dw_lines_read(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
                               uint64_t offset, sym_error_t *err);

/* --- file_table.c --- */

/* Reads directories and files; `b` is the rest of the header. */
bool sym_dw_file_table_read(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
                            sym_dw_bytes_t *b);

/*
 * Joins compilation directory, directory and file name in `path`, as LLVM does.
 * False: out of memory, or, with a NULL name, there is no such file.
 */
bool sym_dw_file_path(const sym_dw_lines_t *l, uint64_t file,
                      sym_str_t comp_dir, sym_buffer_t *path);

#endif
