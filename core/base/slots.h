/*
 * slots.h - which of a few equal slots are in use.  The first free one is
 * taken, so that few slots ever get memory, and these are reused.
 *
 * Any thread takes and returns slots.  A caller knows that one is free, or
 * spins until one is.
 */
#ifndef SYM_BASE_SLOTS_H
#define SYM_BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#define SYM_SLOTS 16

typedef struct {
    bool is_taken[SYM_SLOTS]; /* atomic */
} sym_slots_t;

static inline size_t
sym_slots_take(sym_slots_t *slots)
{
    size_t i = 0;

    /* again from the start: another thread may have returned one that this loop
       has passed */
    while (__atomic_test_and_set(&slots->is_taken[i], __ATOMIC_ACQUIRE)) {
        i = (i + 1) % SYM_SLOTS;
    }

    return i;
}


static inline void
sym_slots_give_back(sym_slots_t *slots, size_t i)
{
    __atomic_clear(&slots->is_taken[i], __ATOMIC_RELEASE);
}

#endif
