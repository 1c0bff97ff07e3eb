#include "api/tecken/numbers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"

/* a space, up to 10 digits, ".5", a space, and the final NUL of snprintf() */
#define MARKER_MAX 15

/* length of "\u00e9" */
#define UNIT_LEN ((size_t) 6)

typedef struct {
    const char *pos, *end;
} scan_t;


static bool
is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}


static const char *
skip_digits(const char *p, const char *end)
{
    while (is_digit(p, end)) {
        p++;
    }

    return p;
}


static bool
starts(const char *p, const char *end, sym_str_t word)
{
    return sym_str_starts(sym_str(p, (size_t) (end - p)), word);
}


/*
 * Returns the end of the number at p, by the rules of Python's json, or p:
 * -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, NaN, Infinity, -Infinity.
 */
static const char *
number_end(const char *p, const char *end, size_t *int_digits)
{
    const char *start = p, *digits, *q;

    *int_digits = 0;

    if (starts(p, end, SYM_STR("NaN"))) {
        return p + 3;
    }

    p += *p == '-';

    if (starts(p, end, SYM_STR("Infinity"))) {
        return p + 8;
    }

    if (!is_digit(p, end)) {
        return start;
    }

    digits = p;
    p = *p == '0' ? p + 1 : skip_digits(p, end);
    *int_digits = (size_t) (p - digits);

    if (p < end && *p == '.' && is_digit(p + 1, end)) {
        p = skip_digits(p + 1, end);
        *int_digits = 0;
    }

    if (p < end && (*p == 'e' || *p == 'E')) {
        q = p + 1;
        q += q < end && (*q == '+' || *q == '-');
        if (is_digit(q, end)) {
            p = skip_digits(q, end);
            *int_digits = 0;
        }
    }

    return p;
}


static void *
grow(numbers_t *out, void *block, size_t from, size_t to)
{
    void *grown = NULL;

    if (sym_account_charge(out->account, to - from)) {
        out->held += to - from;
        grown = realloc(block, to); /* on failure, the caller calls
                                       numbers_free() */
    }

    return grown;
}


static bool
put(numbers_t *out, const char *data, size_t len)
{
    if (len > out->cap - out->len) {
        size_t cap =
            out->cap * 2 > out->len + len ? out->cap * 2 : out->len + len;
        char *grown = grow(out, out->text, out->cap, cap);

        if (grown == NULL) {
            return false;
        }
        out->text = grown;
        out->cap = cap;
    }

    memcpy(out->text + out->len, data, len);
    out->len += len;
    return true;
}


/*
 * Writes a marker between spaces: adjacent "1" and "NaN" are invalid JSON, and
 * must not become one number.
 */
static bool
put_marker(numbers_t *out, const char *start, const char *end)
{
    char marker[MARKER_MAX];
    int len;

    if (out->n == out->numbers_cap) {
        uint32_t cap = out->n == 0 ? 16 : out->n * 2;
        sym_str_t *grown =
            cap > out->n ? grow(out, out->numbers, out->n * sizeof(*grown),
                                cap * sizeof(*grown))
                         : NULL;

        if (grown == NULL) {
            return false;
        }
        out->numbers = grown;
        out->numbers_cap = cap;
    }

    len = snprintf(marker, sizeof(marker), " %u.5 ", out->n);
    out->numbers[out->n++] = sym_str(start, (size_t) (end - start));
    return put(out, marker, (size_t) len);
}


/* --- strings --- */

/* Returns the value of the four digits of an escape such as "\u00e9"; -1 if p
 * has no such escape. */
static int
escaped_unit(const char *p, const char *end)
{
    int unit = 0;

    if ((size_t) (end - p) < UNIT_LEN || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }

    for (size_t i = 2; i < UNIT_LEN; i++) {
        if (sym_hex_digit(p[i]) < 0) {
            return -1;
        }
        unit = unit << 4 | sym_hex_digit(p[i]);
    }

    return unit;
}


/*
 * Copies the escape at p.  Half a surrogate pair and (in keys) a NUL become
 * U+FFFD: Python accepts them, jansson does not.
 */
static bool
put_escape(numbers_t *out, scan_t *s)
{
    const char *start = s->pos;
    int unit = escaped_unit(start, s->end), low;

    if (unit < 0) {
        s->pos += s->end - start < 2 ? 1 : 2;
        return put(out, start, (size_t) (s->pos - start));
    }

    s->pos += UNIT_LEN;

    if (unit >= 0xd800 && unit < 0xdc00) {
        low = escaped_unit(s->pos, s->end);
        if (low >= 0xdc00 && low < 0xe000) {
            s->pos += UNIT_LEN;
            return put(out, start, 2 * UNIT_LEN);
        }
    }

    return unit == 0 || (unit >= 0xd800 && unit < 0xe000)
               ? put(out, "\\ufffd", UNIT_LEN)
               : put(out, start, UNIT_LEN);
}


