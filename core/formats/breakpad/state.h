/*
 * state.h - the state of a .sym reader, and the effect of each record on it.
 *
 * Private to this folder: reader.c finds the lines, apply.c acts on them.  Each
 * function takes a complete line, without its newline, of the kind in the
 * function's name.  Its errors give the position in the input.
 */
#ifndef SYM_FORMATS_BREAKPAD_STATE_H
#define SYM_FORMATS_BREAKPAD_STATE_H

#include "base/arena.h"
#include "formats/breakpad/breakpad.h"
#include "formats/breakpad/fast_inline.h"
#include "formats/breakpad/function.h"
#include "formats/breakpad/numbers.h"
#include "formats/breakpad/records.h"
#include "formats/breakpad/stack.h"

/* Prefix of each kind of line. */
#define SYM_KEY_MODULE SYM_STR("MODULE ")
#define SYM_KEY_INFO SYM_STR("INFO ")
#define SYM_KEY_FILE SYM_STR("FILE ")
#define SYM_KEY_ORIGIN SYM_STR("INLINE_ORIGIN ")
#define SYM_KEY_FUNC SYM_STR("FUNC ")
#define SYM_KEY_INLINE SYM_STR("INLINE ")
#define SYM_KEY_PUBLIC SYM_STR("PUBLIC ")
#define SYM_KEY_STACK SYM_STR("STACK ")

#define SYM_IS_PENDING 1u /* value of sym_breakpad_s.pending */

struct sym_breakpad_s {
    sym_writer_t *writer;
    sym_error_t *err;
    sym_breakpad_stats_t stats;
    sym_breakpad_module_t module;
    sym_arena_t arena; /* memory of the views in `module` */

    uint64_t line_offset; /* input offset of the current line */
    char *carry;          /* part of the line from earlier pieces */
    size_t carry_len, carry_size;

    bool has_symbols; /* set by FILE, FUNC and PUBLIC: no INFO may follow */
    bool is_done;     /* set by any STACK record */

    bool wants_symbols, wants_rules;
    sym_cfi_writer_t *cfi; /* NULL: no STACK record yet */
    sym_stack_t stack;

    sym_numbers_t files;   /* number -> string id */
    sym_numbers_t origins; /* number -> string id of the name */
    sym_numbers_t pending; /* numbers of origins whose name is reserved, but
                              not yet known */
    size_t n_pending;
    sym_numbers_t origin_files; /* used by the form of 2021 */

    sym_current_t current;
    uint64_t func_offset, func_line; /* position of the current FUNC, for
                                        errors */
};

/* Sets the position of err to this many bytes into the line, unless err has a
   position. */
sym_status_t sym_breakpad_locate(sym_breakpad_t *b, const char *section,
                                 size_t where);

/* --- apply.c --- */

sym_status_t sym_apply_module(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_info(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_file(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_origin(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_func(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_inline(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_fast_inline(sym_breakpad_t *b,
                                   const sym_fast_inline_t *in);
sym_status_t sym_apply_line(sym_breakpad_t *b, sym_str_t line);
sym_status_t sym_apply_public(sym_breakpad_t *b, sym_str_t line);

/* Applies an origin that was parsed already, and whose name was prefetched. */
sym_status_t sym_apply_origin_record(sym_breakpad_t *b,
                                     const sym_origin_record_t *r,
                                     uint32_t name_hash);

/* Ends the current function. */
sym_status_t sym_apply_function_end(sym_breakpad_t *b);

#endif
