#include "formats/dwarf/bytes.h"

#define LENGTH_64 0xffffffffu
#define LENGTH_RESERVED 0xfffffff0u

sym_dw_bytes_t
sym_dw_bytes_at(sym_str_t section, const char *name, uint64_t offset,
                bool is_swapped, sym_error_t *err)
{
    const char *data = section.data != NULL ? section.data : "";
    sym_dw_bytes_t b = { sym_cursor(data, section.len, name, err), is_swapped };

    if (offset > section.len) {
        sym_cursor_fail(&b.c, SYM_MALFORMED, "offset past the section's end");
        return b;
    }

    b.c.pos += offset;
    return b;
}


void
sym_dw_truncated(sym_dw_bytes_t *b)
{
    sym_cursor_fail(&b->c, SYM_TRUNCATED, "data runs past its container");
}


uint64_t
sym_dw_number(sym_dw_bytes_t *b, unsigned size)
{
    uint32_t low;

    switch (size) {
    case 1:
        return sym_dw_u8(b);
    case 2:
        return sym_dw_u16(b);
    case 3:
        /* no machine has three-byte numbers: the byte order decides which half
         * is first */
        if (b->is_swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) {
            low = (uint32_t) sym_dw_u16(b) << 8;
            return low | sym_dw_u8(b);
        }
        low = sym_dw_u16(b);
        return low | (uint32_t) sym_dw_u8(b) << 16;
    case 4:
        return sym_dw_u32(b);
    case 8:
        return sym_dw_u64(b);
    default:
        sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "number of an odd size");
        return 0;
    }
}


void
sym_dw_pass_uleb(sym_dw_bytes_t *b)
{
    while (sym_dw_u8(b) & 0x80) {
        /* skips the value */
    }
}


sym_str_t
sym_dw_string(sym_dw_bytes_t *b)
{
    const uint8_t *start = b->c.pos, *end = start;
    size_t left = sym_dw_left(b);

    /* strings in place are short, and a call costs more than this loop */
    while (left != 0 && end - start < 8 && *end != '\0') {
        end++;
        left--;
    }

    end = left == 0 ? NULL : memchr(end, '\0', left);
    if (end == NULL) {
        sym_cursor_fail(&b->c, SYM_TRUNCATED, "text without an end");
        return sym_str("", 0);
    }

    b->c.pos = end + 1;
    return sym_str((const char *) start, (size_t) (end - start));
}


bool
sym_dw_unit_bytes(sym_dw_bytes_t *b, sym_dw_bytes_t *unit, uint8_t *offset_size)
{
    uint64_t len = sym_dw_u32(b);

    *unit = *b;
    *offset_size = 4;

    if (len == LENGTH_64) {
        len = sym_dw_u64(b);
        *offset_size = 8;
    } else if (len >= LENGTH_RESERVED) {
        sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "reserved unit length");
    }

    unit->c = sym_take(&b->c, len);
    return sym_ok(&b->c);
}
