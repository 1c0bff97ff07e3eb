/*
 * expression.h - compiles DWARF expressions to unwind programs.
 *
 * Only the operations that unwind tables use (DWARF 5, 2.5.1, 6.4.2.4): those
 * of objects and types have no meaning there.
 */
#ifndef SYM_FORMATS_UNWIND_EXPRESSION_H
#define SYM_FORMATS_UNWIND_EXPRESSION_H

#include "base/buffer.h"
#include "base/cursor.h"

/* Longer expressions are not read. */
#define SYM_EXPRESSION_MAX 512

/* Appends to `code`.  False: an operation that is not known, or a jump out of
 * the expression. */
bool sym_expression_compile(sym_cursor_t expression, unsigned word_bytes,
                            sym_buffer_t *code);

#endif
