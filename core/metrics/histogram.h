/*
 * histogram.h - durations, counted in memory that processes share.
 *
 * Bounds are 1, 2, 5, 10, .. from 10 microseconds to 100 seconds.  An
 * observation is two relaxed atomic additions.  All zeros are an empty
 * histogram.
 */
#ifndef SYM_METRICS_HISTOGRAM_H
#define SYM_METRICS_HISTOGRAM_H

#include <stdint.h>

#include "base/str.h"

#define SYM_HISTOGRAM_BOUNDS 22

typedef struct {
    /* not cumulative; the last bucket is for values beyond all bounds */
    uint64_t buckets[SYM_HISTOGRAM_BOUNDS + 1];
    uint64_t sum_ns;
} sym_histogram_t;

void sym_histogram_observe(sym_histogram_t *h, uint64_t ns);

/* Returns the i-th bound in seconds, as text. */
sym_str_t sym_histogram_bound(unsigned i);

#endif
