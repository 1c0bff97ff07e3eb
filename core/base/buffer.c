#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

void *
sym_array_grow(void *items, size_t *capacity, size_t need, size_t size)
{
    size_t want = *capacity < 64 ? 64 : *capacity;
    void *grown;

    if (need <= *capacity && items != NULL) {
        return items;
    }

    while (want < need) {
        /* grow by half: doubling would waste up to half of the peak */
        want += want / 2;
    }

    if (want > SIZE_MAX / 2 / size) {
        return NULL;
    }

    grown = realloc(items, want * size);
    if (grown != NULL) {
        *capacity = want;
    }

    return grown;
}


bool
sym_buffer_room(sym_buffer_t *b, size_t more)
{
    uint8_t *grown;

    if (b->failed || more > SIZE_MAX / 4 - b->len) {
        b->failed = true;
        return false;
    }

    grown = sym_array_grow(b->data, &b->size, b->len + more, 1);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }

    b->data = grown;
    return true;
}


void
sym_buffer_put(sym_buffer_t *b, const void *data, size_t len)
{
    if (len != 0 && sym_buffer_room(b, len)) {
        memcpy(b->data + b->len, data, len);
        b->len += len;
    }
}


void
sym_buffer_free(sym_buffer_t *b)
{
    free(b->data);
    *b = (sym_buffer_t){ 0 };
}
