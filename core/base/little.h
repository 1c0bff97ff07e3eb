/*
 * little.h - little-endian numbers on any host.
 *
 * For stored bytes, which need not be aligned.  Untrusted input is read with a
 * cursor (cursor.h), which checks bounds.
 */
#ifndef SYM_BASE_LITTLE_H
#define SYM_BASE_LITTLE_H

#include <stdint.h>

static inline void
sym_put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t) value;
    p[1] = (uint8_t) (value >> 8);
}


static inline void
sym_put32(uint8_t *p, uint32_t value)
{
    sym_put16(p, value);
    sym_put16(p + 2, value >> 16);
}


static inline void
sym_put64(uint8_t *p, uint64_t value)
{
    sym_put32(p, (uint32_t) value);
    sym_put32(p + 4, (uint32_t) (value >> 32));
}


static inline uint32_t
sym_get16(const uint8_t *p)
{
    return (uint32_t) p[0] | (uint32_t) p[1] << 8;
}


static inline uint32_t
sym_get32(const uint8_t *p)
{
    return sym_get16(p) | sym_get16(p + 2) << 16;
}


static inline uint64_t
sym_get64(const uint8_t *p)
{
    return sym_get32(p) | (uint64_t) sym_get32(p + 4) << 32;
}

#endif
