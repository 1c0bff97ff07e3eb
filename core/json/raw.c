#include "json/raw.h"

#include "base/hex.h"
#include "base/json_plain.h"

/* Integers and exponents with at most this number of digits are always within
 * the range of a double. */
#define INTEGER_DIGITS_MAX 20
#define EXPONENT_DIGITS_MAX 2

/* length of "\u00e9" */
#define UNIT_LEN 6

/* --- strings --- */

/* Returns the character for a letter after a backslash; 0: invalid escape. */
static const char simple[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};


/* Parses the digits of an escape such as "\u00e9" at p; -1: not such an
 * escape. */
static int
read_unit(const char *p, const char *end)
{
    int unit = 0;

    if (end - p < UNIT_LEN || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }

    for (int i = 2; i < UNIT_LEN; i++) {
        int digit = sym_hex_digit(p[i]);

        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }

    return unit;
}


/* Returns the code point of the \u at p, with the other half of a pair, and the
 * bytes that it takes; -1: it is not UTF-16 (RFC 8259, section 7). */
static int
read_code_point(const char *p, const char *end, int *len)
{
    int unit = read_unit(p, end), low;

    *len = UNIT_LEN;
    if (unit < 0xd800 || unit > 0xdfff) {
        return unit;
    }

    low = read_unit(p + UNIT_LEN, end);
    if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) {
        return -1;
    }

    *len = 2 * UNIT_LEN;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}


const char *
sym_raw_escape(const char *p, const char *end)
{
    int len;

    if (end - p >= 2 && simple[(uint8_t) p[1]] != '\0') {
        return p + 2;
    }

    return read_code_point(p, end, &len) < 0 ? NULL : p + len;
}


const char *
sym_raw_string(const char *p, const char *end, sym_raw_string_t *string)
{
    const char *start = p + 1;
    bool is_ascii = true;

    if (p == end || *p != '"') {
        return NULL;
    }

    p++;
    string->has_escapes = false;
    while (p += sym_plain_length(p, end), p < end && *p != '"') {
        if (*p == '\\') {
            string->has_escapes = true;
            p = sym_raw_escape(p, end);
            if (p == NULL) {
                return NULL;
            }
        } else if ((uint8_t) *p < 0x20) {
            return NULL;
        } else {
            is_ascii = false;
            p++;
        }
    }

    string->text = sym_str(start, (size_t) (p - start));
    return p < end && (is_ascii || sym_utf8_valid(string->text)) ? p + 1 : NULL;
}


static char *
write_utf8(char *to, int c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int first[] = { 0, 0xc0, 0xe0, 0xf0 };

    *to++ = (char) (first[more] | c >> 6 * more);
    while (more-- > 0) {
        *to++ = (char) (0x80 | (c >> 6 * more & 0x3f));
    }

    return to;
}


sym_str_t
sym_raw_decode(sym_arena_t *arena, const sym_raw_string_t *string)
{
    const char *p = string->text.data, *end = p + string->text.len;
    char *text, *to;

    if (!string->has_escapes) {
        return string->text;
    }

    /* an escape is never shorter than its character */
    text = to = sym_arena_alloc(arena, string->text.len);
    if (text == NULL) {
        return sym_str(NULL, 0);
    }

    while (p < end) {
        int len;

        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] != 'u') {
            *to++ = simple[(uint8_t) p[1]];
            p += 2;
        } else {
            to = write_utf8(to, read_code_point(p, end, &len));
            p += len;
        }
    }

    return sym_str(text, (size_t) (to - text));
}


/* --- numbers and words --- */

static const char *
skip_digits(const char *p, const char *end, ptrdiff_t *n)
{
    const char *start = p;

    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }

    *n = p - start;
    return p;
}


/* RFC 8259, 6 */
static const char *
skip_number(const char *p, const char *end)
{
    const char *first;
    ptrdiff_t n;

    p += p < end && *p == '-';
    first = p;
    p = skip_digits(p, end, &n);
    if (n == 0 || n > INTEGER_DIGITS_MAX || (n > 1 && *first == '0')) {
        return NULL;
    }

    if (p < end && *p == '.') {
        p = skip_digits(p + 1, end, &n);
        if (n == 0) {
            return NULL;
        }
    }

    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = skip_digits(p, end, &n);
        if (n == 0 || n > EXPONENT_DIGITS_MAX) {
            return NULL;
        }
    }

    return p;
}


