/*
 * slots.h - records which of a few equal slots are in use.  The first free one
 * is taken, so only few slots ever get memory, and that memory is reused.
 *
 * Any thread may take and return slots.  If no slot is free, sym_slots_take()
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

    /* starts again, because another thread may have returned a slot that this
       loop has already passed */
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
