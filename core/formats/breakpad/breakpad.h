/*
 * breakpad.h - reads Breakpad text symbols (.sym) into a symcache writer.
 *
 * The loader's converter calls it.  The reader streams: the input arrives in
 * pieces of any size, and only the records of the current function are kept.
 * Grammar and treatment of malformed lines: docs/use/compat.md and Breakpad's
 * symbol_files.md.
 *
 * Errors name the record, the line (from 1) and the byte offset in the input.
 */
#ifndef SYM_FORMATS_BREAKPAD_BREAKPAD_H
#define SYM_FORMATS_BREAKPAD_BREAKPAD_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "base/error.h"
#include "base/str.h"
#include "artifacts/symcache/write/writer.h"

typedef struct sym_breakpad_s sym_breakpad_t;

/* The MODULE line and the first INFO line; views live until _free(). */
typedef struct {
    sym_str_t os, arch;
    sym_str_t debug_id;   /* as written */
    sym_str_t debug_file; /* name in the MODULE line, may be empty */
    sym_str_t code_id;    /* INFO CODE_ID, or "" */
    sym_str_t code_file;  /* name shown to clients instead of debug_file, or
                             "" */
} sym_breakpad_module_t;

typedef struct {
    uint64_t bytes, lines;
    uint64_t files, functions, publics, line_records, inlines, inline_origins;
    uint64_t stack_cfi, stack_win;
    uint64_t stack_dropped; /* unwind rules that cannot be read */
    uint64_t ignored;       /* lines that are not records, or were skipped */
    bool is_cut;            /* the last line has no newline */
} sym_breakpad_stats_t;

/* Borrows the writer.  NULL when out of memory. */
sym_breakpad_t *sym_breakpad_create(sym_writer_t *writer, sym_error_t *err);
void sym_breakpad_free(sym_breakpad_t *b);

/* Selects symbols or unwind rules; call it before the first byte.  Without this
 * call the reader reads symbols. */
void sym_breakpad_want(sym_breakpad_t *b, bool symbols, bool unwind_rules);

/* The unwind rules, valid from _end() to _free().  NULL: there are none. */
sym_cfi_writer_t *sym_breakpad_cfi(const sym_breakpad_t *b);

/* Reads the next bytes of the file. */
sym_status_t sym_breakpad_feed(sym_breakpad_t *b, const char *data, size_t len);

/*
 * Ends the file: reads the last line, which may have no newline, and passes on
 * the last function.  Does not call sym_writer_finish().
 */
sym_status_t sym_breakpad_end(sym_breakpad_t *b);

/* Valid after the MODULE line was read; complete after _end(). */
const sym_breakpad_module_t *sym_breakpad_module(const sym_breakpad_t *b);
const sym_breakpad_stats_t *sym_breakpad_stats(const sym_breakpad_t *b);

#endif
