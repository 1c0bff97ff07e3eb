#include "formats/sourcemap/functions.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "formats/sourcemap/mappings.h"

/* Column, name, line: each is a difference to the one before (metro-source-map
 * writes them in this order).  The column is reset after `;`. */
#define COLUMN 0
#define NAME 1
#define LINE 2

static sym_status_t
add_start(sym_functions_t *f, const sym_function_start_t *start,
          sym_error_t *err)
{
    if (!SYM_ARRAY_ROOM(f->starts, f->n_starts + 1, f->starts_size)) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    f->starts[f->n_starts++] = *start;
    return SYM_OK;
}


/* A damaged list of mappings counts as an empty one. */
static sym_status_t
read_starts(sym_functions_t *f, sym_str_t mappings, sym_function_map_t *map,
            sym_error_t *err)
{
    const char *pos = mappings.data, *end = pos + mappings.len;
    sym_function_start_t start = { .line = 1 };

    map->first_start = f->n_starts;

    for (; pos < end; pos += pos < end) {
        int64_t fields[SYM_VLQ_FIELDS_MAX] = { 0 };
        const char *from = pos;
        int n = sym_vlq_read(&pos, end, fields);

        if (n < 0) {
            f->n_starts = map->first_start;
            break;
        }

        if (pos != from) {
            start.column += (uint32_t) (uint64_t) fields[COLUMN];
            start.name += n > NAME ? (uint32_t) (uint64_t) fields[NAME] : 0;
            start.line += n > LINE ? (uint32_t) (uint64_t) fields[LINE] : 0;
            if (add_start(f, &start, err) != SYM_OK) {
                return err->status;
            }
        }

        if (pos < end && *pos == ';') {
            start.column = 0;
        }
    }

    map->n_starts = f->n_starts - map->first_start;
    return SYM_OK;
}


/* {"names": [..], "mappings": ".."} */
static void
read_function_map(sym_map_json_t *j, sym_functions_t *f,
                  sym_function_map_t *map)
{
    sym_map_strings_t names = { 0 };
    sym_raw_string_t key, mappings = { .text = SYM_STR("") };
    size_t n = 0;

    if (!sym_map_take(j, '{')) {
        (void) sym_map_fail(j, SYM_MALFORMED, "a function map is no object");
        return;
    }

    while (sym_map_next(j, '}', &n, &key)) {
        if (sym_str_eq(key.text, SYM_STR("names"))) {
            sym_map_strings(j, false, &names);
        } else if (sym_str_eq(key.text, SYM_STR("mappings"))) {
            mappings = sym_map_string(j);
        } else {
            sym_map_skip(j);
        }
    }

    if (j->err->status == SYM_OK
        && !SYM_ARRAY_ROOM(f->names.items, f->names.n + names.n, f->names.size))
    {
        (void) sym_map_fail(j, SYM_NOMEM, NULL);
    }

    if (j->err->status == SYM_OK && mappings.text.data != NULL) {
        map->first_name = (uint32_t) f->names.n;
        map->n_names = (uint32_t) names.n;
        if (names.n != 0) {
            memcpy(f->names.items + f->names.n, names.items,
                   names.n * sizeof(*names.items));
        }
        f->names.n += names.n;
        (void) read_starts(f, mappings.text, map, j->err);
    }

    free(names.items);
}


/* Null, or a list of which only the first item is used. */
static void
read_source(sym_map_json_t *j, sym_functions_t *f)
{
    sym_function_map_t map = { 0 };
    size_t n = 0;

    if (!sym_map_null(j)) {
        if (!sym_map_take(j, '[')) {
            (void) sym_map_fail(j, SYM_MALFORMED,
                                "not a list of function maps");
            return;
        }

        while (sym_map_next(j, ']', &n, NULL)) {
            if (n == 1) {
                read_function_map(j, f, &map);
            } else {
                sym_map_skip(j);
            }
        }
    }

    if (!SYM_ARRAY_ROOM(f->maps, f->n_maps + 1, f->maps_size)) {
        (void) sym_map_fail(j, SYM_NOMEM, NULL);
        return;
    }

    f->maps[f->n_maps++] = map;
}


sym_status_t
sym_functions_read(sym_functions_t *f, sym_str_t list, sym_error_t *err)
{
    sym_map_json_t j = { list.data, list.data, list.data + list.len, err };
    size_t n = 0;

    *f = (sym_functions_t){ .maps = NULL };
    if (!sym_map_take(&j, '[')) {
        return sym_map_fail(&j, SYM_MALFORMED, "x_facebook_sources is no list");
    }

    while (sym_map_next(&j, ']', &n, NULL)) {
        read_source(&j, f);
    }

    return err->status;
}


void
sym_functions_free(sym_functions_t *f)
{
    free(f->maps);
    free(f->starts);
    free(f->names.items);
}


uint32_t
sym_functions_find(const sym_functions_t *f, uint32_t source, uint32_t line,
                   uint32_t column)
{
    const sym_function_map_t *map;
    const sym_function_start_t *starts;
    size_t low = 0, high;

    if (source >= f->n_maps || f->maps[source].n_starts == 0) {
        return SYM_SOURCEMAP_NONE;
    }

    map = &f->maps[source];
    starts = f->starts + map->first_start;
    high = map->n_starts;
    line++; /* metro's lines count from 1 */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const sym_function_start_t *s = &starts[middle];

        if (s->line < line || (s->line == line && s->column <= column)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low != 0 && starts[low - 1].name < map->n_names
               ? map->first_name + starts[low - 1].name
               : SYM_SOURCEMAP_NONE;
}
