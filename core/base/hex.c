#include "base/hex.h"

int
sym_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c = (char) (c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


bool
sym_hex_read(sym_str_t s, uint64_t *value)
{
    uint64_t v = 0;

    if (s.len == 0) {
        return false;
    }

    for (size_t i = 0; i < s.len; i++) {
        int digit = sym_hex_digit(s.data[i]);

        if (digit < 0 || v >> 60 != 0) {
            return false;
        }
        v = v << 4 | (uint64_t) digit;
    }

    *value = v;
    return true;
}


bool
sym_dec_read(sym_str_t s, uint64_t *value)
{
    uint64_t v = 0;

    if (s.len == 0) {
        return false;
    }

    for (size_t i = 0; i < s.len; i++) {
        uint64_t digit = (uint64_t) (uint8_t) s.data[i] - '0';

        if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }

    *value = v;
    return true;
}


char *
sym_hex_write(char *p, uint64_t value)
{
    int shift = value == 0 ? 0 : (63 - __builtin_clzll(value)) & ~3;

    for (; shift >= 0; shift -= 4) {
        *p++ = "0123456789abcdef"[value >> shift & 15];
    }

    return p;
}


char *
sym_dec_write(char *p, uint64_t value)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    } while (value != 0);

    while (n > 0) {
        *p++ = digits[--n];
    }

    return p;
}
