/*
 * sort.h - sorts many items by a number.
 *
 * Large items stay where they are: only the number and the item's index are
 * moved.  It takes a few passes for any order, where qsort(3) compares each
 * item with some twenty others through a function.
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

/* Stable sort by key.  False: out of memory, and nothing is sorted. */
bool sym_sort(sym_sort_item_t *items, size_t n);

/* Sorts with the caller's memory for n more items: for threads that sort often
 * and would wait for each other in malloc(). */
void sym_sort_with(sym_sort_item_t *items, size_t n, sym_sort_item_t *spare);

/* Index of the first sorted item whose key is not less; n: all are less. */
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
