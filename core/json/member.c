#include "json/member.h"

#include "json/raw.h"

/* Returns the text after c, which may follow white space; NULL: it is not
 * next. */
static const char *
skip(const char *p, const char *end, char c)
{
    p = p != NULL ? sym_raw_space(p, end) : end;
    return p < end && *p == c ? p + 1 : NULL;
}


sym_json_items_t
sym_json_items(sym_str_t list)
{
    sym_json_items_t items = { .p = list.data, .before = '[' };

    items.end = list.len != 0 ? list.data + list.len : list.data;
    return items;
}


bool
sym_json_next(sym_json_items_t *items, sym_str_t *item)
{
    const char *start = skip(items->p, items->end, items->before);

    start = start != NULL ? sym_raw_space(start, items->end) : NULL;
    items->before = ',';
    items->p = start != NULL ? sym_raw_value(start, items->end) : NULL;
    if (items->p == NULL) {
        return false;
    }

    *item = sym_str(start, (size_t) (items->p - start));
    return true;
}


/* Returns the end of a list that may be long; NULL: refused. */
static const char *
skip_list(const char *p, const char *end)
{
    sym_json_items_t items = sym_json_items(sym_str(p, (size_t) (end - p)));
    const char *after = skip(p, end, '[');
    sym_str_t item;

    while (sym_json_next(&items, &item)) {
        after = item.data + item.len;
    }

    return skip(after, end, ']');
}


static const char *
skip_value(const char *p, const char *end)
{
    return skip(p, end, '[') != NULL ? skip_list(p, end)
                                     : sym_raw_value(p, end);
}


sym_str_t
sym_json_member(sym_str_t object, const char *key)
{
    const char *end = object.len != 0 ? object.data + object.len : NULL;
    const char *p = skip(object.data, end, '{'), *start;
    sym_raw_string_t is;

    while (p != NULL) {
        p = sym_raw_string(sym_raw_space(p, end), end, &is);
        start = skip(p, end, ':');
        start = start != NULL ? sym_raw_space(start, end) : NULL;
        p = start != NULL ? skip_value(start, end) : NULL;
        if (p != NULL && !is.has_escapes && sym_str_eq(is.text, sym_cstr(key)))
        {
            return sym_str(start, (size_t) (p - start));
        }
        p = skip(p, end, ',');
    }

    return sym_str(NULL, 0);
}


sym_str_t
sym_json_text(sym_arena_t *arena, sym_str_t value)
{
    sym_raw_string_t string;

    return value.len != 0
                   && sym_raw_string(value.data, value.data + value.len,
                                     &string)
                          != NULL
               ? sym_raw_decode(arena, &string)
               : sym_str(NULL, 0);
}
