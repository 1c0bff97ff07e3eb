/*
 * numbers.h - a map from the numbers of FILE and INLINE_ORIGIN records to their
 * values.
 *
 * The numbers are untrusted and may be sparse and huge, so nothing is sized by
 * their value.  Small numbers are in an array, which is never larger than a few
 * times the number of records read.  Other numbers are in a hash table.  A
 * value is any u32 except SYM_NO_NUMBER.
 */
#ifndef SYM_FORMATS_BREAKPAD_NUMBERS_H
#define SYM_FORMATS_BREAKPAD_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SYM_NO_NUMBER UINT32_MAX

typedef struct {
    uint64_t key;
    uint32_t value; /* SYM_NO_NUMBER: an empty slot */
} sym_number_slot_t;

typedef struct {
    uint32_t *dense; /* indexed by number */
    size_t n_dense;
    sym_number_slot_t *slots; /* n_slots is 0 or a power of two */
    size_t n_slots, n_sparse;
    size_t count;
} sym_numbers_t;

void sym_numbers_free(sym_numbers_t *m);

/* The value of a number; SYM_NO_NUMBER: the number is absent, or not in the
 * array. */
static inline uint32_t
sym_numbers_dense(const sym_numbers_t *m, uint64_t key)
{
    return key < m->n_dense ? m->dense[key] : SYM_NO_NUMBER;
}


/* The value of a number; SYM_NO_NUMBER: the number is absent. */
uint32_t sym_numbers_get(const sym_numbers_t *m, uint64_t key);

/* Adds a number, or replaces its value. */
sym_status_t sym_numbers_put(sym_numbers_t *m, uint64_t key, uint32_t value,
                             sym_error_t *err);

#endif
