#include "formats/native/debuglink.h"

#include <zlib.h>

sym_str_t
sym_debuglink_name(sym_cursor_t *c)
{
    const uint8_t *end =
        sym_left(c) == 0 ? NULL : memchr(c->pos, '\0', sym_left(c));
    sym_str_t name;

    if (end == NULL) {
        sym_cursor_fail(c, SYM_MALFORMED, "file name does not end");
        return sym_str("", 0);
    }

    if (end == c->pos) {
        sym_cursor_fail(c, SYM_MALFORMED, "file name is empty");
        return sym_str("", 0);
    }

    name = sym_bytes(c, (uint64_t) (end - c->pos));
    (void) sym_u8(c);
    return name;
}


/* The name, padded to a multiple of four, then the CRC-32. */
sym_status_t
sym_debuglink_read(sym_cursor_t *c, sym_debuglink_t *link)
{
    link->name = sym_debuglink_name(c);
    (void) sym_bytes(c, (4 - (link->name.len + 1) % 4) % 4);
    link->crc = sym_u32(c);
    return c->err->status;
}


uint32_t
sym_debuglink_crc(uint32_t crc, const uint8_t *data, size_t len)
{
    return (uint32_t) crc32_z(crc, data, len);
}
