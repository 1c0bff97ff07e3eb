/*
 * number.h - JSON numbers that jansson refuses, or reads differently from
 * Rust's serde, and how serde's messages show them.
 */
#ifndef SYM_JSON_NUMBER_H
#define SYM_JSON_NUMBER_H

#include "base/arena.h"
#include "base/str.h"

/* Length of any double: 1 and 308 digits before the point, or 17 after 307
   zeros. */
#define SYM_JSON_REAL_MAX 352

/*
 * JSON text in which jansson reads integers as serde_json does.  An unsigned
 * integer of 64 bits becomes the signed one with the same bits, because a
 * HexValue of Symbolicator takes negative ones like that; integers out of
 * range, and -0, become reals.  In objects that are values of the key `exact`
 * (with its quotes), no integer becomes negative: large ones are reals there.
 * Returns the text itself if nothing changes; else a text in the arena, with
 * data NULL if that is full.
 */
sym_str_t sym_json_integers(sym_arena_t *arena, sym_str_t text,
                            sym_str_t exact);

/* "1.5", "100000000000000000000.0": the fewest digits that identify the number,
 * without an exponent.  Writes a NUL; returns the length. */
size_t sym_json_real(double value, char out[SYM_JSON_REAL_MAX]);

#endif
