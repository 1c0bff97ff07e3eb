#include "metrics/history.h"

#include <stddef.h>

static const struct {
    sym_str_t name;
    size_t offset; /* offset in sym_totals_t */
} series[] = {
    { { "requests", 8 }, offsetof(sym_totals_t, requests) },
    { { "errors", 6 }, offsetof(sym_totals_t, errors) },
    { { "frames", 6 }, offsetof(sym_totals_t, frames) },
    { { "misses", 6 }, offsetof(sym_totals_t, misses) },
    { { "fetches", 7 }, offsetof(sym_totals_t, fetches) },
};


void
sym_history_keep(sym_history_t *h, uint64_t now_s, const sym_totals_t *totals)
{
    uint64_t interval = sym_history_interval(now_s), none = 0;
    uint64_t newest = __atomic_load_n(&h->newest, __ATOMIC_RELAXED);
    sym_history_sample_t *s = &h->samples[interval % SYM_HISTORY_INTERVALS];

    if (newest >= interval
        || !__atomic_compare_exchange_n(&h->newest, &newest, interval, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {
        return;
    }

    __atomic_store_n(&s->interval, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    s->before = *totals;
    __atomic_store_n(&s->interval, interval, __ATOMIC_RELEASE);
    (void) __atomic_compare_exchange_n(&h->oldest, &none, interval, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}


/* Returns false if the interval has no sample, or if it is being written. */
static bool
read_sample(const sym_history_t *h, uint64_t interval, sym_totals_t *before)
{
    const sym_history_sample_t *s =
        &h->samples[interval % SYM_HISTORY_INTERVALS];

    if (__atomic_load_n(&s->interval, __ATOMIC_ACQUIRE) != interval) {
        return false;
    }

    *before = s->before;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->interval, __ATOMIC_RELAXED) == interval;
}


static uint64_t
value_of(const sym_totals_t *t, size_t offset)
{
    return *(const uint64_t *) (const void *) ((const char *) t + offset);
}


/* totals[i]: totals at the start of the i-th of n intervals. */
static void
write_series(sym_out_t *out, size_t which,
             const sym_totals_t totals[SYM_HISTORY_INTERVALS + 1], size_t n)
{
    sym_out_raw(out, SYM_STR(", "));
    sym_out_string(out, series[which].name);
    sym_out_raw(out, SYM_STR(": ["));

    for (size_t i = 0; i < n; i++) {
        uint64_t begin = value_of(&totals[i], series[which].offset);
        uint64_t end = value_of(&totals[i + 1], series[which].offset);

        if (i != 0) {
            sym_out_raw(out, SYM_STR(", "));
        }

        /* another worker may have counted while these totals were added up */
        sym_out_dec(out, end > begin ? end - begin : 0);
    }

    sym_out_raw(out, SYM_STR("]"));
}


void
sym_history_write(const sym_history_t *h, uint64_t now_s,
                  const sym_totals_t *now, sym_out_t *out)
{
    /* totals at the start of each interval, and now */
    sym_totals_t totals[SYM_HISTORY_INTERVALS + 1];
    uint64_t last = sym_history_interval(now_s);
    uint64_t oldest = __atomic_load_n(&h->oldest, __ATOMIC_RELAXED);
    uint64_t first = oldest == 0 || oldest > last ? last : oldest;
    size_t n;

    if (last - first >= SYM_HISTORY_INTERVALS) {
        first = last - SYM_HISTORY_INTERVALS + 1;
    }

    n = (size_t) (last - first) + 1;
    totals[n] = *now;

    for (size_t i = n; i-- > 0;) {
        if (!read_sample(h, first + i, &totals[i])) {
            totals[i] = totals[i + 1];
        }
    }

    sym_out_raw(out, SYM_STR("{\"interval_s\": "));
    sym_out_dec(out, SYM_HISTORY_INTERVAL_S);

    for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
        write_series(out, i, totals, n);
    }

    sym_out_raw(out, SYM_STR("}\n"));
}
