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


size_t
sym_form_value(sym_str_t query, sym_str_t name, char *out, size_t size)
{
    size_t at = 0;

    while (at < query.len) {
        const char *end = memchr(query.data + at, '&', query.len - at);
        size_t len =
            (end != NULL ? (size_t) (end - query.data) : query.len) - at;
        sym_str_t pair = sym_str(query.data + at, len);
        size_t from = name.len + 1, n = 0;

        at += len + 1;
        if (pair.len <= name.len || pair.data[name.len] != '='
            || !sym_str_starts(pair, name))
        {
            continue;
        }

        while (from < pair.len && n < size) {
            int byte = sym_form_byte(pair, &from);

            if (byte >= 0) {
                out[n++] = (char) byte;
            }
        }

        return from == pair.len ? n : 0;
    }

    return 0;
}
