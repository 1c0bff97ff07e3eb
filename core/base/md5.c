#include "base/md5.h"

#include <string.h>

/* RFC 1321, 3.4: floor(2^32 * abs(sin(i + 1))). */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};

static const uint8_t shifts[4][4] = {
    { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};


static uint32_t
little(const uint8_t *p)
{
    return p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
           | (uint32_t) p[3] << 24;
}


static void
add_block(uint32_t state[4], const uint8_t *p)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], x[16];

    for (unsigned i = 0; i < 16; i++) {
        x[i] = little(p + (size_t) 4 * i);
    }

    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, shift = shifts[round][i % 4];
        uint32_t f = round == 0   ? (b & c) | (~b & d)
                     : round == 1 ? (b & d) | (c & ~d)
                     : round == 2 ? b ^ c ^ d
                                  : c ^ (b | ~d);
        unsigned k = round == 0   ? i
                     : round == 1 ? (5 * i + 1) % 16
                     : round == 2 ? (3 * i + 5) % 16
                                  : (7 * i) % 16;
        uint32_t sum = a + f + x[k] + sines[i];

        a = d;
        d = c;
        c = b;
        b += sum << shift | sum >> (32 - shift);
    }

    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}


void
sym_md5_begin(sym_md5_t *m)
{
    *m = (sym_md5_t){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe,
                                 0x10325476 } };
}


void
sym_md5_add(sym_md5_t *m, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t used = (size_t) (m->len % SYM_MD5_BLOCK);

    m->len += len;
    while (len != 0) {
        size_t room = SYM_MD5_BLOCK - used, n = len < room ? len : room;

        if (n == SYM_MD5_BLOCK) {
            add_block(m->state, p);
        } else {
            memcpy(m->block + used, p, n);
            if (used + n == SYM_MD5_BLOCK) {
                add_block(m->state, m->block);
            }
        }

        used = (used + n) % SYM_MD5_BLOCK;
        p += n;
        len -= n;
    }
}


void
sym_md5_end(sym_md5_t *m, uint8_t out[SYM_MD5_BYTES])
{
    static const uint8_t padding[SYM_MD5_BLOCK] = { 0x80 };
    uint64_t bits = 8 * m->len;
    uint8_t length[8];

    /* to 8 bytes before the end of a block */
    sym_md5_add(
        m, padding,
        1
            + (2 * SYM_MD5_BLOCK - 9 - (size_t) (m->len % SYM_MD5_BLOCK))
                  % SYM_MD5_BLOCK);
    for (unsigned i = 0; i < 8; i++) {
        length[i] = (uint8_t) (bits >> (8 * i));
    }
    sym_md5_add(m, length, sizeof(length));

    for (unsigned i = 0; i < SYM_MD5_BYTES; i++) {
        out[i] = (uint8_t) (m->state[i / 4] >> (8 * (i % 4)));
    }
}
