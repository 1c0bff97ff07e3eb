#include "base/sha1.h"

#include <string.h>

#include "base/digits.h"

#define BLOCK 64

typedef struct {
    uint32_t state[5];
    uint8_t block[BLOCK]; /* bytes of an incomplete block */
    uint64_t len;
} sha1_t;

static inline uint32_t
rotate(uint32_t v, unsigned bits)
{
    return v << bits | v >> (32 - bits);
}


static inline uint32_t
big_endian(const uint8_t *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8
           | p[3];
}


/* RFC 3174, section 5. */
static inline uint32_t
choose(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    return t < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
           : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
           : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                    : (b ^ c ^ d) + 0xca62c1d6u;
}


static void
add_block(uint32_t state[5], const uint8_t *p)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3],
             e = state[4], w[80];

    for (unsigned t = 0; t < 16; t++) {
        w[t] = big_endian(p + (size_t) 4 * t);
    }

    for (unsigned t = 16; t < 80; t++) {
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    }

    for (unsigned t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + choose(t, b, c, d) + e + w[t];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }

    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}


static void
add(sha1_t *s, sym_str_t text)
{
    size_t used = (size_t) (s->len % BLOCK);

    s->len += text.len;

    while (text.len > 0) {
        size_t n = text.len < BLOCK - used ? text.len : BLOCK - used;

        if (n == BLOCK) {
            add_block(s->state, (const uint8_t *) text.data);
        } else {
            memcpy(s->block + used, text.data, n);
            if (used + n == BLOCK) {
                add_block(s->state, s->block);
            }
        }

        used = (used + n) % BLOCK;
        text = sym_str(text.data + n, text.len - n);
    }
}


void
sym_sha1(sym_str_t a, sym_str_t b, uint8_t out[SYM_SHA1_BYTES])
{
    static const char padding[BLOCK] = { (char) 0x80 };
    sha1_t s = { .state = { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                            0xc3d2e1f0u } };
    uint64_t bits;
    char length[8];

    add(&s, a);
    add(&s, b);
    bits = 8 * s.len;

    /* pads to 8 bytes before the end of a block */
    add(&s, sym_str(padding,
                    1 + (2 * BLOCK - 9 - (size_t) (s.len % BLOCK)) % BLOCK));

    for (unsigned i = 0; i < 8; i++) {
        length[i] = (char) (bits >> (56 - 8 * i));
    }

    add(&s, sym_str(length, sizeof(length)));

    for (unsigned i = 0; i < SYM_SHA1_BYTES; i++) {
        out[i] = (uint8_t) (s.state[i / 4] >> (24 - 8 * (i % 4)));
    }
}


void
sym_sha1_write(const uint8_t sha1[SYM_SHA1_BYTES], char out[SYM_SHA1_TEXT])
{
    out[sym_digits_write_lower(sha1, SYM_SHA1_BYTES, out)] = '\0';
}


bool
sym_sha1_read(const char *text, uint8_t out[SYM_SHA1_BYTES])
{
    char lower[SYM_SHA1_TEXT];

    if (strlen(text) != SYM_SHA1_TEXT - 1
        || !sym_digits_read(text, SYM_SHA1_BYTES, out))
    {
        return false;
    }

    sym_sha1_write(out, lower);
    return memcmp(lower, text, SYM_SHA1_TEXT) == 0;
}
