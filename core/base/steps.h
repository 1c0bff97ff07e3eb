/*
 * steps.h - a budget of work on hostile input.
 *
 * A loop whose length the input decides takes a step for about 10 ns of work.
 * When no step is left the loop ends, and its caller continues in another turn
 * or refuses the input.  Steps do not depend on the machine, so that tests and
 * fuzz targets can hold the work on an input to a bound.
 */
#ifndef SYM_BASE_STEPS_H
#define SYM_BASE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* False: fewer steps are left; the budget is then empty. */
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


/* The rest of a turn's budget, in frames of an answer. */
static inline void
sym_budget_charge(uint32_t *budget, uint32_t n)
{
    *budget -= n < *budget ? n : *budget;
}

#endif
