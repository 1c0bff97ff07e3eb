#include "formats/sourcemap/json.h"

#include <stdlib.h>

#include "base/buffer.h"

static void
skip_space(sym_map_json_t *j)
{
    j->pos = sym_raw_space(j->pos, j->end);
}


sym_status_t
sym_map_fail(sym_map_json_t *j, sym_status_t status, const char *what)
{
    if (j->err->status == SYM_OK) {
        j->err->section = "source map";
        j->err->offset = (uint64_t) (j->pos - j->start);
    }

    j->pos = j->end;
    return sym_fail(j->err, status, what);
}


bool
sym_map_take(sym_map_json_t *j, char c)
{
    skip_space(j);
    if (j->pos == j->end || *j->pos != c) {
        return false;
    }

    j->pos++;
    return true;
}


bool
sym_map_null(sym_map_json_t *j)
{
    skip_space(j);
    if (!sym_str_starts(sym_str(j->pos, (size_t) (j->end - j->pos)),
                        SYM_STR("null")))
    {
        return false;
    }

    j->pos += 4;
    return true;
}


static sym_raw_string_t
take_string(sym_map_json_t *j, const char *what)
{
    sym_raw_string_t s = { 0 };
    const char *end;

    skip_space(j);
    end = sym_raw_string(j->pos, j->end, &s);
    if (end == NULL) {
        (void) sym_map_fail(j, SYM_MALFORMED, what);
        return (sym_raw_string_t){ .text = SYM_STR("") };
    }

    j->pos = end;
    return s;
}


bool
sym_map_next(sym_map_json_t *j, char close, size_t *n, sym_raw_string_t *key)
{
    if (sym_map_take(j, close) || j->err->status != SYM_OK) {
        return false;
    }

    if (*n != 0 && !sym_map_take(j, ',')) {
        (void) sym_map_fail(j, SYM_MALFORMED, "the JSON is damaged");
        return false;
    }

    (*n)++;
    if (key != NULL) {
        *key = take_string(j, "the JSON is damaged: no key");
        if (!sym_map_take(j, ':')) {
            (void) sym_map_fail(j, SYM_MALFORMED, "the JSON is damaged");
        }
    }

    return j->err->status == SYM_OK;
}


sym_raw_string_t
sym_map_string(sym_map_json_t *j)
{
    sym_raw_string_t none = { 0 };

    return sym_map_null(j) ? none : take_string(j, "not a string");
}


uint32_t
sym_map_number(sym_map_json_t *j)
{
    const char *pos;
    uint64_t number = 0;

    skip_space(j);
    for (pos = j->pos; pos < j->end && *pos >= '0' && *pos <= '9'; pos++) {
        number = 10 * number + (uint64_t) (*pos - '0');
        if (number > UINT32_MAX) {
            (void) sym_map_fail(j, SYM_MALFORMED, "a number is too large");
            return 0;
        }
    }

    if (pos == j->pos) {
        (void) sym_map_fail(j, SYM_MALFORMED, "not a number");
        return 0;
    }

    j->pos = pos;
    return (uint32_t) number;
}


void
sym_map_skip(sym_map_json_t *j)
{
    const char *end = sym_raw_value(j->pos, j->end);

    if (end == NULL) {
        (void) sym_map_fail(j, SYM_MALFORMED,
                            "the JSON is damaged, or a member is too large");
        return;
    }

    j->pos = end;
}


static sym_raw_string_t
take_any(sym_map_json_t *j)
{
    const char *start;

    skip_space(j);
    if (j->pos < j->end && *j->pos == '"') {
        return take_string(j, "not a string");
    }

    start = j->pos;
    sym_map_skip(j);
    return (sym_raw_string_t){
        .text = start < j->end
                        && (*start == '-' || (*start >= '0' && *start <= '9'))
                    ? sym_str(start, (size_t) (j->pos - start))
                    : SYM_STR(""),
    };
}


/* Frees memory that a list does not need.  A map may have 100,000 sections with
 * three short lists each. */
static void
give_back(sym_map_strings_t *list)
{
    void *smaller;

    if (list->n == 0 || list->size / 2 < list->n) {
        return;
    }

    smaller = realloc(list->items, list->n * sizeof(*list->items));
    if (smaller != NULL) {
        list->items = smaller;
        list->size = list->n;
    }
}


void
sym_map_strings(sym_map_json_t *j, bool any_value, sym_map_strings_t *list)
{
    size_t n = 0;

    list->n = 0;
    if (sym_map_null(j)) {
        return;
    }

    if (!sym_map_take(j, '[')) {
        (void) sym_map_fail(j, SYM_MALFORMED, "not a list");
        return;
    }

    while (sym_map_next(j, ']', &n, NULL)) {
        if (!SYM_ARRAY_ROOM(list->items, list->n + 1, list->size)) {
            (void) sym_map_fail(j, SYM_NOMEM, NULL);
            return;
        }

        list->items[list->n++] = any_value ? take_any(j) : sym_map_string(j);
    }

    give_back(list);
}
