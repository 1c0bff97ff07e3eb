/*
 * stack.h - STACK CFI and STACK WIN records: passes their rules to the writer.
 *
 * A record that cannot be read is counted and dropped, as Breakpad's own reader
 * does; it ends the rules of its function.
 */
#ifndef SYM_FORMATS_BREAKPAD_STACK_H
#define SYM_FORMATS_BREAKPAD_STACK_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "formats/breakpad/fields.h"

typedef struct {
    sym_cfi_writer_t *writer;
    sym_unwind_arch_t arch;
    uint64_t dropped; /* records */

    /* the function of the last STACK CFI INIT; its rules are valid from `start`
     * on */
    bool is_open;
    uint64_t start, end;
    sym_cfi_rules_t rules;
    sym_arena_t arena; /* programs of the current function */

    sym_buffer_t code;
    sym_error_t *err;
} sym_stack_t;

/* Borrows the writer. */
void sym_stack_init(sym_stack_t *s, sym_cfi_writer_t *writer,
                    sym_unwind_arch_t arch, sym_error_t *err);
void sym_stack_free(sym_stack_t *s);

/* Handles a line that begins with "STACK ". */
sym_status_t sym_stack_line(sym_stack_t *s, sym_str_t line);

/* Passes on the last function. */
sym_status_t sym_stack_end(sym_stack_t *s);

#endif
