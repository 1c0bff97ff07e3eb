/*
 * cursor.h - bounded reading of untrusted bytes.
 *
 * Readers of binary data in core/ use a sym_cursor_t; hot loops check their
 * bounds themselves.  The cursor borrows the caller's bytes (usually a mapping)
 * and owns nothing.  Offsets are bytes from the start of `section`.  The first
 * failure fills *err and empties the cursor.  Later reads return 0, and loops
 * on sym_left() end, so a caller checks sym_ok() once per record, not per
 * field.  Numbers are little endian unless is_big_endian is set; a sub-cursor
 * inherits it.
 */
#ifndef SYM_BASE_CURSOR_H
#define SYM_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/little.h"
#include "base/str.h"

typedef struct {
    const uint8_t *start, *pos, *end;
    const char *section;
    sym_error_t *err; /* shared with every sub-cursor; first failure wins */
    bool is_big_endian;
} sym_cursor_t;

static inline sym_cursor_t
sym_cursor(const void *data, size_t len, const char *section, sym_error_t *err)
{
    const uint8_t *p = data;

    return (sym_cursor_t){ p, p, p + len, section, err, false };
}


static inline size_t
sym_left(const sym_cursor_t *c)
{
    return (size_t) (c->end - c->pos);
}


static inline bool
sym_ok(const sym_cursor_t *c)
{
    return c->err->status == SYM_OK;
}


/* Records the cursor's position in the error, then empties the cursor. */
void sym_cursor_fail(sym_cursor_t *c, sym_status_t status, const char *what);

/* Skips len bytes of a number and returns their start.  NULL: the input is too
 * short. */
static inline const uint8_t *
sym_cursor_number(sym_cursor_t *c, size_t len)
{
    const uint8_t *p = c->pos;

    if (sym_left(c) < len) {
        sym_cursor_fail(c, SYM_TRUNCATED, "number runs past its container");
        return NULL;
    }

    c->pos += len;
    return p;
}


/* Missing bytes count as 0. */
static inline uint8_t
sym_u8(sym_cursor_t *c)
{
    const uint8_t *p = sym_cursor_number(c, 1);

    return p != NULL ? *p : 0;
}


static inline uint16_t
sym_u16(sym_cursor_t *c)
{
    const uint8_t *p = sym_cursor_number(c, 2);
    const uint16_t value = p != NULL ? (uint16_t) sym_get16(p) : 0;

    return c->is_big_endian ? __builtin_bswap16(value) : value;
}


static inline uint32_t
sym_u32(sym_cursor_t *c)
{
    const uint8_t *p = sym_cursor_number(c, 4);
    const uint32_t value = p != NULL ? sym_get32(p) : 0;

    return c->is_big_endian ? __builtin_bswap32(value) : value;
}


static inline uint64_t
sym_u64(sym_cursor_t *c)
{
    const uint8_t *p = sym_cursor_number(c, 8);
    const uint64_t value = p != NULL ? sym_get64(p) : 0;

    return c->is_big_endian ? __builtin_bswap64(value) : value;
}


/* Reads LEB128 (DWARF 5, section 7.6); more than 64 bits are malformed. */
uint64_t sym_uleb(sym_cursor_t *c);
int64_t sym_sleb(sym_cursor_t *c);

/* Returns the next len bytes, borrowed; data is NULL on failure. */
sym_str_t sym_bytes(sym_cursor_t *c, uint64_t len);

/* Moves the next len bytes of c into a cursor of their own.  A sub-cursor can
 * narrow, never widen. */
static inline sym_cursor_t
sym_take(sym_cursor_t *c, uint64_t len)
{
    sym_cursor_t sub = *c;

    if (len > sym_left(c)) {
        sym_cursor_fail(c, SYM_TRUNCATED, "length runs past its container");
        return *c; /* empty */
    }

    sub.end = c->pos + len;
    c->pos = sub.end;
    return sub;
}

#endif
