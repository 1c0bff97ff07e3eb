/*
 * sort.h - sorts many items by a number.
 *
 * Large items are not moved: only the number and the item's index are.  This
 * radix sort needs a few passes, where qsort(3) compares each item with about
 * twenty others through a function.
 */
#ifndef SYM_BASE_SORT_H
#define SYM_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    uint32_t at; /* the caller's index of the item */
} sym_sort_item_t;

/* Stable sort by key.  False: out of memory, and the items are not sorted. */
bool sym_sort(sym_sort_item_t *items, size_t n);

/* Same with the caller's memory for n more items, for threads that sort often
 * and would wait for each other in malloc(). */
void sym_sort_with(sym_sort_item_t *items, size_t n, sym_sort_item_t *spare);

/* Index of the first sorted item with a key of at least this value; n: all keys
 * are less. */
static inline size_t
sym_sort_find(const sym_sort_item_t *items, size_t n, uint64_t key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}

#endif
