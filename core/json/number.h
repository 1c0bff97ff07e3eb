/*
 * number.h - numbers of JSON that jansson does not take, or takes in another way
 * than Rust's serde does, and how serde's messages show them.
 */
#ifndef SYM_JSON_NUMBER_H
#define SYM_JSON_NUMBER_H

#include "base/arena.h"
#include "base/str.h"

/* Of any double: 1 and 308 digits before the point, or 17 behind 307 zeros. */
#define SYM_JSON_REAL_MAX 352

/*
 * JSON text in which jansson reads integers as serde_json does.  One of 64 bits
 * without a sign becomes that of the same bits with a sign, as which a HexValue of
 * Symbolicator takes negative ones; one that is larger or less, and -0, become
 * reals.  In objects that are values of the key `exact` (with its quotes), no
 * integer becomes a negative one: large ones are reals there.  Returns the text
 * itself if it has none of these; one in the arena otherwise, and data is NULL if
 * that is full.
 */
sym_str_t sym_json_integers(sym_arena_t *arena, sym_str_t text,
                            sym_str_t exact);

/* "1.5", "100000000000000000000.0": as few digits as stand for the number alone,
 * without an exponent.  With a NUL; gives the length. */
size_t sym_json_real(double value, char out[SYM_JSON_REAL_MAX]);

#endif
