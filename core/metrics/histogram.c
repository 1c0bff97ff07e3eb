#include "metrics/histogram.h"

typedef struct {
    uint64_t ns;
    sym_str_t seconds;
} bound_t;

#define BOUND(ns, seconds)                                                     \
    {                                                                          \
        UINT64_C(ns),                                                          \
        {                                                                      \
            (seconds), sizeof(seconds) - 1                                     \
        }                                                                      \
    }

static const bound_t bounds[SYM_HISTOGRAM_BOUNDS] = {
    BOUND(10000, "0.00001"),  BOUND(20000, "0.00002"),
    BOUND(50000, "0.00005"),  BOUND(100000, "0.0001"),
    BOUND(200000, "0.0002"),  BOUND(500000, "0.0005"),
    BOUND(1000000, "0.001"),  BOUND(2000000, "0.002"),
    BOUND(5000000, "0.005"),  BOUND(10000000, "0.01"),
    BOUND(20000000, "0.02"),  BOUND(50000000, "0.05"),
    BOUND(100000000, "0.1"),  BOUND(200000000, "0.2"),
    BOUND(500000000, "0.5"),  BOUND(1000000000, "1"),
    BOUND(2000000000, "2"),   BOUND(5000000000, "5"),
    BOUND(10000000000, "10"), BOUND(20000000000, "20"),
    BOUND(50000000000, "50"), BOUND(100000000000, "100"),
};


void
sym_histogram_observe(sym_histogram_t *h, uint64_t ns)
{
    unsigned i = 0;

    while (i < SYM_HISTOGRAM_BOUNDS && ns > bounds[i].ns) {
        i++;
    }

    (void) __atomic_fetch_add(&h->buckets[i], 1, __ATOMIC_RELAXED);
    (void) __atomic_fetch_add(&h->sum_ns, ns, __ATOMIC_RELAXED);
}


sym_str_t
sym_histogram_bound(unsigned i)
{
    return bounds[i].seconds;
}
