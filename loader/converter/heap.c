#include "converter/heap.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

/* Enough for small blocks, which threads allocate all the time; at most a share
 * of the process's memory limit. */
#define RESERVE_MAX ((uint64_t) 32 << 20)
#define SHARE 8

/* After the reserve is used up, the heap grows in steps of this size.  Larger
 * blocks are mapped, because growing them moves pages instead of copying. */
#define STEP (1 << 20)

/* Larger than the rest of the first step of a heap. */
#define FIRST_BLOCK ((size_t) 256 << 10)

void
heap_reserve(uint64_t memory_bytes)
{
    const uint64_t share = memory_bytes / SHARE;
    const int reserve = (int) (share < RESERVE_MAX ? share : RESERVE_MAX);
    void *volatile block; /* volatile: otherwise the compiler removes both
                             calls */

    /* One heap for all threads: one for each would take 64 MiB of the address
     * space, which is limited. */
    (void) mallopt(M_ARENA_MAX, 1);
    (void) mallopt(M_MMAP_THRESHOLD, STEP);
    (void) mallopt(M_TRIM_THRESHOLD, 2 * reserve); /* keeps freed memory */

    /* Grows the heap before threads start.  A thread that grows it later makes
     * the others wait, and Linux uses large pages, if enabled, only for
     * mappings that contain complete ones. */
    (void) mallopt(M_TOP_PAD, reserve);
    block = malloc(FIRST_BLOCK);
    free(block);
    (void) mallopt(M_TOP_PAD, STEP);
}
