/*
 * hex.h - numbers as text, both ways.
 *
 * The readers take bare digits only: no sign, no 0x, no white space, at least
 * one digit, all of the view.  False means "not such a number" or too large
 * for 64 bits, and leaves *value alone.
 */
#ifndef SYM_BASE_HEX_H
#define SYM_BASE_HEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

bool sym_hex_read(sym_str_t s, uint64_t *value);
bool sym_dec_read(sym_str_t s, uint64_t *value);

/* Reads digits as far as they go, or 64 bits; gives how many. */
size_t sym_hex_prefix(sym_str_t s, uint64_t *value);

/* 0..15, or -1 for a byte that is no hexadecimal digit. */
int sym_hex_digit(char c);

/* The byte that the "%XX" at s.data[at] stands for; -1: none is there. */
int sym_hex_percent(sym_str_t s, size_t at);

/* Lower-case digits without padding at p; returns the end.  All 16 bytes at p may
 * be written to. */
char *sym_hex_write(char *p, uint64_t value);

/* Decimal digits without padding at p; returns the end.  All 20 bytes at p may
 * be written to. */
char *sym_dec_write(char *p, uint64_t value);

#endif
