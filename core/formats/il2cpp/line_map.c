#include "formats/il2cpp/line_map.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "json/load.h"

/* sentry-cli adds this key, with the debug id, so that the maps of several
 * processors differ. */
#define ID_KEY "__debug-id__"

typedef struct {
    sym_writer_t *writer;
    sym_moves_t *moves;
    size_t size; /* allocated moves */
    sym_error_t *err;
} reader_t;


bool
sym_il2cpp_is(const sym_writer_t *w)
{
    uint32_t id;

    return sym_writer_find(w, SYM_STR("il2cpp_init"), &id);
}


static sym_str_t
key_of(void *at)
{
    return sym_str(json_object_iter_key(at), json_object_iter_key_len(at));
}


static sym_status_t
add(reader_t *r, sym_move_t move)
{
    sym_moves_t *m = r->moves;
    sym_move_t *list =
        sym_array_grow(m->list, &r->size, m->n + 1, sizeof(*list));

    if (list == NULL) {
        return sym_fail(r->err, SYM_NOMEM, "no memory for a map of lines");
    }

    m->list = list;
    m->list[m->n++] = move;
    return SYM_OK;
}


/* is_known: the file belongs to the module, and *move contains it. */
static sym_status_t
read_lines(reader_t *r, json_t *lines, bool is_known, sym_move_t move)
{
    for (void *at = json_object_iter(lines); at != NULL;
         at = json_object_iter_next(lines, at))
    {
        json_t *to = json_object_iter_value(at);
        uint64_t from;

        if (!sym_dec_read(key_of(at), &from) || from > UINT32_MAX
            || !json_is_integer(to) || json_integer_value(to) < 0
            || json_integer_value(to) > UINT32_MAX)
        {
            return sym_fail(r->err, SYM_MALFORMED,
                            "a line is not a 32-bit number");
        }

        move.line = (uint32_t) from;
        move.to_line = (uint32_t) json_integer_value(to);
        if (is_known && add(r, move) != SYM_OK) {
            return r->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_file(reader_t *r, sym_str_t name, json_t *file)
{
    sym_move_t move = { 0 };
    bool is_known = sym_writer_find(r->writer, name, &move.file);

    for (void *at = json_object_iter(file); at != NULL;
         at = json_object_iter_next(file, at))
    {
        sym_status_t rc =
            !is_known ? SYM_OK
                      : sym_writer_string(r->writer, key_of(at), &move.to_file);

        if (rc != SYM_OK) {
            return sym_fail(r->err, rc, "no room for the names of C# files");
        }

        if (read_lines(r, json_object_iter_value(at), is_known, move) != SYM_OK)
        {
            return r->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_map(reader_t *r, json_t *map)
{
    if (!json_is_object(map)) {
        return sym_fail(r->err, SYM_MALFORMED, "the map is not an object");
    }

    for (void *at = json_object_iter(map); at != NULL;
         at = json_object_iter_next(map, at))
    {
        if (!sym_str_eq(key_of(at), SYM_STR(ID_KEY))
            && read_file(r, key_of(at), json_object_iter_value(at)) != SYM_OK)
        {
            return r->err->status;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_il2cpp_read(sym_moves_t *moves, sym_writer_t *w, sym_str_t json,
                sym_error_t *err)
{
    reader_t r = { .writer = w, .moves = moves, .err = err };
    sym_json_t tree;
    sym_status_t rc = sym_json_load(&tree, json, SYM_JSON_CONVERTER_MAX, 0,
                                    "the map is not JSON", err);

    *moves = (sym_moves_t){ 0 };
    rc = rc != SYM_OK ? rc : read_map(&r, tree.root);
    sym_json_drop(&tree);

    if (rc != SYM_OK) {
        sym_moves_free(moves);
    }

    sym_moves_sort(moves);
    return rc;
}
