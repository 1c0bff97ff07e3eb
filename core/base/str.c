#include "base/str.h"

#define REPLACEMENT 0xfffdu

uint32_t
sym_utf8_next(sym_str_t s, size_t *pos)
{
    const uint8_t *p = (const uint8_t *) s.data + *pos;
    size_t left = s.len - *pos, need;
    uint32_t c = p[0], low;

    *pos += 1;

    if (c < 0x80) {
        return c;
    }

    /* RFC 3629, section 4: the first byte determines the length and the lowest
     * value */
    if (c >= 0xc2 && c <= 0xdf) {
        need = 1, low = 0x80, c &= 0x1f;
    } else if (c >= 0xe0 && c <= 0xef) {
        need = 2, low = 0x800, c &= 0x0f;
    } else if (c >= 0xf0 && c <= 0xf4) {
        need = 3, low = 0x10000, c &= 0x07;
    } else {
        return REPLACEMENT;
    }

    if (left <= need) {
        return REPLACEMENT;
    }

    for (size_t i = 1; i <= need; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return REPLACEMENT;
        }
        c = c << 6 | (p[i] & 0x3f);
    }

    if (c < low || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        return REPLACEMENT;
    }

    *pos += need;
    return c;
}


static uint64_t
word_at(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    return word;
}


/* For at least eight bytes; the last bytes may be checked twice. */
static bool
is_ascii(sym_str_t s)
{
    uint64_t all = word_at(s.data + s.len - 8);

    for (size_t pos = 0; pos + 8 < s.len; pos += 8) {
        all |= word_at(s.data + pos);
    }

    return (all & 0x8080808080808080u) == 0;
}


bool
sym_utf8_valid(sym_str_t s)
{
    size_t pos = 0;

    /* most texts are ASCII only */
    if (s.len >= 8 && is_ascii(s)) {
        return true;
    }

    while (pos < s.len) {
        while (s.len - pos >= 8) {
            if (word_at(s.data + pos) & 0x8080808080808080u) {
                break;
            }
            pos += 8;
        }

        if (pos == s.len) {
            return true;
        }

        /* U+FFFD takes three bytes, but only the one invalid byte is skipped */
        size_t before = pos;
        if (sym_utf8_next(s, &pos) == REPLACEMENT && pos - before != 3) {
            return false;
        }
    }

    return true;
}


/* Whether a byte may be the second one of a character (Unicode 15, table
 * 3-7). */
static bool
may_be_second(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return (second & 0xc0) == 0x80;
    }
}


size_t
sym_utf8_character(const uint8_t *s, size_t left, bool *is_valid)
{
    size_t len = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    size_t n = 1;

    while (n < len && n < left
           && (n == 1 ? may_be_second(s[0], s[1]) : (s[n] & 0xc0) == 0x80))
    {
        n++;
    }

    *is_valid = n == len;
    return n;
}


bool
sym_utf8_is_space(uint32_t c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0d) || c == 0x85 || c == 0xa0
           || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028
           || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
