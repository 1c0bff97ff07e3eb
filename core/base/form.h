/*
 * form.h - names and values of queries and forms
 * (application/x-www-form-urlencoded).
 */
#ifndef SYM_BASE_FORM_H
#define SYM_BASE_FORM_H

#include "base/str.h"

/* The decoded byte that begins at s.data[*at], 0 to 255; *at, which must be
 * below s.len, moves to the byte after it.  A '+' is a space.  -1: a '%'
 * without two digits; only the '%' is skipped. */
int sym_form_byte(sym_str_t s, size_t *at);

#endif
