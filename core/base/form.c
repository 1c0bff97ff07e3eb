#include "base/form.h"

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
