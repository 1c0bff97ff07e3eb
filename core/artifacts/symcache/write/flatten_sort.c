#include "artifacts/symcache/write/flatten_sort.h"

#include <stdlib.h>

static int
compare_lines(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


/* The sort is stable, because the low half of the key is the index. */
sym_status_t
sym_flatten_sort_lines(sym_flatten_t *fl, size_t n)
{
    uint64_t *keys;
    sym_line_t *sorted;
    size_t i;

    for (i = 1; i < n && fl->lines[i - 1].addr <= fl->lines[i].addr; i++) {
        /* almost always sorted */
    }

    if (i >= n) {
        return SYM_OK;
    }

    if (n > UINT32_MAX) {
        return sym_fail(fl->err, SYM_LIMIT, "too many lines in a function");
    }

    keys = malloc(n * sizeof(*keys));
    sorted = malloc(fl->lines_size * sizeof(*sorted));
    if (keys == NULL || sorted == NULL) {
        free(keys);
        free(sorted);
        return sym_fail(fl->err, SYM_NOMEM, "no memory for a function");
    }

    for (i = 0; i < n; i++) {
        keys[i] = (uint64_t) fl->lines[i].addr << 32 | i;
    }

    qsort(keys, n, sizeof(*keys), compare_lines);

    for (i = 0; i < n; i++) {
        sorted[i] = fl->lines[keys[i] & UINT32_MAX];
    }

    free(keys);
    free(fl->lines);
    fl->lines = sorted;
    return SYM_OK;
}


/* Sorts runs of this many by insertion, then merges them. */
#define SORT_RUN 16

static void
sort_run(sym_pending_t *q, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        sym_pending_t item = q[i];
        size_t at = i;

        for (; at > 0 && sym_pending_before(&item, &q[at - 1]); at--) {
            q[at] = q[at - 1];
        }
        q[at] = item;
    }
}


static void
merge(const sym_pending_t *a, size_t n_a, const sym_pending_t *b, size_t n_b,
      sym_pending_t *out)
{
    while (n_a > 0 && n_b > 0) {
        if (sym_pending_before(b, a)) {
            *out++ = *b++;
            n_b--;
        } else {
            *out++ = *a++;
            n_a--;
        }
    }

    memcpy(out, n_a > 0 ? a : b, (n_a > 0 ? n_a : n_b) * sizeof(*out));
}


void
sym_flatten_sort_queue(sym_flatten_t *fl, size_t n)
{
    for (size_t i = 0; i < n; i += SORT_RUN) {
        sort_run(fl->queue + i, n - i < SORT_RUN ? n - i : SORT_RUN);
    }

    for (size_t run = SORT_RUN; run < n; run *= 2) {
        sym_pending_t *q = fl->queue;

        for (size_t i = 0; i < n; i += 2 * run) {
            size_t n_a = n - i < run ? n - i : run;
            size_t n_b = n - i - n_a < run ? n - i - n_a : run;

            merge(q + i, n_a, q + i + n_a, n_b, fl->spare + i);
        }

        fl->queue = fl->spare;
        fl->spare = q;
    }
}
