#include "base/base64.h"

#include <stdint.h>

static int
digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}


bool
sym_base64_read(sym_str_t text, char *out, size_t *len)
{
    size_t n = text.len, bits = 0;
    uint32_t value = 0;

    *len = 0;
    if (n % 4 != 0) {
        return false;
    }

    for (int i = 0; i < 2 && n > 0 && text.data[n - 1] == '='; i++) {
        n--;
    }

    for (size_t i = 0; i < n; i++) {
        int d = digit(text.data[i]);

        if (d < 0) {
            return false;
        }

        value = value << 6 | (uint32_t) d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[(*len)++] = (char) (value >> bits & 0xff);
        }
    }

    return (value & ((1u << bits) - 1)) == 0;
}
