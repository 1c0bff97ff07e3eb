/*
 * fast_inline.h - parses ordinary INLINE records, "INLINE depth line file
 * origin addr size addr size ...", in the way of fast_line.h.
 *
 * The bytes of its fields are compared with the digits 64 at a time.  Longer
 * records, and records of another form (such as the form of 2021), are left to
 * records.h.
 */
#ifndef SYM_FORMATS_BREAKPAD_FAST_INLINE_H
#define SYM_FORMATS_BREAKPAD_FAST_INLINE_H

#include "formats/breakpad/fast_line.h"

#define SYM_FAST_INLINE_LOOK 64

/* An upper bound: every number takes a digit and a separator. */
#define SYM_FAST_RANGES (SYM_FAST_INLINE_LOOK / 4)

typedef struct {
    uint32_t depth, call_line, call_file, origin;
    unsigned n_ranges;
    struct {
        uint32_t addr, size;
    } ranges[SYM_FAST_RANGES];
} sym_fast_inline_t;

/* Bytes after the keyword that must be readable. */
#define SYM_FAST_INLINE_BYTES (SYM_FAST_INLINE_LOOK + 8)

#ifdef SYM_HAS_FAST_LINE

/* The remaining compared bytes. */
typedef struct {
    const char *p;
    uint64_t ends; /* a bit for each byte that is not a digit */
    unsigned at;   /* start of the next field */
} sym_fast_fields_t;

/* Reads the next field, of *n digits (1 to 8).  False: the field is not
 * ordinary. */
static inline bool
sym_fast_next(sym_fast_fields_t *f, const char **digits, unsigned *n)
{
    unsigned end;

    if (f->ends == 0) {
        return false;
    }

    end = (unsigned) __builtin_ctzll(f->ends);
    *digits = f->p + f->at;
    *n = end - f->at;
    f->ends &= f->ends - 1;
    f->at = end + 1;
    return *n - 1 <= 7;
}


static inline bool
sym_fast_next_dec(sym_fast_fields_t *f, uint32_t *value)
{
    const char *digits;
    unsigned n;

    if (!sym_fast_next(f, &digits, &n) || digits[n] != ' ') {
        return false;
    }

    *value = sym_fast_dec(digits, n);
    return true;
}


/* Reads the next hexadecimal field, and the byte after it. */
static inline bool
sym_fast_next_hex(sym_fast_fields_t *f, uint32_t *value, char *end)
{
    const char *digits;
    unsigned n;

    if (!sym_fast_next(f, &digits, &n)) {
        return false;
    }

    *value = sym_fast_hex(digits, n);
    *end = digits[n];
    return true;
}


/* Reads the record after "INLINE " and returns the start of the next line.
 * NULL: the record is not ordinary. */
static inline const char *
sym_fast_inline(const char *p, sym_fast_inline_t *out)
{
    uint64_t not_dec = 0, not_hex = 0;
    sym_fast_fields_t f = { .p = p };
    char end = ' ';

    for (unsigned i = 0; i < SYM_FAST_INLINE_LOOK; i += 16) {
        uint32_t dec, hex;

        sym_fast_classify(p + i, &dec, &hex);
        not_dec |= (uint64_t) dec << i;
        not_hex |= (uint64_t) hex << i;
    }

    f.ends = not_dec;
    if (!sym_fast_next_dec(&f, &out->depth)
        || !sym_fast_next_dec(&f, &out->call_line)
        || !sym_fast_next_dec(&f, &out->call_file)
        || !sym_fast_next_dec(&f, &out->origin))
    {
        return NULL;
    }

    /* four fields and their ends: at most 36 bytes */
    f.ends = not_hex >> f.at << f.at;
    for (out->n_ranges = 0; end == ' '; out->n_ranges++) {
        if (!sym_fast_next_hex(&f, &out->ranges[out->n_ranges].addr, &end)
            || end != ' '
            || !sym_fast_next_hex(&f, &out->ranges[out->n_ranges].size, &end))
        {
            return NULL;
        }
    }

    return end == '\n' ? p + f.at : NULL;
}

#endif
#endif
