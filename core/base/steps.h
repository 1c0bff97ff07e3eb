/*
 * steps.h - a budget of work on hostile input.
 *
 * A loop whose length the input decides takes a step each time, about 10 ns of
 * work.  When none is left it ends, and its caller goes on in another turn or
 * refuses the input.  Steps do not depend on the machine, so that tests and fuzz
 * targets can hold the work on an input to a bound.
 */
#ifndef SYM_BASE_STEPS_H
#define SYM_BASE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* False: fewer are left, and none from now on. */
static inline bool
sym_steps_take(uint64_t *left, uint64_t n)
{
    if (n > *left) {
        *left = 0;
        return false;
    }

    *left -= n;
    return true;
}


/* The budget of a turn, in frames of an answer, after work that is done. */
static inline void
sym_budget_charge(uint32_t *budget, uint32_t n)
{
    *budget -= n < *budget ? n : *budget;
}

#endif