static const char *
skip_word(const char *p, const char *end, sym_str_t word)
{
    return sym_str_starts(sym_str(p, (size_t) (end - p)), word) ? p + word.len
                                                                : NULL;
}


/* --- values --- */

/* The functions below advance p, and return false if they refuse the text. */
typedef struct {
    const char *p, *end;
    unsigned depth;
    bool is_unique;
    unsigned n_keys; /* number of keys in the objects around p */
    sym_str_t keys[SYM_RAW_KEYS_MAX];
} walk_t;

static bool walk_value(walk_t *w);


static bool
move(walk_t *w, const char *p)
{
    if (p == NULL) {
        return false;
    }

    w->p = p;
    return true;
}


/* Consumes c if it is next. */
static bool
take(walk_t *w, char c)
{
    w->p = sym_raw_space(w->p, w->end);
    return w->p < w->end && *w->p == c && move(w, w->p + 1);
}


static bool
walk_key(walk_t *w, unsigned first)
{
    sym_raw_string_t key;

    /* escapes can hide a NUL, or the fact that two keys are equal */
    w->p = sym_raw_space(w->p, w->end);
    if (!move(w, sym_raw_string(w->p, w->end, &key)) || key.has_escapes
        || !take(w, ':'))
    {
        return false;
    }

    if (!w->is_unique) {
        return true;
    }

    for (unsigned i = first; i < w->n_keys; i++) {
        if (sym_str_eq(w->keys[i], key.text)) {
            return false;
        }
    }

    if (w->n_keys == SYM_RAW_KEYS_MAX) {
        return false;
    }

    w->keys[w->n_keys++] = key.text;
    return true;
}


/* Reads the items of a list or object, after its bracket. */
static bool
walk_items(walk_t *w, bool is_object)
{
    const char close = is_object ? '}' : ']';
    unsigned first = w->n_keys;

    if (++w->depth > SYM_RAW_DEPTH_MAX) {
        return false;
    }

    if (!take(w, close)) {
        do {
            if ((is_object && !walk_key(w, first)) || !walk_value(w)) {
                return false;
            }
        } while (take(w, ','));

        if (!take(w, close)) {
            return false;
        }
    }

    w->depth--;
    w->n_keys = first;
    return true;
}


/* Recursion is limited to SYM_RAW_DEPTH_MAX levels. */
static bool
walk_value(walk_t *w)
{
    sym_raw_string_t string;

    if (take(w, '{')) {
        return walk_items(w, true);
    }

    if (take(w, '[')) {
        return walk_items(w, false);
    }

    switch (w->p < w->end ? *w->p : '\0') {
    case '"':
        return move(w, sym_raw_string(w->p, w->end, &string));
    case 't':
        return move(w, skip_word(w->p, w->end, SYM_STR("true")));
    case 'f':
        return move(w, skip_word(w->p, w->end, SYM_STR("false")));
    case 'n':
        return move(w, skip_word(w->p, w->end, SYM_STR("null")));
    default:
        return move(w, skip_number(w->p, w->end));
    }
}


static const char *
walk(const char *p, const char *end, bool is_unique)
{
    walk_t w;

    /* does not clear the array of keys, which takes 1 KB */
    w.p = p;
    w.end =
        (size_t) (end - p) > SYM_RAW_BYTES_MAX ? p + SYM_RAW_BYTES_MAX : end;
    w.depth = 0;
    w.is_unique = is_unique;
    w.n_keys = 0;
    return walk_value(&w) ? w.p : NULL;
}


const char *
sym_raw_value(const char *p, const char *end)
{
    sym_raw_string_t string;

    p = sym_raw_space(p, end);
    return p < end && *p == '"' ? sym_raw_string(p, end, &string)
                                : walk(p, end, false);
}


const char *
sym_raw_unique(const char *p, const char *end)
{
    return walk(p, end, true);
}
