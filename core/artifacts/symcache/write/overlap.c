#include "artifacts/symcache/write/overlap.h"

#include <stdlib.h>

/* Strength of a function's claim on an address, weakest first. */
enum { SAYS_END, SAYS_BARE_START, SAYS_START };

typedef struct {
    uint64_t addr;
    uint32_t says;
    uint32_t order;
    uint32_t function, segment;
} event_t;

typedef struct {
    const sym_overlap_function_t *functions;
    event_t *events;
    size_t n_events;
    event_t *history; /* stack of records begun, the latest on top */
    size_t n_history;
} sweep_t;

static uint64_t
end_of(const sym_overlap_function_t *f)
{
    return (uint64_t) f->addr + f->size;
}


/* Order: by address; the event that wins its address comes last. */
static int
compare_events(const void *a, const void *b)
{
    const event_t *x = a, *y = b;

    if (x->addr != y->addr) {
        return x->addr < y->addr ? -1 : 1;
    }

    if (x->says != y->says) {
        return x->says < y->says ? -1 : 1;
    }

    if (x->order == y->order) {
        return 0;
    }

    /* the first of bare starts wins; otherwise the last */
    return (x->order < y->order) == (x->says == SAYS_START) ? -1 : 1;
}


static bool
is_bare(const sym_segment_t *s)
{
    return s->file == 0 && s->line == 0 && s->node == 0;
}


static void
collect(sweep_t *w, const sym_overlap_function_t *f, uint32_t index)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        event_t *e = &w->events[w->n_events++];

        *e = (event_t){ f->segments[i].addr, SAYS_START, f->order, index,
                        (uint32_t) i };
        if (i == 0 && is_bare(&f->segments[0])) {
            e->says = SAYS_BARE_START;
        }
    }

    w->events[w->n_events++] =
        (event_t){ end_of(f), SAYS_END, f->order, index, 0 };
}


/*
 * The latest record of a function that still covers addr, or none.  Drops
 * records of functions that have ended.
 */
static sym_overlap_start_t
in_force(sweep_t *w, uint64_t addr)
{
    sym_overlap_start_t s = { (uint32_t) addr, SYM_NO_FUNCTION, 0 };

    while (w->n_history != 0) {
        const event_t *e = &w->history[w->n_history - 1];

        if (end_of(&w->functions[e->function]) > addr) {
            s.function = e->function;
            s.segment = e->segment;
            break;
        }
        w->n_history--;
    }

    return s;
}


static void
sweep(sweep_t *w, sym_overlap_start_t *starts, size_t *n_starts)
{
    for (size_t i = 0; i < w->n_events; i++) {
        const event_t *e = &w->events[i];
        sym_overlap_start_t s;

        if (e->says != SAYS_END) {
            w->history[w->n_history++] = *e;
        }

        if (i + 1 < w->n_events && w->events[i + 1].addr == e->addr) {
            continue;
        }

        if (e->addr > UINT32_MAX) {
            break; /* the end of the address space ends all functions */
        }

        s = in_force(w, e->addr);
        if (*n_starts == 0 || starts[*n_starts - 1].function != s.function
            || starts[*n_starts - 1].segment != s.segment)
        {
            starts[(*n_starts)++] = s;
        }
    }
}


sym_status_t
sym_overlap_settle(const sym_overlap_function_t *functions, size_t n,
                   sym_overlap_start_t **starts, size_t *n_starts,
                   sym_error_t *err)
{
    sweep_t w = { .functions = functions };
    size_t total = n;

    *starts = NULL;
    *n_starts = 0;

    for (size_t i = 0; i < n; i++) {
        total += functions[i].n_segments;
    }

    w.events = malloc(total * sizeof(*w.events));
    w.history = malloc(total * sizeof(*w.history));
    *starts = malloc(total * sizeof(**starts));

    if (w.events == NULL || w.history == NULL || *starts == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for overlapping functions");
        goto done;
    }

    for (size_t i = 0; i < n; i++) {
        collect(&w, &functions[i], (uint32_t) i);
    }

    qsort(w.events, w.n_events, sizeof(*w.events), compare_events);
    sweep(&w, *starts, n_starts);

done:
    free(w.events);
    free(w.history);
    return err->status;
}
