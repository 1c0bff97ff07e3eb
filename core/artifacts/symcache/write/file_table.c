#include "artifacts/symcache/write/file_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

void
sym_file_table_free(sym_file_table_t *t)
{
    free(t->numbers);
    free(t->ids);
    *t = (sym_file_table_t){ 0 };
}


void
sym_file_table_end(sym_file_table_t *t)
{
    free(t->numbers);
    t->numbers = NULL;
    t->numbers_size = 0;
}


static bool
has_number_room(sym_file_table_t *t, uint32_t id)
{
    size_t before = t->numbers_size;
    uint32_t *numbers = sym_array_grow(t->numbers, &t->numbers_size,
                                       (size_t) id + 1, sizeof(*numbers));

    if (numbers == NULL) {
        return false;
    }

    t->numbers = numbers;
    memset(numbers + before, 0, (t->numbers_size - before) * sizeof(*numbers));
    return true;
}


uint32_t
sym_file_table_add(sym_file_table_t *t, uint32_t id, size_t n_ids)
{
    uint32_t *ids;

    if (id >= n_ids) {
        return 0;
    }

    ids = sym_array_grow(t->ids, &t->ids_size, t->n + 1, sizeof(*ids));
    t->ids = ids != NULL ? ids : t->ids;
    if (ids == NULL || !has_number_room(t, id)) {
        t->failed = true;
        return 0;
    }

    t->ids[t->n++] = id;
    t->numbers[id] = (uint32_t) t->n;
    return t->numbers[id];
}
