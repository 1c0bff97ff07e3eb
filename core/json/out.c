#include "json/out.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/hex.h"
#include "base/json_plain.h"

/* A code point above U+FFFF takes two escapes of six bytes. */
#define ESCAPE_MAX 12
#define NUMBER_MAX 20

static bool
no_more(sym_out_t *out, size_t need)
{
    (void) out;
    (void) need;
    return false;
}


sym_out_t
sym_out_fixed(char *buf, size_t size)
{
    return (sym_out_t){ .pos = buf, .end = buf + size, .more = no_more };
}


/* How a string escapes a byte. 'u': as \u00xx, unless it is part of UTF-8;
 * another letter: as \ and that letter. */
static char
escape_of(uint8_t c)
{
    switch (c) {
    case '"':
    case '\\':
        return (char) c;
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    default:
        return 'u';
    }
}


static char *
write_unit(char *p, uint32_t unit)
{
    *p++ = '\\';
    *p++ = 'u';

    for (int shift = 12; shift >= 0; shift -= 4) {
        *p++ = "0123456789abcdef"[unit >> shift & 15];
    }

    return p;
}


static char *
write_code_point(char *p, uint32_t c)
{
    if (c < 0x10000) {
        return write_unit(p, c);
    }

    /* surrogate pair (RFC 8259, section 7) */
    c -= 0x10000;
    p = write_unit(p, 0xd800 + (c >> 10));
    return write_unit(p, 0xdc00 + (c & 0x3ff));
}


void
sym_out_windows(sym_out_t *out, sym_str_t text)
{
    while (text.len > 0) {
        size_t left, n;

        if (!sym_out_room(out, 1)) {
            return;
        }

        left = (size_t) (out->end - out->pos);
        n = text.len < left ? text.len : left;
        memcpy(out->pos, text.data, n);
        out->pos += n;
        text.data += n;
        text.len -= n;
    }
}


void
sym_out_escaped(sym_out_t *out, sym_str_t text)
{
    size_t pos = 0;

    while (pos < text.len) {
        size_t n = sym_plain_length(text.data + pos, text.data + text.len);
        char letter;

        sym_out_raw(out, sym_str(text.data + pos, n));
        pos += n;

        if (pos == text.len || !sym_out_room(out, ESCAPE_MAX)) {
            return;
        }

        letter = escape_of((uint8_t) text.data[pos]);
        if (letter == 'u') {
            out->pos = write_code_point(out->pos, sym_utf8_next(text, &pos));
        } else {
            *out->pos++ = '\\';
            *out->pos++ = letter;
            pos++;
        }
    }
}


size_t
sym_out_control_len(sym_str_t s, size_t i)
{
    uint8_t c = (uint8_t) s.data[i];

    if (c < 0x20 || c == 0x7f) {
        return 1;
    }

    if (c == 0xc2 && i + 1 < s.len && (uint8_t) s.data[i + 1] < 0xa0) {
        return 2;
    }

    return 0;
}


void
sym_out_visible(sym_out_t *out, sym_str_t s)
{
    size_t begin = 0, i = 0;

    if (sym_is_plain(s)) { /* most are */
        sym_out_raw(out, s);
        return;
    }

    while (i < s.len) {
        size_t n = sym_out_control_len(s, i);

        if (n == 0) {
            i++;
            continue;
        }

        sym_out_raw(out, sym_str(s.data + begin, i - begin));
        sym_out_raw(out, SYM_STR("?"));
        i += n;
        begin = i;
    }

    sym_out_raw(out, sym_str(s.data + begin, i - begin));
}


void
sym_out_string(sym_out_t *out, sym_str_t text)
{
    sym_out_raw(out, SYM_STR("\""));
    sym_out_escaped(out, text);
    sym_out_raw(out, SYM_STR("\""));
}


void
sym_out_printf(sym_out_t *out, const char *fmt, ...)
{
    char line[512];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);

    if (n > 0) {
        size_t len = (size_t) n < sizeof(line) ? (size_t) n : sizeof(line) - 1;

        sym_out_raw(out, sym_str(line, len));
    }
}


void
sym_out_key(sym_out_t *out, const char *key, bool *first)
{
    if (!*first) {
        sym_out_raw(out, SYM_STR(", "));
    }

    *first = false;
    sym_out_raw(out, SYM_STR("\""));
    sym_out_raw(out, sym_cstr(key));
    sym_out_raw(out, SYM_STR("\": "));
}


void
sym_out_key_dec(sym_out_t *out, const char *key, uint64_t value, bool *first)
{
    sym_out_key(out, key, first);
    sym_out_dec(out, value);
}


void
sym_out_key_string(sym_out_t *out, const char *key, sym_str_t value,
                   bool *first)
{
    sym_out_key(out, key, first);
    sym_out_string(out, value);
}


void
sym_out_dec(sym_out_t *out, uint64_t value)
{
    if (sym_out_room(out, NUMBER_MAX)) {
        out->pos = sym_dec_write(out->pos, value);
    }
}


void
sym_out_hex_string(sym_out_t *out, uint64_t value)
{
    if (sym_out_room(out, NUMBER_MAX)) {
        *out->pos++ = '"';
        *out->pos++ = '0';
        *out->pos++ = 'x';
        out->pos = sym_hex_write(out->pos, value);
        *out->pos++ = '"';
    }
}


void
sym_out_seconds(sym_out_t *out, double seconds)
{
    uint64_t millionths;

    /* excludes NaN and impossible times: 10^12 s are 30,000 years */
    if (!(seconds > 0)) {
        seconds = 0;
    } else if (seconds > 1e12) {
        seconds = 1e12;
    }

    millionths = (uint64_t) (seconds * 1e6 + 0.5);
    sym_out_dec(out, millionths / 1000000);

    if (sym_out_room(out, 7)) {
        *out->pos++ = '.';
        for (uint64_t digit = 100000; digit > 0; digit /= 10) {
            *out->pos++ = (char) ('0' + millionths / digit % 10);
        }
    }
}
