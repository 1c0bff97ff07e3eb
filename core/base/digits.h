/*
 * digits.h - long rows of hexadecimal digits, as ids are: sixteen at a time.
 *
 * Numbers are read and written by hex.h.
 */
#ifndef SYM_BASE_DIGITS_H
#define SYM_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Copies n digits, in upper case.  False: some are not digits; what out has then
 * is unspecified. */
bool sym_digits_upper(const char *p, size_t n, char *out);

/* Reads n bytes, of two digits each.  False: as above. */
bool sym_digits_read(const char *p, size_t n, uint8_t *out);

/* Writes two digits a byte; returns their number. */
size_t sym_digits_write_upper(const uint8_t *bytes, size_t n, char *out);
size_t sym_digits_write_lower(const uint8_t *bytes, size_t n, char *out);

#endif
