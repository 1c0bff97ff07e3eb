/*
 * scan.h - searches in the columns of a piece, a word of eight bytes at a time.
 *
 * A lookup reads a place in each column that no processor can foresee, so a
 * loop over single numbers pays for a wrong guess at its end, and one over
 * LEB128 for a guess at each byte.  Here the numbers of a word are added up and
 * compared side by side, by plain arithmetic.
 *
 * Columns are little endian.  Nothing at or behind `end` is read: what is not
 * there counts as zeros.
 */
#ifndef SYM_SYMCACHE_SCAN_H
#define SYM_SYMCACHE_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SYM_EACH_BYTE 0x0101010101010101u

/* The next eight bytes, the first of them lowest. */
static inline uint64_t
sym_scan_word(const uint8_t *p, const uint8_t *end)
{
    uint64_t v = 0;

    if (end - p >= (ptrdiff_t) sizeof(v)) {
        memcpy(&v, p, sizeof(v));
    } else if (p < end) {
        memcpy(&v, p, (size_t) (end - p));
    }

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
 * sum is more than `most`; n <= 32.
 */
static inline unsigned
sym_scan_deltas(const uint8_t *p, const uint8_t *end, unsigned n, unsigned bits,
                uint32_t most)
{
    /* lanes of two numbers, so that sums find room: the highest bit is free */
    const unsigned lane = 2 * bits, per_word = 64 / bits;
    const uint64_t each = bits == 8 ? 0x0001000100010001u : 0x0000000100000001u;
    const uint64_t low = each * ((1u << bits) - 1), high = each << (lane - 1);
    const uint32_t all = 32u << bits; /* more than any sum */
    uint64_t left = most < all ? most : all;
    unsigned count = 0;

    for (unsigned i = 0; i < n; i += per_word) {
        uint64_t v = sym_scan_word(p + i * bits / 8, end);
        uint64_t odd = v >> bits & low;
        uint64_t sums = ((v & low) + odd) * each; /* up to each odd number */
        uint64_t limit = each * left | high, fit;

        fit = ((limit - sums) & high) >> (lane - 1);
        fit += ((limit - (sums - odd)) & high) >> (lane - 1);
        count += (unsigned) (fit * each >> (64 - lane));

        if (sums >> (64 - lane) > left) {
            break;
        }
        left -= sums >> (64 - lane);
    }

    return count < n ? count : n;
}


/* How many numbers the exceptions of the first n <= 32 line codes have. */
static inline unsigned
sym_scan_exceptions(const uint8_t *codes, const uint8_t *end, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i += 8) {
        uint64_t v = sym_scan_word(codes + i, end), far;

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
    while (n != 0 && p < end) {
        /* bit 0 of each byte that ends a number, then how many end up to it */
        uint64_t last = ~sym_scan_word(p, end) >> 7 & SYM_EACH_BYTE;
        uint64_t upto = last * SYM_EACH_BYTE, before;

        if (upto >> 56 < n) {
            n -= (unsigned) (upto >> 56);
            p += 8;
            continue;
        }

        before = (n + 127) * SYM_EACH_BYTE - upto;
        p += sym_scan_sum(before >> 7 & SYM_EACH_BYTE) + 1;
        n = 0;
    }

    return p < end ? p : end;
}

#endif
