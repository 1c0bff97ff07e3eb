/*
 * numbers.h - replaces the numbers of a JSON text that jansson cannot
 * reproduce.
 *
 * jansson converts reals to doubles and refuses integers of more than 63 bits.
 * But an offset may have any size, and v4 repeats the text of any other
 * number.  So the general reader passes a copy of the body to jansson, in which
 * each such number is a marker: a real `<n>.5`, with n counting from 0.  The
 * text of the number is found by n. Every real is replaced, so no real from the
 * client can be mistaken for a marker.
 *
 * In the copy, half a surrogate pair and NUL become U+FFFD: Python accepts
 * them, jansson does not.
 *
 * Invalid JSON stays invalid in the copy, so jansson decides.
 */
#ifndef SYM_API_TECKEN_NUMBERS_H
#define SYM_API_TECKEN_NUMBERS_H

#include "base/account.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Python's int() refuses integers with more digits, and so does Mozilla's
 * server. */
#define NUMBER_DIGITS_MAX 4300

/* Integers with at most this many digits are left to jansson. */
#define PLAIN_DIGITS_MAX 18

/* Maximum number of replaced numbers in a request: 100,000 take about 10 ms. */
#define NUMBERS_MAX 200000u

typedef struct {
    char *text; /* from malloc(), len bytes */
    size_t len, cap;
    sym_str_t *numbers; /* array from malloc(); its texts are views of the
                           body */
    uint32_t n, numbers_cap;
    sym_account_t *account; /* account to which `held` bytes are charged; NULL:
                               none */
    size_t held;
} numbers_t;

/* Copies the text with markers.  SYM_OK; SYM_MALFORMED: an integer is too long;
 * SYM_LIMIT; SYM_NOMEM.  Call numbers_free() in any case. */
sym_status_t numbers_replace(numbers_t *out, sym_account_t *account,
                             sym_str_t body);
void numbers_free(numbers_t *out);

/* Whether the text is an integer (an optional minus, and digits). */
bool number_is_integer(sym_str_t text);

/*
 * Makes "0x.." or "-0x.." of an integer of any size, in the arena; data NULL:
 * out of memory.  The time is quadratic in the number of digits.
 */
sym_str_t number_hex(sym_arena_t *arena, sym_str_t decimal);

#endif
