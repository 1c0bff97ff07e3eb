/*
 * numbers.h - the numbers of a JSON text that jansson cannot reproduce.
 *
 * jansson turns a real into a double and refuses integers over 63 bits, but an
 * offset may be of any size and v4 echoes the text of any other number.  So the
 * general reader gives jansson a copy of the body.  In it each such number is a
 * real `<n>.5`, with n counting from 0; its text is found by n.  Every real is
 * replaced, so none of the client's can be mistaken for a marker.
 *
 * Half a surrogate pair and NUL become U+FFFD in the copy: Python takes them,
 * jansson does not.
 *
 * Invalid JSON stays invalid in the copy, so jansson decides.
 */
#ifndef SYM_API_TECKEN_NUMBERS_H
#define SYM_API_TECKEN_NUMBERS_H

#include "base/account.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Python's int() refuses more digits, and so does Mozilla's server. */
#define NUMBER_DIGITS_MAX 4300

/* Integers of this many digits are left to jansson. */
#define PLAIN_DIGITS_MAX 18

/* Numbers that are replaced in one request: some 10 ms of work for 100,000. */
#define NUMBERS_MAX 200000u

typedef struct {
    char *text; /* malloc()ed, len bytes */
    size_t len, cap;
    sym_str_t *numbers; /* malloc()ed; views of the body */
    uint32_t n, numbers_cap;
    sym_account_t *account; /* charged with `held` bytes; NULL: none */
    size_t held;
} numbers_t;

/* SYM_OK; SYM_MALFORMED: an integer is too long; SYM_LIMIT; SYM_NOMEM.  Call
 * numbers_free() in any case. */
sym_status_t numbers_replace(numbers_t *out, sym_account_t *account,
                             sym_str_t body);
void numbers_free(numbers_t *out);

/* True if the text is an integer (an optional minus and digits). */
bool number_is_integer(sym_str_t text);

/*
 * "0x.." or "-0x.." of an integer of any size, in the arena; data is NULL when
 * out of memory.  The time is quadratic in the number of digits.
 */
sym_str_t number_hex(sym_arena_t *arena, sym_str_t decimal);

#endif
