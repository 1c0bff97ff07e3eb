/*
 * fast_line.h - parses ordinary line records, "addr size line file", at memory
 * speed.
 *
 * Most bytes of a .sym file are such records.  A record is parsed without a
 * loop.  Sixteen bytes at a time are compared with the digits.  Bytes that are
 * not digits end the fields.  Each field is converted by arithmetic on its
 * eight bytes.  Other records (a field over eight digits, other white space, a
 * size of 0) are left to records.h, which returns the record or the error.
 */
#ifndef SYM_FORMATS_BREAKPAD_FAST_LINE_H
#define SYM_FORMATS_BREAKPAD_FAST_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t addr, size;
    uint32_t line, file;
} sym_fast_line_t;

/* Bytes that must be readable for sym_fast_line(). */
#define SYM_FAST_LINE_BYTES 48

#if defined(__SSE2__)

#include <emmintrin.h>

#define SYM_HAS_FAST_LINE 1

/* Bits for the 16 bytes at p: set for a byte that is not a decimal digit, or
 * not a hexadecimal one. */
static inline void
sym_fast_classify(const char *p, uint32_t *not_dec, uint32_t *not_hex)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *) (const void *) p);
    __m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    __m128i letter = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)),
                                  _mm_set1_epi8('a'));
    __m128i is_dec =
        _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    __m128i is_letter =
        _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);

    *not_dec = (uint32_t) _mm_movemask_epi8(is_dec) ^ 0xffffu;
    *not_hex =
        (uint32_t) _mm_movemask_epi8(_mm_or_si128(is_dec, is_letter)) ^ 0xffffu;
}


/* The n digits (1 to 8) at p, shifted to the high end; the first digit is
 * lowest. */
static inline uint64_t
sym_fast_digits(const char *p, unsigned n)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v << (64 - 8 * n);
}


static inline uint32_t
sym_fast_hex(const char *p, unsigned n)
{
    uint64_t v = sym_fast_digits(p, n);

    v = (v & 0x0f0f0f0f0f0f0f0fu) + 9 * (v >> 6 & 0x0101010101010101u);
    v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;
    v = (v << 8 | v >> 16) & 0x0000ffff0000ffffu;
    return (uint32_t) (v << 16 | v >> 32);
}


static inline uint32_t
sym_fast_dec(const char *p, unsigned n)
{
    uint64_t v = sym_fast_digits(p, n) & 0x0f0f0f0f0f0f0f0fu;

    v = (v * (1 + (10 << 8))) >> 8 & 0x00ff00ff00ff00ffu;
    v = (v * (1 + (100 << 16))) >> 16 & 0x0000ffff0000ffffu;
    return (uint32_t) ((v * (1 + (10000ull << 32))) >> 32);
}


/* Reads one record and returns the start of the next line.  NULL: the record is
   not ordinary. */
static inline const char *
sym_fast_line(const char *p, sym_fast_line_t *out)
{
    uint32_t dec_low, dec_high, hex_low, hex_high;
    uint64_t hex, dec, all = 0xffffffff00000000u; /* ignores bits of bytes
                                                     that were not compared */
    unsigned e0, e1, e2, e3;

    sym_fast_classify(p, &dec_low, &hex_low);
    sym_fast_classify(p + 16, &dec_high, &hex_high);
    hex = all | hex_high << 16 | hex_low;
    dec = all | dec_high << 16 | dec_low;

    e0 = (unsigned) __builtin_ctzll(hex);
    hex &= hex - 1;
    e1 = (unsigned) __builtin_ctzll(hex);
    dec &= ~(uint64_t) 1 << e1; /* keeps only bits beyond the second end */
    e2 = (unsigned) __builtin_ctzll(dec);
    dec &= dec - 1;
    e3 = (unsigned) __builtin_ctzll(dec);

    /* every field has 1 to 8 digits; then e3 <= 35 */
    if (((e0 - 1) | (e1 - e0 - 2) | (e2 - e1 - 2) | (e3 - e2 - 2)) > 7) {
        return NULL;
    }

    if (p[e0] != ' ' || p[e1] != ' ' || p[e2] != ' ' || p[e3] != '\n') {
        return NULL;
    }

    out->addr = sym_fast_hex(p, e0);
    out->size = sym_fast_hex(p + e0 + 1, e1 - e0 - 1);
    out->line = sym_fast_dec(p + e1 + 1, e2 - e1 - 1);
    out->file = sym_fast_dec(p + e2 + 1, e3 - e2 - 1);
    return p + e3 + 1;
}

#endif
#endif
