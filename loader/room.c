#include "room.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t) 2 << 20)

static void *
take(size_t bytes)
{
    size_t rounded = (bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    void *p;

    if (bytes < LARGE_PAGE || rounded < bytes) {
        return malloc(bytes);
    }

    p = aligned_alloc(LARGE_PAGE, rounded);

    if (p != NULL) {
        (void) madvise(p, rounded, MADV_HUGEPAGE);
    }

    return p;
}


void *
room_grow(void *old, size_t used, size_t bytes)
{
    void *p = take(bytes);

    if (p != NULL && used != 0) {
        memcpy(p, old, used);
    }

    if (p != NULL) {
        free(old);
    }

    return p;
}
