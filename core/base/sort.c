#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS (sizeof(uint64_t))
#define VALUES 256

/* How often each value stands in each byte of the keys. */
typedef struct {
    size_t n[DIGITS][VALUES];
} counts_t;


static unsigned
digit_of(uint64_t key, size_t digit)
{
    return (unsigned) (key >> 8 * digit) & (VALUES - 1);
}


static void
count(counts_t *c, const sym_sort_item_t *items, size_t n)
{
    memset(c, 0, sizeof(*c));

    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < DIGITS; d++) {
            c->n[d][digit_of(items[i].key, d)]++;
        }
    }
}


/* Moves all to `to`, by one byte of their keys. */
static void
sort_by(size_t digit, const size_t counts[VALUES], const sym_sort_item_t *from,
        size_t n, sym_sort_item_t *to)
{
    size_t next[VALUES], at = 0;

    for (size_t v = 0; v < VALUES; v++) {
        next[v] = at;
        at += counts[v];
    }

    for (size_t i = 0; i < n; i++) {
        to[next[digit_of(from[i].key, digit)]++] = from[i];
    }
}


bool
sym_sort(sym_sort_item_t *items, size_t n)
{
    sym_sort_item_t *other, *from = items, *to;
    counts_t c;

    if (n < 2) {
        return true;
    }

    other = malloc(n * sizeof(*other));
    if (other == NULL) {
        return false;
    }

    to = other;
    count(&c, items, n);

    for (size_t d = 0; d < DIGITS; d++) {
        /* a byte that all have in common, as most high ones of addresses */
        if (c.n[d][digit_of(items[0].key, d)] == n) {
            continue;
        }

        sort_by(d, c.n[d], from, n, to);
        to = from;
        from = from == items ? other : items;
    }

    if (from != items) {
        memcpy(items, other, n * sizeof(*items));
    }

    free(other);
    return true;
}
