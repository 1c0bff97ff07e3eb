/*
 * value_text.h - converts a value of the tree back to JSON text.  Private to
 * the general reader: v4 repeats the offset as sent.
 */
#ifndef SYM_API_TECKEN_VALUE_TEXT_H
#define SYM_API_TECKEN_VALUE_TEXT_H

#include <jansson.h>

#include "api/tecken/numbers.h"

/* Returns the original text of a real in the tree. */
sym_str_t value_number(const numbers_t *numbers, const json_t *real);

/*
 * Writes the value with numbers as sent, with ", " and ": ", in the arena; data
 * NULL: out of memory.
 */
sym_str_t value_text(sym_arena_t *arena, const numbers_t *numbers,
                     const json_t *value);

#endif
