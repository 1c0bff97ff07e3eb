#include "base/form.h"

#include <string.h>

#include "base/hex.h"


int
sym_form_byte(sym_str_t s, size_t *at)
{
    char c = s.data[*at];
    int byte;

    if (c == '%') {
        byte = sym_hex_percent(s, *at);
        *at += byte >= 0 ? 3 : 1;
        return byte;
    }

    (*at)++;
    return c == '+' ? ' ' : (uint8_t) c;
}


/* Moves the first parameter of the query to *pair.  False: the query is empty. */
static bool
next_pair(sym_str_t *query, sym_str_t *pair)
{
    if (query->len == 0) {
        return false;
    }

    *pair = sym_str_cut(query, '&');
    return true;
}


/* Whether the parameter has this name. */
static bool
is_named(sym_str_t pair, sym_str_t name)
{
    return sym_str_starts(pair, name)
           && (pair.len == name.len || pair.data[name.len] == '=');
}


bool
sym_form_has(sym_str_t query, sym_str_t name)
{
    sym_str_t pair;

    while (next_pair(&query, &pair)) {
        if (is_named(pair, name)) {
            return true;
        }
    }

    return false;
}


sym_str_t
sym_form_raw(sym_str_t query, sym_str_t name)
{
    sym_str_t pair;

    while (next_pair(&query, &pair)) {
        if (pair.len > name.len && is_named(pair, name)) {
            return sym_str(pair.data + name.len + 1, pair.len - name.len - 1);
        }
    }

    return sym_str(NULL, 0);
}


size_t
sym_form_value(sym_str_t query, sym_str_t name, char *out, size_t size)
{
    sym_str_t value = sym_form_raw(query, name);
    size_t from = 0, n = 0;

    while (from < value.len && n < size) {
        int byte = sym_form_byte(value, &from);

        if (byte >= 0) {
            out[n++] = (char) byte;
        }
    }

    return from == value.len ? n : 0;
}
