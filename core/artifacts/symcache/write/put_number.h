/*
 * put_number.h - writes numbers whose width is coded elsewhere
 * (docs/formats/symcache.md, 1).
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_PUT_NUMBER_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_PUT_NUMBER_H

#include <endian.h>

#include "artifacts/symcache/format.h"

/* Writes the low bytes of v, little endian, and zeros up to four bytes.  The
 * next number overwrites the zeros, so the buffer has room for the widest
 * form. */
static inline uint8_t *
sym_put_number(uint8_t *p, uint32_t v, unsigned width)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
    return p + width;
}


static inline uint8_t *
sym_put_wide(uint8_t *p, uint32_t v)
{
    return sym_put_number(p, v, SYM_WIDE(sym_wide_code(v)));
}


static inline uint8_t *
sym_put_thin(uint8_t *p, uint32_t v)
{
    return sym_put_number(p, v, SYM_THIN(sym_thin_code(v)));
}


/* The narrowest thin code for all numbers. */
static inline unsigned
sym_column_code(const uint32_t *numbers, size_t n)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < n; i++) {
        bits |= numbers[i];
    }

    return sym_thin_code(bits);
}


static inline uint8_t *
sym_put_column(uint8_t *p, const uint32_t *numbers, size_t n, unsigned code)
{
    for (size_t i = 0; i < n; i++) {
        p = sym_put_number(p, numbers[i], SYM_THIN(code));
    }

    return p;
}

#endif
