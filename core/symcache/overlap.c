#include "symcache/overlap.h"

#include <stdlib.h>

/* What a function says of an address, weakest first. */
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
    uint32_t *nesting; /* functions by (addr, end downwards, order) */
    uint32_t *open;    /* stack of those begun; the ended go when on top */
    size_t n_open, n_begun;
} settle_t;

static uint64_t
end_of(const sym_overlap_function_t *f)
{
    return (uint64_t) f->addr + f->size;
}


/* By address; the event that wins its address comes last. */
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

    /* of bare starts the first stands, of others the last */
    return (x->order < y->order) == (x->says == SAYS_START) ? -1 : 1;
}


static bool
is_bare(const sym_segment_t *s)
{
    return s->file == SYM_NO_STRING && s->node == 0;
}


static void
collect(settle_t *w, const sym_overlap_function_t *f, uint32_t index)
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


/* Inner functions after those that enclose them. */
static int
compare_nesting(const void *a, const void *b, void *ctx)
{
    const sym_overlap_function_t *functions = ctx;
    const sym_overlap_function_t *x = &functions[*(const uint32_t *) a];
    const sym_overlap_function_t *y = &functions[*(const uint32_t *) b];

    if (x->addr != y->addr) {
        return x->addr < y->addr ? -1 : 1;
    }

    if (end_of(x) != end_of(y)) {
        return end_of(x) > end_of(y) ? -1 : 1;
    }

    return x->order < y->order ? -1 : x->order > y->order;
}


/* The innermost function that covers addr, or SYM_NO_FUNCTION. */
static uint32_t
covering(settle_t *w, size_t n, uint64_t addr)
{
    while (w->n_begun < n && w->functions[w->nesting[w->n_begun]].addr <= addr)
    {
        w->open[w->n_open++] = w->nesting[w->n_begun++];
    }

    while (w->n_open != 0
           && end_of(&w->functions[w->open[w->n_open - 1]]) <= addr) {
        w->n_open--;
    }

    return w->n_open == 0 ? SYM_NO_FUNCTION : w->open[w->n_open - 1];
}


/* The function's segment in force at addr. */
static uint32_t
segment_at(const sym_overlap_function_t *f, uint64_t addr)
{
    size_t low = 0, high = f->n_segments;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (f->segments[middle].addr <= addr) {
            low = middle;
        } else {
            high = middle;
        }
    }

    return (uint32_t) low;
}


static void
sweep(settle_t *w, size_t n, sym_overlap_start_t *starts, size_t *n_starts)
{
    for (size_t i = 0; i < w->n_events; i++) {
        const event_t *e = &w->events[i];
        sym_overlap_start_t *s = &starts[*n_starts];

        if (i + 1 < w->n_events && w->events[i + 1].addr == e->addr) {
            continue;
        }

        if (e->addr > UINT32_MAX) {
            break; /* the end of the address space ends all */
        }

        *s = (sym_overlap_start_t){ (uint32_t) e->addr, e->function,
                                    e->segment };
        if (e->says == SAYS_END) {
            s->function = covering(w, n, e->addr);
            s->segment = s->function == SYM_NO_FUNCTION
                             ? 0
                             : segment_at(&w->functions[s->function], e->addr);
        }
        ++*n_starts;
    }
}


sym_status_t
sym_overlap_settle(const sym_overlap_function_t *functions, size_t n,
                   sym_overlap_start_t **starts, size_t *n_starts,
                   sym_error_t *err)
{
    settle_t w = { .functions = functions };
    size_t total = n;

    *starts = NULL;
    *n_starts = 0;

    for (size_t i = 0; i < n; i++) {
        total += functions[i].n_segments;
    }

    w.events = malloc(total * sizeof(*w.events));
    w.nesting = malloc(n * sizeof(*w.nesting));
    w.open = malloc(n * sizeof(*w.open));
    *starts = malloc(total * sizeof(**starts));

    if (w.events == NULL || w.nesting == NULL || w.open == NULL
        || *starts == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for overlapping functions");
        goto done;
    }

    for (size_t i = 0; i < n; i++) {
        collect(&w, &functions[i], (uint32_t) i);
        w.nesting[i] = (uint32_t) i;
    }

    qsort(w.events, w.n_events, sizeof(*w.events), compare_events);
    qsort_r(w.nesting, n, sizeof(*w.nesting), compare_nesting,
            (void *) (uintptr_t) functions);
    sweep(&w, n, *starts, n_starts);

done:
    free(w.events);
    free(w.nesting);
    free(w.open);
    return err->status;
}
