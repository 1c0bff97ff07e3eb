/*
 * fields.h - takes one line of a .sym file apart, field by field.
 *
 * Fields are separated by one or more of space, tab and carriage return.  The
 * first thing that is wrong is kept (static text, place in the line) and ends
 * the line: later reads give 0, so a caller asks sym_fields_ok() once a record.
 */
#ifndef SYM_FORMATS_BREAKPAD_FIELDS_H
#define SYM_FORMATS_BREAKPAD_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    const char *pos, *end;
    const char *what;  /* what is wrong; NULL: nothing */
    const char *where; /* points into the line */
} sym_fields_t;

/* What to say of a field. */
typedef struct {
    const char *missing, *wrong;
} sym_field_name_t;

#define SYM_HEX_FIELD(name)                                                    \
    ((sym_field_name_t){ name " is missing",                                   \
                         name " is not a hexadecimal number" })
#define SYM_DEC_FIELD(name)                                                    \
    ((sym_field_name_t){ name " is missing", name " is not a decimal "         \
                                                  "number" })

static inline bool
sym_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}


static inline bool
sym_fields_ok(const sym_fields_t *f)
{
    return f->what == NULL;
}


/* Keeps the first failure and empties the line. */
void sym_fields_fail(sym_fields_t *f, const char *what, const char *where);

/*
 * Begins with a line whose first `skip` bytes are a keyword and the space
 * after it.  White space around the line does not count (Unicode's, as in
 * Rust's trim()).  Bytes that are no UTF-8 fail.
 */
sym_fields_t sym_fields(sym_str_t line, size_t skip);

/* The next field as a number of at most 64 bits. */
uint64_t sym_fields_hex(sym_fields_t *f, sym_field_name_t name);
uint64_t sym_fields_dec(sym_fields_t *f, sym_field_name_t name);

/* The next field as it is, perhaps empty. */
sym_str_t sym_fields_word(sym_fields_t *f);

/* All that is left, perhaps empty. */
sym_str_t sym_fields_rest(sym_fields_t *f);

/* True, and past it, if the next field is the single character c. */
bool sym_fields_flag(sym_fields_t *f, char c);

/* True, and past it, if the next field begins with '-' and goes on. */
bool sym_fields_minus(sym_fields_t *f);

/* How many fields are left (a control character counts as white space). */
size_t sym_fields_count(const sym_fields_t *f);

/* Fails unless nothing is left. */
void sym_fields_end(sym_fields_t *f, const char *what);

#endif
