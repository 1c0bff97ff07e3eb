#include "json/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "json/raw.h"

/* Number of digits of 2^63; integers with fewer digits stay unchanged. */
#define LARGE_DIGITS 19u

#define DIGITS_MAX 17 /* enough for any double */

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


/* Returns the end of the string that begins at p. */
static const char *
skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        p += *p == '\\' && end - p > 1;
    }

    return p < end ? p + 1 : end;
}


/* Returns the end of the object whose key ends at p; p itself if that string is
 * not such a key. */
static const char *
skip_object(const char *p, const char *end)
{
    const char *start = p;
    unsigned depth = 0;

    p = sym_raw_space(p, end);
    if (p == end || *p != ':') {
        return start;
    }

    p = sym_raw_space(p + 1, end);
    if (p == end || *p != '{') {
        return start;
    }

    do {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p++;
    } while (depth > 0 && p < end);

    return p;
}


/* current position in the text */
typedef struct {
    const char *p, *end;
    sym_str_t exact;       /* in objects that are values of this key, integers
                              keep their value */
    const char *exact_end; /* end of the previous such object */
} scan_t;


static void
read_string(scan_t *s)
{
    sym_str_t string = { s->p, 0 };

    s->p = skip_string(s->p, s->end);
    string.len = (size_t) (s->p - string.data);

    /* a string with escapes may be equal to that key */
    if (s->p > s->exact_end
        && (sym_str_eq(string, s->exact)
            || memchr(string.data, '\\', string.len) != NULL))
    {
        s->exact_end = skip_object(s->p, s->end);
    }
}


/* Finds the next integer outside strings that may need another spelling; data
 * NULL: none. */
static sym_str_t
next_integer(scan_t *s)
{
    const char *end = s->end;

    while (s->p < end) {
        const char *start = s->p, *p = start, *digits;

        if (*p == '"') {
            read_string(s);
            continue;
        }

        p += *p == '-';
        digits = p;
        while (p < end && is_digit(*p)) {
            p++;
        }

        if (p == start) {
            s->p++;
            continue;
        }

        /* part of a real, after its exponent; or not a number */
        if (p < end && (*p == '.' || *p == 'e' || *p == 'E')) {
            while (p < end
                   && (is_digit(*p) || *p == '.' || *p == 'e' || *p == 'E'
                       || *p == '+' || *p == '-'))
            {
                p++;
            }
            s->p = p;
            continue;
        }

        s->p = p;
        if (p > digits
            && ((size_t) (p - digits) >= LARGE_DIGITS
                || (p - digits == 1 && *start == '-' && *digits == '0')))
        {
            return sym_str(start, (size_t) (p - start));
        }
    }

    return sym_str(NULL, 0);
}


/* Writes the integer at p, in another spelling if necessary. */
static char *
write_integer(char *p, sym_str_t integer, bool is_exact)
{
    bool is_negative = integer.data[0] == '-';
    sym_str_t digits =
        sym_str(integer.data + is_negative, integer.len - is_negative);
    uint64_t number = 0;
    bool fits = digits.data[0] != '0' && sym_dec_read(digits, &number);

    if (fits && !is_negative && !is_exact && number > INT64_MAX) {
        *p++ = '-';
        return sym_dec_write(p, 0 - number);
    }

    memcpy(p, integer.data, integer.len);
    p += integer.len;
    if (digits.len == 1
        || (digits.data[0] != '0'
            && (!fits || number > (uint64_t) INT64_MAX + is_negative)))
    {
        *p++ = 'e';
        *p++ = '0';
    }

    return p;
}


sym_str_t
sym_json_integers(sym_arena_t *arena, sym_str_t text, sym_str_t exact)
{
    scan_t s = { text.data, text.data + text.len, exact, text.data };
    sym_str_t integer = next_integer(&s);
    const char *from = text.data;
    char *copy, *p;

    if (integer.data == NULL) {
        return text;
    }

    /* an integer grows by at most two bytes ("-0,"); adds room for
     * sym_dec_write() */
    copy = p = sym_arena_alloc(arena, 2 * text.len + 32);
    if (copy == NULL) {
        return sym_str(NULL, 0);
    }

    while (integer.data != NULL) {
        (void) sym_str_append(&p,
                              sym_str(from, (size_t) (integer.data - from)));
        p = write_integer(p, integer, integer.data < s.exact_end);
        from = s.p;
        integer = next_integer(&s);
    }

    (void) sym_str_append(&p, sym_str(from, (size_t) (s.end - from)));
    return sym_str(copy, (size_t) (p - copy));
}


/* Returns the significant digits of a number without its sign; *exponent is
   that of the first digit. */
static int
split(const char *text, char digits[DIGITS_MAX], int *exponent)
{
    int n = 0;

    for (; *text != 'e' && n < DIGITS_MAX; text++) {
        if (is_digit(*text)) {
            digits[n++] = *text;
        }
    }

    *exponent = (int) strtol(strchr(text, 'e') + 1, NULL, 10);
    return n;
}


size_t
sym_json_real(double value, char out[SYM_JSON_REAL_MAX])
{
    char text[DIGITS_MAX + 16], digits[DIGITS_MAX];
    int n, exponent;
    char *p = out;

    for (int precision = 0; precision < DIGITS_MAX; precision++) {
        (void) snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }

    n = split(text, digits, &exponent);
    if (text[0] == '-') {
        *p++ = '-';
    }

    /* from 1, or the first digit, down to the last digit, or a tenth */
    for (int i = exponent < 0 ? exponent : 0; i < n || i <= exponent + 1; i++) {
        if (i == exponent + 1) {
            *p++ = '.';
        }
        if (i < 0 || i >= n) {
            *p++ = '0';
        } else {
            *p++ = digits[i];
        }
    }

    *p = '\0';
    return (size_t) (p - out);
}
