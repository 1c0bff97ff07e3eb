/*
 * bytes.h - DWARF's own bounded cursor: numbers in the file's byte order,
 * offsets of 4 or 8 bytes, and inline functions for the hot loops.
 *
 * It borrows the section.  As with a sym_cursor_t, the first failure fills *err
 * and empties the cursor, and later reads return 0.
 */
#ifndef SYM_FORMATS_DWARF_BYTES_H
#define SYM_FORMATS_DWARF_BYTES_H

#include "base/cursor.h"

typedef struct {
    sym_cursor_t c;
    bool is_swapped; /* the file's byte order is not this machine's */
} sym_dw_bytes_t;

/* A cursor from the offset on.  It fails if the offset is beyond the section's
 * end. */
sym_dw_bytes_t sym_dw_bytes_at(sym_str_t section, const char *name,
                               uint64_t offset, bool is_swapped,
                               sym_error_t *err);

static inline size_t
sym_dw_left(const sym_dw_bytes_t *b)
{
    return (size_t) (b->c.end - b->c.pos);
}


static inline uint64_t
sym_dw_offset(const sym_dw_bytes_t *b)
{
    return (uint64_t) (b->c.pos - b->c.start);
}


/* Empties the cursor, because the bytes to read do not exist. */
void sym_dw_truncated(sym_dw_bytes_t *b);

static inline void
sym_dw_skip(sym_dw_bytes_t *b, uint64_t n)
{
    if (n > sym_dw_left(b)) {
        sym_dw_truncated(b);
        return;
    }

    b->c.pos += n;
}


static inline uint8_t
sym_dw_u8(sym_dw_bytes_t *b)
{
    if (sym_dw_left(b) == 0) {
        sym_dw_truncated(b);
        return 0;
    }

    return *b->c.pos++;
}


static inline uint16_t
sym_dw_u16(sym_dw_bytes_t *b)
{
    uint16_t v;

    if (sym_dw_left(b) < sizeof(v)) {
        sym_dw_truncated(b);
        return 0;
    }

    memcpy(&v, b->c.pos, sizeof(v));
    b->c.pos += sizeof(v);
    return b->is_swapped ? __builtin_bswap16(v) : v;
}


static inline uint32_t
sym_dw_u32(sym_dw_bytes_t *b)
{
    uint32_t v;

    if (sym_dw_left(b) < sizeof(v)) {
        sym_dw_truncated(b);
        return 0;
    }

    memcpy(&v, b->c.pos, sizeof(v));
    b->c.pos += sizeof(v);
    return b->is_swapped ? __builtin_bswap32(v) : v;
}


static inline uint64_t
sym_dw_u64(sym_dw_bytes_t *b)
{
    uint64_t v;

    if (sym_dw_left(b) < sizeof(v)) {
        sym_dw_truncated(b);
        return 0;
    }

    memcpy(&v, b->c.pos, sizeof(v));
    b->c.pos += sizeof(v);
    return b->is_swapped ? __builtin_bswap64(v) : v;
}


/* A number of 1, 2, 3, 4 or 8 bytes: offsets, addresses, indices. */
uint64_t sym_dw_number(sym_dw_bytes_t *b, unsigned size);

static inline uint64_t
sym_dw_uleb(sym_dw_bytes_t *b)
{
    if (b->c.pos != b->c.end && *b->c.pos < 0x80) {
        return *b->c.pos++;
    }

    return sym_uleb(&b->c);
}


static inline int64_t
sym_dw_sleb(sym_dw_bytes_t *b)
{
    if (b->c.pos != b->c.end && *b->c.pos < 0x80) {
        uint8_t v = *b->c.pos++;

        return v < 0x40 ? v : (int64_t) v - 0x80;
    }

    return sym_sleb(&b->c);
}


/* Skips a signed or unsigned LEB128. */
void sym_dw_pass_uleb(sym_dw_bytes_t *b);

/* Reads up to the NUL, and skips the NUL.  Fails if no NUL follows. */
sym_str_t sym_dw_string(sym_dw_bytes_t *b);

/*
 * Reads the initial length of a unit (7.4).  *unit gets the unit's bytes, `b`
 * moves to their end, *offset_size becomes 4 or 8.  False on failure.
 */
bool sym_dw_unit_bytes(sym_dw_bytes_t *b, sym_dw_bytes_t *unit,
                       uint8_t *offset_size);

#endif
