#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of key bits for one pass. */
#define DIGIT_MAX 8u

/* Up to this number, items are sorted by insertion. */
#define FEW 24


/* Mask of the bits in which keys differ. */
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


/* Moves all items to `to`, ordered by the digit at `bit` of their keys. */
static void
sort_by(unsigned bit, unsigned digit, const sym_sort_item_t *from, size_t n,
        sym_sort_item_t *to)
{
    const size_t values = (size_t) 1 << digit;
    size_t next[1 << DIGIT_MAX], at = 0;

    memset(next, 0, values * sizeof(*next));
    for (size_t i = 0; i < n; i++) {
        next[from[i].key >> bit & (values - 1)]++;
    }

    for (size_t v = 0; v < values; v++) {
        const size_t count = next[v];

        next[v] = at;
        at += count;
    }

    for (size_t i = 0; i < n; i++) {
        to[next[from[i].key >> bit & (values - 1)]++] = from[i];
    }
}


void
sym_sort_with(sym_sort_item_t *items, size_t n, sym_sort_item_t *spare)
{
    sym_sort_item_t *from = items, *to = spare;
    uint64_t bits;
    unsigned width, passes, digit;

    if (n <= FEW) {
        sort_few(items, n);
        return;
    }

    bits = differences(items, n);
    width = bits != 0 ? 64 - (unsigned) __builtin_clzll(bits) : 0;
    passes = (width + DIGIT_MAX - 1) / DIGIT_MAX;
    digit = passes != 0 ? (width + passes - 1) / passes : 0;

    for (unsigned bit = 0; bit < width; bit += digit) {
        /* all keys have the same digit */
        if ((bits >> bit & (((uint64_t) 1 << digit) - 1)) == 0) {
            continue;
        }

        sort_by(bit, digit, from, n, to);
        to = from;
        from = from == items ? spare : items;
    }

    if (from != items) {
        memcpy(items, spare, n * sizeof(*items));
    }
}


bool
sym_sort(sym_sort_item_t *items, size_t n)
{
    sym_sort_item_t *spare = n > FEW ? malloc(n * sizeof(*spare)) : NULL;

    if (n > FEW && spare == NULL) {
        return false;
    }

    sym_sort_with(items, n, spare);
    free(spare);
    return true;
}
