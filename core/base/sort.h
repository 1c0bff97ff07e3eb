/*
 * sort.h - brings many things into the order of a number that each has.
 *
 * What is large stays where it is: only its number and its place are moved.
 * Takes a few passes over them however they lie, where qsort(3) compares each
 * with some twenty others through a function.
 */
#ifndef SYM_BASE_SORT_H
#define SYM_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    uint32_t at; /* the caller's: which thing it is */
} sym_sort_item_t;

/* By key; those of equal keys stay in the order in which they are.  False: out
 * of memory, and nothing is sorted. */
bool sym_sort(sym_sort_item_t *items, size_t n);

/* The same with memory of the caller's for n more: for those who sort often, in
 * several threads, which would wait for each other in malloc(). */
void sym_sort_with(sym_sort_item_t *items, size_t n, sym_sort_item_t *spare);

/* The first of sorted items whose key is not less; n: all are less. */
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
