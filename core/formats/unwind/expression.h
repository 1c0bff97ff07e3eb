/*
 * expression.h - compiles DWARF expressions to unwind programs.
 *
 * It knows only operations that unwind tables use (DWARF 5, 2.5.1, 6.4.2.4).
 * Operations on objects and types have no meaning there.
 */
#ifndef SYM_FORMATS_UNWIND_EXPRESSION_H
#define SYM_FORMATS_UNWIND_EXPRESSION_H

#include "base/buffer.h"
#include "base/cursor.h"

/* Longer expressions are rejected. */
#define SYM_EXPRESSION_MAX 512

/* Appends to `code`.  False: an operation is unknown, or a jump leaves the
 * expression. */
bool sym_expression_compile(sym_cursor_t expression, unsigned word_bytes,
                            sym_buffer_t *code);

#endif
