#include "base/cursor.h"

void
sym_cursor_fail(sym_cursor_t *c, sym_status_t status, const char *what)
{
    if (sym_ok(c)) {
        c->err->section = c->section;
        c->err->offset = (uint64_t) (c->pos - c->start);
        (void) sym_fail(c->err, status, what);
    }

    c->pos = c->end;
}


uint64_t
sym_uleb(sym_cursor_t *c)
{
    uint64_t value = 0;
    const uint8_t *p = c->pos;

    for (unsigned shift = 0;; shift += 7, p++) {
        if (p == c->end) {
            sym_cursor_fail(c, SYM_TRUNCATED, "LEB128 runs past its container");
            return 0;
        }

        /* redundant zero bytes past 64 bits are legal padding */
        if (shift < 63) {
            value |= (uint64_t) (*p & 0x7f) << shift;
        } else if ((*p & 0x7f) > (shift == 63 ? 1 : 0)) {
            sym_cursor_fail(c, SYM_MALFORMED, "LEB128 over 64 bits");
            return 0;
        } else if (shift == 63) {
            value |= (uint64_t) (*p & 1) << 63;
        }

        if ((*p & 0x80) == 0) {
            c->pos = p + 1;
            return value;
        }
    }
}


int64_t
sym_sleb(sym_cursor_t *c)
{
    uint64_t value = 0;
    const uint8_t *p = c->pos;

    for (unsigned shift = 0;; shift += 7, p++) {
        if (p == c->end) {
            sym_cursor_fail(c, SYM_TRUNCATED, "LEB128 runs past its container");
            return 0;
        }

        if (shift < 63) {
            value |= (uint64_t) (*p & 0x7f) << shift;
        } else {
            /* bits beyond 64 must only repeat the sign */
            uint8_t sign = shift == 63 ? (*p & 1) : (uint8_t) (value >> 63);

            if ((*p & 0x7f) != (sign ? 0x7f : 0)) {
                sym_cursor_fail(c, SYM_MALFORMED, "LEB128 over 64 bits");
                return 0;
            }
            value |= (uint64_t) sign << 63;
        }

        if ((*p & 0x80) == 0) {
            if (shift + 7 < 64 && (*p & 0x40)) {
                value |= ~(uint64_t) 0 << (shift + 7);
            }
            c->pos = p + 1;
            return (int64_t) value;
        }
    }
}


sym_str_t
sym_bytes(sym_cursor_t *c, uint64_t len)
{
    sym_str_t s = { (const char *) c->pos, (size_t) len };

    if (len > sym_left(c)) {
        sym_cursor_fail(c, SYM_TRUNCATED, "bytes run past their container");
        return (sym_str_t){ NULL, 0 };
    }

    c->pos += len;
    return s;
}
