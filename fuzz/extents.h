/*
 * extents.h - the input of a target as an artifact: cut into extents, a u16
 * length in little endian before each.
 */
#ifndef FUZZ_EXTENTS_H
#define FUZZ_EXTENTS_H

#include <stdlib.h>
#include <string.h>

#include "artifacts/extents.h"
#include "check.h"

#define EXTENTS_MAX 8

typedef struct {
    const uint8_t *data[EXTENTS_MAX];
    size_t len[EXTENTS_MAX];
    uint32_t n;
} input_t;

/* sym_extent_get_pt over an input_t. */
static inline sym_status_t
get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const input_t *in = ctx;

    if (number >= in->n) {
        return SYM_NOT_FOUND;
    }

    *data = in->data[number];
    *len = in->len[number];
    return SYM_OK;
}


/* sym_extent_put_pt into an input_t; its copies must be freed. */
static inline sym_status_t
take_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
            sym_error_t *err)
{
    input_t *made = ctx;
    uint8_t *copy = malloc(len);

    (void) err;
    check(number < EXTENTS_MAX && copy != NULL && len <= SYM_EXTENT_MAX);
    memcpy(copy, data, len);
    made->data[number] = copy;
    made->len[number] = len;
    made->n = number < made->n ? made->n : number + 1;
    return SYM_OK;
}


static inline void
drop_extents(input_t *made)
{
    for (uint32_t i = 0; i < made->n; i++) {
        free((void *) (uintptr_t) made->data[i]);
    }
}


static inline input_t
cut(const uint8_t *data, size_t size)
{
    input_t in = { .n = 0 };

    while (size > 2 && in.n < EXTENTS_MAX) {
        size_t len = (size_t) data[0] | (size_t) data[1] << 8;

        data += 2;
        size -= 2;
        len = len < size ? len : size;
        in.data[in.n] = data;
        in.len[in.n++] = len;
        data += len;
        size -= len;
    }

    return in;
}

#endif
