/*
 * protobuf.h - fields of protobuf messages, read and written one at a time.
 *
 * There are no generated types, and no tree is built: a reader loops over the
 * fields of a message, uses those that it knows, and skips the others.  Bytes
 * are views of the input.  Untrusted input is bounded by its cursor.
 *
 * Source: protobuf's "Encoding" page.
 */
#ifndef SYM_BASE_PROTOBUF_H
#define SYM_BASE_PROTOBUF_H

#include "base/buffer.h"
#include "base/cursor.h"

/* Wire types.  Groups (3 and 4) are refused. */
typedef enum {
    SYM_PB_VARINT = 0,
    SYM_PB_FIXED64 = 1,
    SYM_PB_BYTES = 2,
    SYM_PB_FIXED32 = 5
} sym_pb_type_t;

/* Maximum length of a varint. */
#define SYM_PB_VARINT_MAX 10

typedef struct {
    uint32_t number;
    sym_pb_type_t type;
    uint64_t value;  /* of a number */
    sym_str_t bytes; /* for SYM_PB_BYTES */
} sym_pb_field_t;

/* Reads a varint of any length. */
uint64_t sym_pb_long_varint(sym_cursor_t *c);

/* Returns 0 after a failure. */
static inline uint64_t
sym_pb_varint(sym_cursor_t *c)
{
    const uint8_t *p = c->pos;

    if (sym_left(c) >= 2) {
        if (p[0] < 0x80) {
            c->pos++;
            return p[0];
        }

        if (p[1] < 0x80) {
            c->pos += 2;
            return (uint64_t) (p[0] & 0x7f) | (uint64_t) p[1] << 7;
        }
    }

    return sym_pb_long_varint(c);
}


/* Reads the next field of a message; false: the end, or a failure. */
bool sym_pb_next(sym_cursor_t *c, sym_pb_field_t *field);

static inline int64_t
sym_pb_zigzag(uint64_t v)
{
    return (int64_t) (v >> 1 ^ (0 - (v & 1)));
}


static inline uint64_t
sym_pb_unzigzag(int64_t v)
{
    return (uint64_t) v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}


/* --- writing --- */

void sym_pb_put_varint(sym_buffer_t *b, uint64_t value);

/* Write a field that is a number, and one that is bytes. */
void sym_pb_put_number(sym_buffer_t *b, uint32_t number, uint64_t value);
void sym_pb_put_bytes(sym_buffer_t *b, uint32_t number, sym_str_t bytes);

#endif
