/*
 * hash.h - spreads texts over a table.
 *
 * Multiplies and folds eight bytes at a time.  Promises nothing against those
 * who choose texts that collide: who must fear them gives a seed that they
 * cannot know.
 */
#ifndef SYM_BASE_HASH_H
#define SYM_BASE_HASH_H

#include "base/str.h"

/* h: a seed, or the hash of what came before. */
static inline uint64_t
sym_hash(uint64_t h, sym_str_t s)
{
    uint64_t v;

    h = (h ^ s.len) * 0x9e3779b97f4a7c15u;
    for (; s.len >= sizeof(v); s.data += sizeof(v), s.len -= sizeof(v)) {
        memcpy(&v, s.data, sizeof(v));
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }

    v = 0;
    if (s.len != 0) {
        memcpy(&v, s.data, s.len);
    }

    h = (h ^ v) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

#endif
