/*
 * json_plain.h - whether a text needs no escapes in a JSON string.
 *
 * Printable ASCII without quotes and backslashes needs none.  A symcache stores
 * a flag for each name; the writer of an answer checks again.
 */
#ifndef SYM_BASE_JSON_PLAIN_H
#define SYM_BASE_JSON_PLAIN_H

#include "base/str.h"

typedef uint8_t sym_bytes_t __attribute__((vector_size(16)));

static inline sym_bytes_t
sym_odd_bytes(sym_bytes_t c)
{
    /* 0x20 to 0x7e are the printable ones */
    return (sym_bytes_t) (c - 0x20 > 0x5e) | (sym_bytes_t) (c == '"')
           | (sym_bytes_t) (c == '\\');
}


/* Number of bytes at p that need no escape. */
static inline size_t
sym_plain_length(const char *p, const char *end)
{
    const char *start = p;
    sym_bytes_t odd, c;
    uint64_t halves[2];

    for (; end - p >= (ptrdiff_t) sizeof(c); p += sizeof(c)) {
        memcpy(&c, p, sizeof(c));
        odd = sym_odd_bytes(c);
        memcpy(halves, &odd, sizeof(halves));
        if (halves[0] != 0) { /* little endian: the first byte is the lowest */
            return (size_t) (p - start)
                   + (size_t) __builtin_ctzll(halves[0]) / 8;
        }
        if (halves[1] != 0) {
            return (size_t) (p - start) + 8
                   + (size_t) __builtin_ctzll(halves[1]) / 8;
        }
    }

    while (p < end && (uint8_t) (*p - 0x20) <= 0x5e && *p != '"' && *p != '\\')
    {
        p++;
    }

    return (size_t) (p - start);
}


static inline bool
sym_is_plain(sym_str_t s)
{
    sym_bytes_t odd = { 0 }, c;
    uint64_t halves[2];

    for (size_t i = 0; i + sizeof(c) < s.len; i += sizeof(c)) {
        memcpy(&c, s.data + i, sizeof(c));
        odd |= sym_odd_bytes(c);
    }

    /* the last bytes; some of them are checked twice */
    if (s.len >= sizeof(c)) {
        memcpy(&c, s.data + s.len - sizeof(c), sizeof(c));
    } else {
        memset(&c, 'x', sizeof(c));
        if (s.len != 0) {
            memcpy(&c, s.data, s.len);
        }
    }

    odd |= sym_odd_bytes(c);

    memcpy(halves, &odd, sizeof(halves));
    return (halves[0] | halves[1]) == 0;
}

#endif
