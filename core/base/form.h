/*
 * form.h - names and values of queries and forms
 * (application/x-www-form-urlencoded).
 */
#ifndef SYM_BASE_FORM_H
#define SYM_BASE_FORM_H

#include "base/str.h"

/* Decodes the byte at s.data[*at], a value from 0 to 255, and moves *at past
 * it; *at must be below s.len.  A '+' is a space.  Returns -1 for a '%' without
 * two digits; only the '%' is then skipped. */
int sym_form_byte(sym_str_t s, size_t *at);

/* Whether a query has a parameter of this name, with or without a value. */
bool sym_form_has(sym_str_t query, sym_str_t name);

/* Returns the value of the first parameter with this name and a '=', not decoded;
 * data is NULL if there is none. */
sym_str_t sym_form_raw(sym_str_t query, sym_str_t name);

/* Decodes the value of the first parameter with this name in a query; returns
 * its length.  0: absent, empty, or longer than `size`. */
size_t sym_form_value(sym_str_t query, sym_str_t name, char *out, size_t size);

#endif
