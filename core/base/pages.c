#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE ((uintptr_t) 2 << 20)
#define LINE 64

void
sym_pages_large(void *start, size_t bytes)
{
    uintptr_t from = (uintptr_t) start;
    uintptr_t first = (from + LARGE_PAGE - 1) & -LARGE_PAGE;
    uintptr_t end = (from + bytes) & -LARGE_PAGE;

    if (first < end) {
        (void) madvise((uint8_t *) start + (first - from), end - first,
                       MADV_HUGEPAGE);
    }
}


void *
sym_pages_alloc(size_t bytes)
{
    size_t unit = bytes < LARGE_PAGE ? LINE : LARGE_PAGE;
    size_t rounded = (bytes + unit - 1) / unit * unit;
    void *pages = rounded < bytes ? NULL : aligned_alloc(unit, rounded);

    if (pages != NULL) {
        sym_pages_large(pages, rounded);
    }

    return pages;
}
