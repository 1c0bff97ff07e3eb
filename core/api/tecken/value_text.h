/*
 * value_text.h - a value of the tree as JSON text again.  Private to the
 * general reader: v4 echoes the offset as sent.
 */
#ifndef SYM_API_TECKEN_VALUE_TEXT_H
#define SYM_API_TECKEN_VALUE_TEXT_H

#include <jansson.h>

#include "api/tecken/numbers.h"

/* The original text of a real of the tree. */
sym_str_t value_number(const numbers_t *numbers, const json_t *real);

/*
 * Writes numbers as sent, with ", " and ": ", in the arena; data is NULL when
 * out of memory.
 */
sym_str_t value_text(sym_arena_t *arena, const numbers_t *numbers,
                     const json_t *value);

#endif
