/*
 * check.h - conditions that must hold for any input; a fuzzer sees the abort.
 */
#ifndef SYM_FUZZ_CHECK_H
#define SYM_FUZZ_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

static inline void
check(bool is_so)
{
    if (!is_so) {
        abort();
    }
}

#endif
