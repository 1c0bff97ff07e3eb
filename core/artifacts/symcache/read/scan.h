/*
 * scan.h - searches in the columns of a piece, many numbers at a time.
 *
 * A lookup reads an unpredictable position of each column.  So a loop over
 * single numbers would cost a branch misprediction at its end, and a loop over
 * LEB128 one at each byte.  Here many numbers are added and compared at once: a
 * complete column with SSE2, which every x86-64 has; otherwise the numbers in a
 * word of eight bytes.
 *
 * Columns are little endian.  SYM_SCAN_BYTES from their start must be readable,
 * with any contents after their end.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_SCAN_H
#define SYM_ARTIFACTS_SYMCACHE_READ_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "artifacts/symcache/format.h"

/* The longest column, of numbers of two bytes. */
#define SYM_SCAN_BYTES 64

_Static_assert(SYM_SCAN_BYTES == 2 * SYM_PIECE_SEGMENTS,
               "docs/formats/symcache.md, 5");

/* Limit of comparisons with a sum of deltas. */
#define SYM_SCAN_MOST 0xfffeu

#define SYM_EACH_BYTE 0x0101010101010101u

/* The next eight bytes; the first one is lowest. */
static inline uint64_t
sym_scan_word(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}


#if defined(__SSE2__) && !defined(SYM_SCAN_PLAIN)

#include <emmintrin.h>

/* Prefix sums of eight numbers, plus `carry` (which is in each lane).  A sum
 * that overflows becomes 0xffff, which is above any compared number. */
static inline __m128i
sym_scan_sums(__m128i v, __m128i carry)
{
    v = _mm_adds_epu16(v, _mm_slli_si128(v, 2));
    v = _mm_adds_epu16(v, _mm_slli_si128(v, 4));
    v = _mm_adds_epu16(v, _mm_slli_si128(v, 8));
    return _mm_adds_epu16(v, carry);
}


/*
 * Number of the n numbers at p, of 8 or 16 `bits`, whose prefix sum is at most
 * `most` <= SYM_SCAN_MOST; n < 32.
 */
static inline unsigned
sym_scan_deltas(const uint8_t *p, unsigned n, unsigned bits, uint32_t most)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i limit = _mm_set1_epi16((short) most);
    __m128i sums = zero, fit[4];
    uint32_t fits;

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const void *at = p + (size_t) i * bits;
        __m128i carry = _mm_shufflehi_epi16(sums, 0xff);
        __m128i v = bits == 8 ? _mm_unpacklo_epi8(_mm_loadl_epi64(at), zero)
                              : _mm_loadu_si128(at);

        sums = sym_scan_sums(v, _mm_unpackhi_epi64(carry, carry));
        fit[i] = _mm_cmpeq_epi16(_mm_subs_epu16(sums, limit), zero);
    }

    fits = (uint32_t) _mm_movemask_epi8(_mm_packs_epi16(fit[0], fit[1]))
           | (uint32_t) _mm_movemask_epi8(_mm_packs_epi16(fit[2], fit[3]))
                 << 16;
    return (unsigned) __builtin_ctz(~fits | (uint32_t) 1 << n);
}


/*
 * Bits for the first 32 line codes.  In the lower half, a bit for each code
 * that has an exception.  In the upper half, a bit for each code whose
 * exception has a file.
 */
static inline uint64_t
sym_scan_exceptions(const uint8_t *codes)
{
    const __m128i far = _mm_set1_epi8((char) SYM_LINE_FAR);
    const __m128i foreign = _mm_set1_epi8((char) SYM_LINE_FOREIGN);
    uint64_t found = 0;

#pragma GCC unroll 2
    for (unsigned i = 0; i < 32; i += 16) {
        __m128i v = _mm_loadu_si128((const void *) (codes + i));
        __m128i is_far = _mm_cmpeq_epi8(_mm_max_epu8(v, far), v);
        __m128i is_foreign = _mm_cmpeq_epi8(v, foreign);

        found |= (uint64_t) _mm_movemask_epi8(is_far) << i
                 | (uint64_t) _mm_movemask_epi8(is_foreign) << (32 + i);
    }

    return found;
}

#else

/* As above. */
static inline unsigned
sym_scan_deltas(const uint8_t *p, unsigned n, unsigned bits, uint32_t most)
{
    /* lanes of two numbers, so that sums do not overflow: the highest bit is
       free */
    const unsigned lane = 2 * bits, per_word = 64 / bits;
    const uint64_t each = bits == 8 ? 0x0001000100010001u : 0x0000000100000001u;
    const uint64_t low = each * ((1u << bits) - 1), high = each << (lane - 1);
    uint64_t left = most;

    for (unsigned count = 0; count < n; count += per_word, p += 8) {
        uint64_t v = sym_scan_word(p), odd = v >> bits & low;
        uint64_t sums = ((v & low) + odd) * each; /* up to each odd number */
        uint64_t limit, fit;

        if (sums >> (64 - lane) <= left) {
            left -= sums >> (64 - lane);
            continue;
        }

        limit = each * left | high;
        fit = ((limit - sums) & high) >> (lane - 1);
        fit += ((limit - (sums - odd)) & high) >> (lane - 1);
        count += (unsigned) (fit * each >> (64 - lane));
        return count < n ? count : n;
    }

    return n;
}


static inline uint64_t
sym_scan_exceptions(const uint8_t *codes)
{
    const uint64_t gather = 0x0102040810204080u; /* moves the lowest bits to
                                                    the top */
    uint64_t found = 0;

    for (unsigned i = 0; i < 32; i += 8) {
        uint64_t v = sym_scan_word(codes + i);

        /* 1 for bytes of 254 and 255; their lowest bits distinguish them */
        uint64_t far = ((v >> 1 & 0x7f * SYM_EACH_BYTE) + SYM_EACH_BYTE) >> 7;

        far &= SYM_EACH_BYTE;
        found |= far * gather >> 56 << i | (far & v) * gather >> 56 << (32 + i);
    }

    return found;
}

#endif

/* Number of bits set among the first n <= 32 of each half. */
static inline void
sym_scan_bits(uint64_t v, unsigned n, unsigned *lower, unsigned *upper)
{
    uint64_t below = ((uint64_t) 1 << n) - 1;

    v &= below | below << 32;
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    v += v >> 8;
    v += v >> 16;
    *lower = (unsigned) (v & 0x3f);
    *upper = (unsigned) (v >> 32 & 0x3f);
}

#endif
