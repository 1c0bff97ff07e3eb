/* memory_extents.h - a sink and a source of extents, for tests. */
#ifndef SYM_UNIT_MEMORY_EXTENTS_H
#define SYM_UNIT_MEMORY_EXTENTS_H

#include <stdlib.h>

#include "artifacts/symcache/read/reader.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    uint8_t *data;
    size_t len;
} memory_extent_t;

typedef struct {
    memory_extent_t *extents;
    uint32_t n;
    size_t largest;
} memory_extents_t;

__attribute__((unused)) static sym_status_t
memory_put(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    memory_extents_t *m = ctx;
    uint8_t *copy = malloc(len == 0 ? 1 : len);

    if (number >= m->n) {
        memory_extent_t *grown =
            realloc(m->extents, (number + 1) * sizeof(*grown));

        if (grown == NULL) {
            free(copy);
            return sym_fail(err, SYM_NOMEM, "test sink");
        }
        memset(grown + m->n, 0, (number + 1 - m->n) * sizeof(*grown));
        m->extents = grown;
        m->n = number + 1;
    }

    if (copy == NULL) {
        return sym_fail(err, SYM_NOMEM, "test sink");
    }

    memcpy(copy, data, len);
    free(m->extents[number].data);
    m->extents[number] = (memory_extent_t){ copy, len };
    m->largest = len > m->largest ? len : m->largest;
    return SYM_OK;
}


__attribute__((unused)) static sym_status_t
memory_get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    memory_extents_t *m = ctx;

    if (number >= m->n || m->extents[number].data == NULL) {
        return SYM_NOT_FOUND;
    }

    *data = m->extents[number].data;
    *len = m->extents[number].len;
    return SYM_OK;
}


__attribute__((unused)) static void
memory_free(memory_extents_t *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        free(m->extents[i].data);
    }
    free(m->extents);
    *m = (memory_extents_t){ 0 };
}

#endif
