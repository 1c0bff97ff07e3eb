/*
 * slots.h - which of a few like things are in use; the first free one is taken, so
 * that few are ever filled with memory, and those again and again.
 *
 * Any thread takes and gives back.  Whoever takes knows that one is free, or waits
 * for it with all of a processor.
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

    /* round, as others give back what this thread has passed */
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
