#include "metrics/counters.h"

#include <assert.h>

/* Bits of a link: a state, and above it the process id. */
#define LINK_UP UINT64_C(1)
#define LINK_WAS_UP UINT64_C(2)
#define LINK_PID_SHIFT 2


sym_str_t
sym_served_word(sym_served_t served)
{
    static const char *const words[SYM_SERVED_STATES] = {
        "none",         "ok",      "invalid",     "too_large",
        "unsupported",  "failed",  "unavailable", "partial",
        "fetch_failed", "pending", "busy"
    };

    return sym_cstr(words[served]);
}


sym_str_t
sym_outcome_word(sym_outcome_t outcome)
{
    static const char *const words[SYM_OUTCOMES] = { "found", "absent",
                                                     "malformed", "failed",
                                                     "pending" };

    return sym_cstr(words[outcome]);
}


sym_str_t
sym_refused_word(sym_refused_t refused)
{
    static const char *const words[SYM_REFUSED_STATES] = { "none", "worker",
                                                           "request" };

    return sym_cstr(words[refused]);
}


void
sym_metrics_request(sym_metrics_t *m, unsigned endpoint, sym_served_t served,
                    unsigned http_status)
{
    unsigned class = http_status / 100;

    if (class >= SYM_STATUS_CLASSES) {
        class = 0;
    }

    sym_count(&m->requests[endpoint][served][class], 1);
}


static bool
is_named(const sym_metrics_source_t *source, sym_str_t name)
{
    return sym_str_eq(sym_str(source->name, source->len), name);
}


unsigned
sym_metrics_source(sym_metrics_t *m, sym_str_t name)
{
    sym_str_t other = SYM_STR("other");
    sym_metrics_source_t *source;
    unsigned i = 0;

    assert(name.len > 0 && name.len <= SYM_METRICS_NAME_MAX);

    while (i < SYM_METRICS_SOURCES && m->sources[i].len != 0
           && !is_named(&m->sources[i], name))
    {
        i++;
    }

    /* a source with this name shares the slot of unnamed ones, because a page
     * with two series of one name is invalid */
    if (i == SYM_METRICS_OTHER || sym_str_eq(name, other)) {
        i = SYM_METRICS_OTHER;
        name = other;
    }

    source = &m->sources[i];

    if (source->len == 0) {
        memcpy(source->name, name.data, name.len);
        /* other processes may be reading the names: sets the length after the
         * name */
        __atomic_store_n(&source->len, (uint32_t) name.len, __ATOMIC_RELEASE);
    }

    return i;
}


void
sym_metrics_fetch(sym_metrics_t *m, unsigned source, sym_outcome_t outcome,
                  uint64_t bytes, uint64_t ns)
{
    sym_metrics_source_t *s = &m->sources[source];

    assert(source <= SYM_METRICS_OTHER && outcome < SYM_OUTCOME_PENDING);

    sym_count(&s->fetches[outcome], 1);
    sym_count(&s->bytes, bytes);
    sym_histogram_observe(&s->seconds, ns);
}


void
sym_metrics_worker(sym_metrics_t *m, unsigned worker, uint64_t pid)
{
    if (worker < SYM_METRICS_WORKERS) {
        __atomic_store_n(&m->links[worker], pid << LINK_PID_SHIFT,
                         __ATOMIC_RELAXED);
        sym_metrics_memory(m, worker, 0);
    }
}


void
sym_metrics_memory(sym_metrics_t *m, unsigned worker, uint64_t bytes)
{
    if (worker < SYM_METRICS_WORKERS) {
        __atomic_store_n(&m->memory[worker], bytes, __ATOMIC_RELAXED);
    }
}


uint64_t
sym_metrics_memory_all(const sym_metrics_t *m, unsigned n)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < n && i < SYM_METRICS_WORKERS; i++) {
        bytes += sym_counted(&m->memory[i]);
    }

    return bytes;
}


void
sym_metrics_link(sym_metrics_t *m, unsigned worker, uint64_t pid, bool is_up)
{
    uint64_t before, after;

    if (worker >= SYM_METRICS_WORKERS) {
        return;
    }

    before = sym_counted(&m->links[worker]);

    if (before >> LINK_PID_SHIFT != pid) {
        return;
    }

    after = before & ~LINK_UP;
    after |= is_up ? LINK_UP | LINK_WAS_UP : 0;

    /* this fails only if another process has just taken the slot */
    if (__atomic_compare_exchange_n(&m->links[worker], &before, after, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)
        && (before & (LINK_UP | LINK_WAS_UP)) == LINK_WAS_UP && is_up)
    {
        sym_count(&m->reconnects, 1);
    }
}


unsigned
sym_metrics_links(const sym_metrics_t *m, unsigned n)
{
    unsigned up = 0;

    for (unsigned i = 0; i < n && i < SYM_METRICS_WORKERS; i++) {
        up += (sym_counted(&m->links[i]) & LINK_UP) != 0;
    }

    return up;
}


void
sym_metrics_totals(const sym_metrics_t *m, sym_totals_t *totals)
{
    const uint64_t *requests = &m->requests[0][0][0];
    size_t n = sizeof(m->requests) / sizeof(*requests), i;

    *totals = (sym_totals_t){ .frames = sym_counted(&m->frames) };

    for (i = 0; i < n; i++) {
        uint64_t counted = sym_counted(&requests[i]);

        totals->requests += counted;
        totals->errors += i % SYM_STATUS_CLASSES == 2 ? 0 : counted;
    }

    for (i = SYM_OUTCOME_FOUND + 1; i < SYM_OUTCOMES; i++) {
        totals->misses += sym_counted(&m->modules[i]);
    }

    for (i = 0; i <= SYM_METRICS_SOURCES; i++) {
        for (size_t k = 0; k < SYM_OUTCOMES; k++) {
            totals->fetches += sym_counted(&m->sources[i].fetches[k]);
        }
    }
}


void
sym_metrics_remember(sym_metrics_t *m, uint64_t now_s)
{
    sym_totals_t totals;

    if (sym_history_is_due(&m->history, now_s)) {
        sym_metrics_totals(m, &totals);
        sym_history_keep(&m->history, now_s, &totals);
    }
}
