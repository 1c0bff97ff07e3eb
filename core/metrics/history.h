/*
 * history.h - the totals of the last hour, in half minutes.
 *
 * A ring in the memory that all workers share, so that a page opened after an
 * incident shows it.  The first worker that counts in a half minute keeps the
 * totals from before.  So the difference of two samples is exactly the count in
 * the half minute of the first, even if there is no sample between them, and an
 * idle server needs no timer.
 *
 * Times are seconds of one monotonic clock that all workers share.  Zeroes are
 * a valid beginning.
 */
#ifndef SYM_METRICS_HISTORY_H
#define SYM_METRICS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "json/out.h"

#define SYM_HISTORY_INTERVAL_S 30
#define SYM_HISTORY_INTERVALS 120

typedef struct {
    uint64_t requests;
    uint64_t errors; /* requests with any other status than 2xx */
    uint64_t frames;
    uint64_t misses; /* modules in requests that were not found */
    uint64_t fetches;
} sym_totals_t;

typedef struct {
    uint64_t interval; /* since 1; 0: empty, or being written */
    sym_totals_t before;
} sym_history_sample_t;

typedef struct {
    uint64_t newest; /* the last interval that was claimed */
    uint64_t oldest; /* interval of the very first sample */
    sym_history_sample_t samples[SYM_HISTORY_INTERVALS];
} sym_history_t;

static inline uint64_t
sym_history_interval(uint64_t now_s)
{
    return now_s / SYM_HISTORY_INTERVAL_S + 1;
}


/* Whether a sample is due.  Cheap, for use before each count. */
static inline bool
sym_history_is_due(const sym_history_t *h, uint64_t now_s)
{
    return __atomic_load_n(&h->newest, __ATOMIC_RELAXED)
           < sym_history_interval(now_s);
}


/* Keeps the current totals.  The first caller in a half minute wins. */
void sym_history_keep(sym_history_t *h, uint64_t now_s,
                      const sym_totals_t *totals);

/*
 * Writes {"interval_s": 30, "requests": [..], "errors": [..], ..}: counts of
 * each half minute, from the first known one, at most an hour ago, to the
 * current one.
 */
void sym_history_write(const sym_history_t *h, uint64_t now_s,
                       const sym_totals_t *totals, sym_out_t *out);

#endif
