#include "base/protobuf.h"

#define FIELD_NUMBER_MAX 536870911 /* 2^29 - 1 */

uint64_t
sym_pb_long_varint(sym_cursor_t *c)
{
    const size_t left = sym_left(c);
    const size_t max = left < SYM_PB_VARINT_MAX ? left : SYM_PB_VARINT_MAX;
    uint64_t value = 0;

    for (size_t i = 0; i < max; i++) {
        const uint8_t byte = c->pos[i];

        value |= (uint64_t) (byte & 0x7f) << (7 * i);

        if (byte < 0x80) {
            c->pos += i + 1;
            return value;
        }
    }

    sym_cursor_fail(c, max < SYM_PB_VARINT_MAX ? SYM_TRUNCATED : SYM_MALFORMED,
                    max < SYM_PB_VARINT_MAX ? "number runs past its container"
                                            : "number has more than ten bytes");
    return 0;
}


bool
sym_pb_next(sym_cursor_t *c, sym_pb_field_t *field)
{
    uint64_t tag;

    if (sym_left(c) == 0) {
        return false;
    }

    tag = sym_pb_varint(c);
    field->number = (uint32_t) (tag >> 3);
    field->type = (sym_pb_type_t) (tag & 7);

    if (sym_ok(c) && (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)) {
        sym_cursor_fail(c, SYM_MALFORMED, "invalid number of a field");
    }

    switch (field->type) {
    case SYM_PB_VARINT:
        field->value = sym_pb_varint(c);
        break;
    case SYM_PB_FIXED64:
        field->value = sym_u64(c);
        break;
    case SYM_PB_FIXED32:
        field->value = sym_u32(c);
        break;
    case SYM_PB_BYTES:
        field->bytes = sym_bytes(c, sym_pb_varint(c));
        break;
    default:
        sym_cursor_fail(c, SYM_MALFORMED, "invalid type of a field");
    }

    return sym_ok(c);
}


void
sym_pb_put_varint(sym_buffer_t *b, uint64_t value)
{
    if (sym_buffer_room(b, SYM_LEB_MAX)) {
        b->len = (size_t) (sym_uleb_write(b->data + b->len, value) - b->data);
    }
}


void
sym_pb_put_number(sym_buffer_t *b, uint32_t number, uint64_t value)
{
    sym_pb_put_varint(b, (uint64_t) number << 3 | SYM_PB_VARINT);
    sym_pb_put_varint(b, value);
}


void
sym_pb_put_bytes(sym_buffer_t *b, uint32_t number, sym_str_t bytes)
{
    sym_pb_put_varint(b, (uint64_t) number << 3 | SYM_PB_BYTES);
    sym_pb_put_varint(b, bytes.len);
    sym_buffer_put(b, bytes.data, bytes.len);
}
