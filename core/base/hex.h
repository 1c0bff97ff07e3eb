/*
 * hex.h - numbers as text, both ways.
 *
 * The readers accept a view that consists of digits only, at least one: no
 * sign, no 0x, no white space.  They return false for other views and for
 * numbers of more than 64 bits; *value is then unchanged.
 */
#ifndef SYM_BASE_HEX_H
#define SYM_BASE_HEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

bool sym_hex_read(sym_str_t s, uint64_t *value);
bool sym_dec_read(sym_str_t s, uint64_t *value);

/* Reads the leading digits, up to 64 bits; returns how many there are. */
size_t sym_hex_prefix(sym_str_t s, uint64_t *value);

/* 0..15, or -1 for a byte that is not a hexadecimal digit. */
int sym_hex_digit(char c);

/* The byte encoded by "%XX" at s.data[at]; -1: there is no escape. */
int sym_hex_percent(sym_str_t s, size_t at);

/* Lower-case digits without padding at p; returns the end.  All 16 bytes at p
 * may be written to. */
char *sym_hex_write(char *p, uint64_t value);

/* Decimal digits without padding at p; returns the end.  All 20 bytes at p may
 * be written to. */
char *sym_dec_write(char *p, uint64_t value);

#endif