static bool
put_string(numbers_t *out, scan_t *s)
{
    const char *start = s->pos++;

    while (s->pos < s->end && *s->pos != '"') {
        if (*s->pos != '\\') {
            s->pos++;
            continue;
        }

        if (!put(out, start, (size_t) (s->pos - start)) || !put_escape(out, s))
        {
            return false;
        }
        start = s->pos;
    }

    s->pos += s->pos < s->end;
    return put(out, start, (size_t) (s->pos - start));
}


/* Bytes that may begin a text that is not copied unchanged. */
static bool
is_plain(char c)
{
    return c != '"' && c != '-' && c != 'N' && c != 'I'
           && !(c >= '0' && c <= '9');
}


static sym_status_t
replace_some(numbers_t *out, scan_t *s)
{
    const char *start = s->pos;
    size_t digits = 0;

    if (is_plain(*start)) {
        do {
            s->pos++;
        } while (s->pos < s->end && is_plain(*s->pos));
    } else if (*start == '"') {
        return put_string(out, s) ? SYM_OK : SYM_NOMEM;
    } else {
        s->pos = number_end(start, s->end, &digits);
        if (digits > NUMBER_DIGITS_MAX) {
            return SYM_MALFORMED;
        }
        if (s->pos == start) {
            s->pos++;
        } else if (digits == 0 || digits > PLAIN_DIGITS_MAX) {
            if (out->n == NUMBERS_MAX) {
                return SYM_LIMIT;
            }
            return put_marker(out, start, s->pos) ? SYM_OK : SYM_NOMEM;
        }
    }

    return put(out, start, (size_t) (s->pos - start)) ? SYM_OK : SYM_NOMEM;
}


sym_status_t
numbers_replace(numbers_t *out, sym_account_t *account, sym_str_t body)
{
    scan_t s = { body.data, body.data + body.len };
    sym_status_t status = SYM_OK;

    *out = (numbers_t){ .account = account, .cap = body.len + MARKER_MAX };
    out->text = grow(out, NULL, 0, out->cap);
    if (out->text == NULL) {
        return SYM_NOMEM;
    }

    while (status == SYM_OK && s.pos < s.end) {
        status = replace_some(out, &s);
    }

    return status;
}


void
numbers_free(numbers_t *out)
{
    free(out->text);
    free(out->numbers);
    sym_account_give(out->account, out->held);
    *out = (numbers_t){ 0 };
}


bool
number_is_integer(sym_str_t text)
{
    const char *end = text.data + text.len;
    const char *p = text.data + (text.len > 0 && text.data[0] == '-');

    return is_digit(p, end) && skip_digits(p, end) == end;
}


/* Words of 32 bits, lowest first: w = w * factor + add. */
static void
multiply_add(uint32_t *words, size_t *n, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;

    for (size_t i = 0; i < *n; i++) {
        carry += (uint64_t) words[i] * factor;
        words[i] = (uint32_t) carry;
        carry >>= 32;
    }

    if (carry != 0) {
        words[(*n)++] = (uint32_t) carry;
    }
}


/* Writes the words; *n and the highest word must not be 0. */
static char *
write_words(char *p, const uint32_t *words, size_t n)
{
    p = sym_hex_write(p, words[n - 1]);

    for (size_t i = n - 1; i > 0; i--) {
        for (int shift = 28; shift >= 0; shift -= 4) {
            *p++ = "0123456789abcdef"[words[i - 1] >> shift & 15];
        }
    }

    return p;
}


sym_str_t
number_hex(sym_arena_t *arena, sym_str_t decimal)
{
    /* a word holds nine digits */
    uint32_t words[NUMBER_DIGITS_MAX / 9 + 2];
    size_t n = 0, pos = decimal.data[0] == '-';
    char *text, *p;

    while (pos < decimal.len) {
        uint32_t factor = 1, add = 0;

        for (; pos < decimal.len && factor < 1000000000; pos++) {
            factor *= 10;
            add = add * 10 + (uint32_t) (decimal.data[pos] - '0');
        }
        multiply_add(words, &n, factor, add);
    }

    if (n == 0) {
        return SYM_STR("0x0");
    }

    /* a hexadecimal digit holds more than a decimal one */
    p = text = sym_arena_alloc(arena, decimal.len + 8);
    if (text == NULL) {
        return sym_str(NULL, 0);
    }

    if (decimal.data[0] == '-') {
        *p++ = '-';
    }
    *p++ = '0';
    *p++ = 'x';
    p = write_words(p, words, n);
    return sym_str(text, (size_t) (p - text));
}
