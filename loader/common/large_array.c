#include "common/large_array.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

void *
large_array_grow(void *old, size_t used, size_t bytes)
{
    void *p = sym_pages_alloc(bytes);

    if (p != NULL && used != 0) {
        memcpy(p, old, used);
    }

    if (p != NULL) {
        free(old);
    }

    return p;
}
