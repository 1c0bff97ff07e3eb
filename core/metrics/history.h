/*
 * history.h - the totals of the last hour, for each half minute.
 *
 * A ring in the memory that all workers share; a page that is opened after an
 * incident shows the incident.  The first worker that counts in a half minute
 * stores the totals from before.  If later half minutes have no sample, nothing
 * was counted in them.  So the difference of two successive samples is exactly
 * the count in the half minute of the first, and an idle server needs no timer.
 *
 * Times are seconds of one monotonic clock that all workers share.  All zeros
 * are a valid initial state.
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
    uint64_t errors; /* number of requests with a status other than 2xx */
    uint64_t frames;
    uint64_t misses; /* number of modules in requests that were not found */
    uint64_t fetches;
} sym_totals_t;

typedef struct {
    uint64_t interval; /* number of the interval, from 1; 0: empty, or being
                          written */
    sym_totals_t before;
} sym_history_sample_t;

typedef struct {
    uint64_t newest; /* number of the latest interval with a sample, or with a
                        writer */
    uint64_t oldest; /* number of the interval of the very first sample */
    sym_history_sample_t samples[SYM_HISTORY_INTERVALS];
} sym_history_t;

static inline uint64_t
sym_history_interval(uint64_t now_s)
{
    return now_s / SYM_HISTORY_INTERVAL_S + 1;
}


/* Whether a sample is due.  It is cheap, so it can be called before each
 * count. */
static inline bool
sym_history_is_due(const sym_history_t *h, uint64_t now_s)
{
    return __atomic_load_n(&h->newest, __ATOMIC_RELAXED)
           < sym_history_interval(now_s);
}


/* Stores the current totals, unless another caller did so in this half
 * minute. */
void sym_history_keep(sym_history_t *h, uint64_t now_s,
                      const sym_totals_t *totals);

/*
 * Writes {"interval_s": 30, "requests": [..], "errors": [..], ..}: counts of
 * each half minute up to the current one.  The first is the first known one, at
 * most an hour ago.
 */
void sym_history_write(const sym_history_t *h, uint64_t now_s,
                       const sym_totals_t *totals, sym_out_t *out);

#endif
