/*
 * str.h - borrowed views of text and bytes.
 *
 * A sym_str_t owns nothing and need not end in NUL; the function that returns
 * one documents how long it lives.  Text in core/ is UTF-8 unless a header
 * says otherwise.
 */
#ifndef SYM_BASE_STR_H
#define SYM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *data;
    size_t len;
} sym_str_t;

/* A view of a string literal. */
#define SYM_STR(literal) ((sym_str_t){ (literal), sizeof(literal) - 1 })

static inline sym_str_t
sym_str(const char *data, size_t len)
{
    return (sym_str_t){ data, len };
}


static inline sym_str_t
sym_cstr(const char *text)
{
    return (sym_str_t){ text, strlen(text) };
}


static inline bool
sym_str_eq(sym_str_t a, sym_str_t b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}


/* Compares bytes: < 0, 0 or > 0.  A prefix sorts first. */
static inline int
sym_str_cmp(sym_str_t a, sym_str_t b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len == 0 ? 0 : memcmp(a.data, b.data, len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}


static inline bool
sym_str_starts(sym_str_t s, sym_str_t prefix)
{
    return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}


/* Returns the part before the next `at`, or all if there is none.  *rest
 * becomes the text after it; data is NULL after the last part. */
static inline sym_str_t
sym_str_cut(sym_str_t *rest, char at)
{
    const char *end = rest->len != 0 ? memchr(rest->data, at, rest->len) : NULL;
    sym_str_t part = *rest;

    if (end == NULL) {
        *rest = sym_str(NULL, 0);
        return part;
    }

    part.len = (size_t) (end - rest->data);
    *rest = sym_str(end + 1, rest->len - part.len - 1);
    return part;
}


/* Returns the text after the last of these characters, or all if there is none:
 * the last part of a path. */
static inline sym_str_t
sym_str_after_last(sym_str_t s, sym_str_t of)
{
    for (size_t i = s.len; i > 0; i--) {
        if (memchr(of.data, s.data[i - 1], of.len) != NULL) {
            return sym_str(s.data + i, s.len - i);
        }
    }

    return s;
}


/* Copies s to *to, advances *to, and returns the copy. */
static inline sym_str_t
sym_str_append(char **to, sym_str_t s)
{
    sym_str_t copy = { *to, s.len };

    if (s.len != 0) {
        memcpy(*to, s.data, s.len);
        *to += s.len;
    }

    return copy;
}


/* Length of the common prefix of a and b, at most `most` bytes. */
static inline size_t
sym_common_length(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t n = 0;

    while (most - n >= 8) {
        uint64_t x, y;

        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        if (x != y) { /* little endian: the first byte is the lowest */
            return n + (size_t) (__builtin_ctzll(x ^ y) / 8);
        }
        n += 8;
    }

    while (n < most && a[n] == b[n]) {
        n++;
    }

    return n;
}


/* Converts an upper-case ASCII letter to lower case; returns other bytes
 * unchanged. */
static inline char
sym_lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char) (c + ('a' - 'A'));
    }

    return c;
}


static inline bool
sym_str_eq_nocase(sym_str_t a, sym_str_t b)
{
    size_t i = 0;

    while (i < a.len && i < b.len
           && sym_lower(a.data[i]) == sym_lower(b.data[i])) {
        i++;
    }

    return i == a.len && i == b.len;
}


/* Whether s ends with `end`, ignoring the case of ASCII letters; `end` is in
 * lower case. */
static inline bool
sym_str_ends_nocase(sym_str_t s, sym_str_t end)
{
    size_t i = end.len;

    if (s.len < end.len) {
        return false;
    }

    while (i > 0) {
        i--;
        if (sym_lower(s.data[s.len - end.len + i]) != end.data[i]) {
            return false;
        }
    }

    return true;
}


/* Whether the bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool sym_utf8_valid(sym_str_t s);

/*
 * Decodes one code point from s at *pos and advances *pos.  A byte that does
 * not start a valid sequence gives U+FFFD, and *pos advances by one byte.
 */
uint32_t sym_utf8_next(sym_str_t s, size_t *pos);

/*
 * Length of the character at the start of s, in bytes (left: not 0).  If it is
 * invalid, the length that one U+FFFD replaces: the longest prefix of a
 * character (Unicode 15, 3.9, "U+FFFD Substitution of Maximal Subparts").
 */
size_t sym_utf8_character(const uint8_t *s, size_t left, bool *is_valid);

/* Whether Unicode gives the character the property White_Space. */
bool sym_utf8_is_space(uint32_t c);

#endif
