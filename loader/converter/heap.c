#include "converter/heap.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

/* Enough for small blocks, which are what threads ask for all the time; at most a
 * share of the memory that the process may have. */
#define RESERVE_MAX ((uint64_t) 32 << 20)
#define SHARE 8

/* When the reserve is used up, the heap grows by so much, and larger blocks are
 * mapped: to let them grow, their pages are moved, not copied. */
#define STEP (1 << 20)

/* More than is left of the first step of a heap. */
#define FIRST_BLOCK ((size_t) 256 << 10)

void
heap_reserve(uint64_t memory_bytes)
{
    const uint64_t share = memory_bytes / SHARE;
    const int reserve = (int) (share < RESERVE_MAX ? share : RESERVE_MAX);
    void *volatile block; /* or the compiler leaves both calls out */

    /* A heap for each thread would take 64 MiB of the address space, which is
     * capped. */
    (void) mallopt(M_ARENA_MAX, 1);
    (void) mallopt(M_MMAP_THRESHOLD, STEP);
    (void) mallopt(M_TRIM_THRESHOLD, 2 * reserve); /* what is free stays */

    /* A thread that grows the heap lets the others wait, and Linux gives large
     * pages, where it is set to, only to what has addresses for all of one. */
    (void) mallopt(M_TOP_PAD, reserve);
    block = malloc(FIRST_BLOCK);
    free(block);
    (void) mallopt(M_TOP_PAD, STEP);
}
