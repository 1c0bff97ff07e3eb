/* le.h - reads little-endian numbers; the caller has checked the bounds. */
#ifndef SYM_FORMATS_PDB_LE_H
#define SYM_FORMATS_PDB_LE_H

#include <stdint.h>

static inline uint16_t
sym_le16(const void *at)
{
    const uint8_t *p = at;

    return (uint16_t) (p[0] | p[1] << 8);
}


static inline uint32_t
sym_le32(const void *at)
{
    const uint8_t *p = at;

    return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
           | (uint32_t) p[3] << 24;
}

#endif
