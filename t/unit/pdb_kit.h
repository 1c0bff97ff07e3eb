/*
 * pdb_kit.h - type and id records, written by hand.
 *
 * A kit_stream_t grows by records; kit_types() and kit_ids() put the header before
 * it (LLVM: docs/PDB/TpiStream.rst).
 */
#ifndef T_UNIT_PDB_KIT_H
#define T_UNIT_PDB_KIT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/str.h"

#define KIT_FIRST 0x1000u

typedef struct {
    sym_buffer_t bytes;
    uint32_t n;
} kit_stream_t;

__attribute__((unused)) static void
kit_put(kit_stream_t *s, uint64_t value, size_t len)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t) (value >> 8 * i);
    }

    sym_buffer_put(&s->bytes, bytes, len);
}


/*
 * Adds a record and returns its index.  Letters of the fields: h is 16 bits, w
 * 32 bits, s a string with its NUL, p a string after its length.
 */
__attribute__((unused)) static uint32_t
kit_record(kit_stream_t *s, unsigned kind, const char *fields, ...)
{
    kit_stream_t record = { 0 };
    va_list args;

    kit_put(&record, kind, 2);
    va_start(args, fields);
    for (; *fields != '\0'; fields++) {
        if (*fields == 'h') {
            kit_put(&record, va_arg(args, unsigned), 2);
        } else if (*fields == 'w') {
            kit_put(&record, va_arg(args, unsigned), 4);
        } else {
            const char *text = va_arg(args, const char *);

            if (*fields == 'p') {
                kit_put(&record, strlen(text), 1);
            }
            sym_buffer_put(&record.bytes, text,
                           strlen(text) + (*fields == 's'));
        }
    }
    va_end(args);

    kit_put(s, record.bytes.len, 2);
    sym_buffer_put(&s->bytes, record.bytes.data, record.bytes.len);
    sym_buffer_free(&record.bytes);
    return KIT_FIRST + s->n++;
}


/* The stream with its header; the caller must free() it. */
__attribute__((unused)) static sym_str_t
kit_stream(const kit_stream_t *s)
{
    kit_stream_t whole = { 0 };

    kit_put(&whole, 20040203, 4);
    kit_put(&whole, 56, 4);
    kit_put(&whole, KIT_FIRST, 4);
    kit_put(&whole, KIT_FIRST + s->n, 4);
    kit_put(&whole, s->bytes.len, 4);
    for (int i = 0; i < 9; i++) {
        kit_put(&whole, 0, 4);
    }
    sym_buffer_put(&whole.bytes, s->bytes.data, s->bytes.len);
    return sym_str((const char *) whole.bytes.data, whole.bytes.len);
}

#endif
