/*
 * bytes.h - numbers in records, little endian on every host.
 */
#ifndef SYM_STORE_BYTES_H
#define SYM_STORE_BYTES_H

#include "base/str.h"

/* Writes the lowest `width` bytes of v to p; returns the position after
 * them. */
static inline uint8_t *
sym_bytes_put(uint8_t *p, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        *p++ = (uint8_t) (v >> (8 * i));
    }

    return p;
}


static inline uint8_t *
sym_bytes_put_text(uint8_t *p, sym_str_t text)
{
    if (text.len != 0) {
        memcpy(p, text.data, text.len);
    }

    return p + text.len;
}


/* Reads a number of `width` bytes at *p, and moves *p past it. */
static inline uint64_t
sym_bytes_take(const uint8_t **p, unsigned width)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < width; i++) {
        v |= (uint64_t) (*p)[i] << (8 * i);
    }

    *p += width;
    return v;
}


/* Returns a view of the next len bytes; the caller has checked that they
 * exist. */
static inline sym_str_t
sym_bytes_take_text(const uint8_t **p, size_t len)
{
    sym_str_t text = sym_str((const char *) *p, len);

    *p += len;
    return text;
}

#endif
