/*
 * fields.h - parses a line of a .sym file, field by field.
 *
 * Fields are separated by one or more of space, tab and carriage return.  The
 * first error is kept (static text, position in the line) and ends the line:
 * later reads give 0, so a caller checks sym_fields_ok() once a record.
 */
#ifndef SYM_FORMATS_BREAKPAD_FIELDS_H
#define SYM_FORMATS_BREAKPAD_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    const char *pos, *end;
    const char *what;  /* error message; NULL: no error */
    const char *where; /* points into the line */
} sym_fields_t;

/* Error messages of a field. */
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
 * Begins a line whose first `skip` bytes are a keyword and the space after it.
 * Unicode white space around the line is ignored, as by Rust's trim().  Invalid
 * UTF-8 fails.
 */
sym_fields_t sym_fields(sym_str_t line, size_t skip);

/* The next field as a number of at most 64 bits. */
uint64_t sym_fields_hex(sym_fields_t *f, sym_field_name_t name);
uint64_t sym_fields_dec(sym_fields_t *f, sym_field_name_t name);

/* The next field unchanged, perhaps empty. */
sym_str_t sym_fields_word(sym_fields_t *f);

/* The rest of the line, perhaps empty. */
sym_str_t sym_fields_rest(sym_fields_t *f);

/* Consumes the next field if it is the single character c. */
bool sym_fields_flag(sym_fields_t *f, char c);

/* Consumes the next field if it is '-' and more characters. */
bool sym_fields_minus(sym_fields_t *f);

/* Number of fields left (a control character counts as white space). */
size_t sym_fields_count(const sym_fields_t *f);

/* Fails unless the complete line was consumed. */
void sym_fields_end(sym_fields_t *f, const char *what);

#endif
