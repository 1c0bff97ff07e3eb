#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS (sizeof(uint64_t))
#define VALUES 256

/* So few are inserted one by one. */
#define FEW 24


static unsigned
digit_of(uint64_t key, size_t digit)
{
    return (unsigned) (key >> 8 * digit) & (VALUES - 1);
}


/* The bits in which some keys differ. */
static uint64_t
differences(const sym_sort_item_t *items, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 1; i < n; i++) {
        bits |= items[i].key ^ items[0].key;
    }

    return bits;
}


static void
sort_few(sym_sort_item_t *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const sym_sort_item_t item = items[i];
        size_t at = i;

        for (; at > 0 && items[at - 1].key > item.key; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}


/* Moves all to `to`, by one byte of their keys. */
static void
sort_by(size_t digit, const sym_sort_item_t *from, size_t n,
        sym_sort_item_t *to)
{
    size_t next[VALUES] = { 0 }, at = 0;

    for (size_t i = 0; i < n; i++) {
        next[digit_of(from[i].key, digit)]++;
    }

    for (size_t v = 0; v < VALUES; v++) {
        const size_t count = next[v];

        next[v] = at;
        at += count;
    }

    for (size_t i = 0; i < n; i++) {
        to[next[digit_of(from[i].key, digit)]++] = from[i];
    }
}


bool
sym_sort(sym_sort_item_t *items, size_t n)
{
    sym_sort_item_t *other, *from = items, *to;
    uint64_t bits;

    if (n <= FEW) {
        sort_few(items, n);
        return true;
    }

    other = malloc(n * sizeof(*other));
    if (other == NULL) {
        return false;
    }

    to = other;
    bits = differences(items, n);

    for (size_t d = 0; d < DIGITS; d++) {
        /* a byte that all have in common, as most high ones of addresses */
        if (digit_of(bits, d) == 0) {
            continue;
        }

        sort_by(d, from, n, to);
        to = from;
        from = from == items ? other : items;
    }

    if (from != items) {
        memcpy(items, other, n * sizeof(*items));
    }

    free(other);
    return true;
}
