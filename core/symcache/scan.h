/*
 * scan.h - searches in the columns of a piece, a word of eight bytes at a time.
 *
 * A lookup reads a place in each column that no processor can foresee, so a
 * loop over single numbers pays for a wrong guess at its end, and one over
 * LEB128 for a guess at each byte.  Here the numbers of a word are added up and
 * compared side by side, by plain arithmetic.
 *
 * Columns are little endian.  Words run over: up to seven bytes behind what a
 * search is about must be readable, whatever they hold.
 */
#ifndef SYM_SYMCACHE_SCAN_H
#define SYM_SYMCACHE_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SYM_EACH_BYTE 0x0101010101010101u

/* The next eight bytes, the first of them lowest. */
static inline uint64_t
sym_scan_word(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}


/* The sum of a word's bytes, which is below 256. */
static inline unsigned
sym_scan_sum(uint64_t v)
{
    return (unsigned) (v * SYM_EACH_BYTE >> 56);
}


/*
 * How many of the n numbers at p, of 8 or 16 `bits`, can be added up before the
 * sum is more than `most`; n < 32.
 */
static inline unsigned
sym_scan_deltas(const uint8_t *p, unsigned n, unsigned bits, uint32_t most)
{
    /* lanes of two numbers, so that sums find room: the highest bit is free */
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


/* How many numbers the exceptions of the first n <= 32 line codes have. */
static inline unsigned
sym_scan_exceptions(const uint8_t *codes, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i += 8) {
        uint64_t v = sym_scan_word(codes + i), far;

        if (n - i < 8) {
            v &= ((uint64_t) 1 << 8 * (n - i)) - 1;
        }

        /* bytes of 254 and 255: one number, and one more for the lowest bit */
        far = ((v >> 1 & 0x7f * SYM_EACH_BYTE) + SYM_EACH_BYTE) >> 7;
        far &= SYM_EACH_BYTE;
        sum += far + (far & v);
    }

    return sym_scan_sum(sum);
}


/* Steps over n LEB128 numbers; up to `end` if they do not end before. */
static inline const uint8_t *
sym_scan_ulebs(const uint8_t *p, const uint8_t *end, unsigned n)
{
    uint64_t last, upto, before;

    if (n == 0) {
        return p;
    }

    for (;; p += 8) {
        if (p >= end) {
            return end;
        }

        /* bit 0 of each byte that ends a number, then how many end up to it */
        last = ~sym_scan_word(p) >> 7 & SYM_EACH_BYTE;
        upto = last * SYM_EACH_BYTE;
        if (upto >> 56 >= n) {
            break;
        }
        n -= (unsigned) (upto >> 56);
    }

    before = (n + 127) * SYM_EACH_BYTE - upto;
    p += sym_scan_sum(before >> 7 & SYM_EACH_BYTE) + 1;
    return p < end ? p : end;
}

#endif
