/*
 * number.h - converts JSON numbers that jansson refuses or reads differently
 * from Rust's serde, and writes numbers as in serde's messages.
 */
#ifndef SYM_JSON_NUMBER_H
#define SYM_JSON_NUMBER_H

#include "base/arena.h"
#include "base/str.h"

/* Maximum length of a double: 1 and 308 digits before the point, or 17 after
   307 zeros. */
#define SYM_JSON_REAL_MAX 352

/*
 * Returns JSON text in which jansson reads integers as serde_json does.  An
 * unsigned 64-bit integer becomes the signed one with the same bits, because
 * Symbolicator's HexValue takes negative ones like that.  Integers out of
 * range, and -0, become reals.  In objects that are values of the key `exact`
 * (with its quotes), no integer becomes negative: large ones become reals.
 * Returns the text itself if nothing changes; else a text in the arena, with
 * data NULL if that is full.
 */
sym_str_t sym_json_integers(sym_arena_t *arena, sym_str_t text,
                            sym_str_t exact);

/* Writes the fewest digits that identify the number, without an exponent:
 * "1.5", "100000000000000000000.0".  Appends a NUL; returns the length. */
size_t sym_json_real(double value, char out[SYM_JSON_REAL_MAX]);

#endif
