/*
 * steps.h - a budget of work on hostile input.
 *
 * A loop whose length depends on the input takes one step for about 10 ns of
 * work.  If no steps are left, the loop ends, and its caller continues in
 * another turn or refuses the input.  Steps do not depend on the machine, so
 * tests and fuzz targets can check a bound on the work for an input.
 */
#ifndef SYM_BASE_STEPS_H
#define SYM_BASE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes steps from the budget.  False: fewer are left; the budget is then
 * empty. */
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


/* The rest of a turn's budget, counted in frames of an answer. */
static inline void
sym_budget_charge(uint32_t *budget, uint32_t n)
{
    *budget -= n < *budget ? n : *budget;
}

#endif
