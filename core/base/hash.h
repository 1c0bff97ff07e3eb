/*
 * hash.h - keyed hashing of strings, which prevents chosen collisions.
 *
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF"): names
 * of symbols, modules and requests are untrusted, so a secret key decides which
 * of them collide.  A table copies the key of the process when it is created.
 * No output depends on the key.
 */
#ifndef SYM_BASE_HASH_H
#define SYM_BASE_HASH_H

#include "base/str.h"

typedef struct {
    uint64_t k0, k1;
} sym_hash_key_t;

/* The key is the same in a process and its forks, and new at each start of a
 * program. */
sym_hash_key_t sym_hash_key(void);

typedef struct {
    uint64_t v0, v1, v2, v3;
} sym_hash_state_t;

static inline uint64_t
sym_hash_rotate(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}


static inline void
sym_hash_round(sym_hash_state_t *s)
{
    s->v0 += s->v1;
    s->v1 = sym_hash_rotate(s->v1, 13) ^ s->v0;
    s->v0 = sym_hash_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = sym_hash_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = sym_hash_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = sym_hash_rotate(s->v1, 17) ^ s->v2;
    s->v2 = sym_hash_rotate(s->v2, 32);
}


static inline void
sym_hash_word(sym_hash_state_t *s, uint64_t word)
{
    s->v3 ^= word;
    sym_hash_round(s);
    s->v0 ^= word;
}


static inline sym_hash_state_t
sym_hash_begin(const sym_hash_key_t *key)
{
    return (sym_hash_state_t){ key->k0 ^ 0x736f6d6570736575u,
                               key->k1 ^ 0x646f72616e646f6du,
                               key->k0 ^ 0x6c7967656e657261u,
                               key->k1 ^ 0x7465646279746573u };
}


/* Each string ends with a word that contains its length, so ("ab", "c") and
 * ("a", "bc") have different hashes. */
static inline void
sym_hash_add(sym_hash_state_t *s, sym_str_t text)
{
    const uint64_t len = text.len;
    uint64_t word = 0;

    for (; text.len >= sizeof(word); text.len -= sizeof(word)) {
        memcpy(&word, text.data, sizeof(word));
        sym_hash_word(s, word);
        text.data += sizeof(word);
    }

    word = 0;
    if (text.len != 0) {
        memcpy(&word, text.data, text.len);
    }

    sym_hash_word(s, word | len << 56);
}


static inline uint64_t
sym_hash_end(sym_hash_state_t s)
{
    s.v2 ^= 0xff;
    sym_hash_round(&s);
    sym_hash_round(&s);
    sym_hash_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}


/* Hash of one string. */
static inline uint64_t
sym_hash(const sym_hash_key_t *key, sym_str_t text)
{
    sym_hash_state_t s = sym_hash_begin(key);

    sym_hash_add(&s, text);
    return sym_hash_end(s);
}

#endif
