/*
 * digits.h - converts long strings of hexadecimal digits, such as ids, sixteen
 * digits at a time.
 *
 * hex.h reads and writes numbers.
 */
#ifndef SYM_BASE_DIGITS_H
#define SYM_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Copies n digits in upper case.  Returns false if some are not digits; the
 * content of out is then undefined. */
bool sym_digits_upper(const char *p, size_t n, char *out);

/* Reads n bytes of two digits each.  Returns false as above. */
bool sym_digits_read(const char *p, size_t n, uint8_t *out);

/* Writes two digits for each byte; returns the number of digits. */
size_t sym_digits_write_upper(const uint8_t *bytes, size_t n, char *out);
size_t sym_digits_write_lower(const uint8_t *bytes, size_t n, char *out);

#endif
