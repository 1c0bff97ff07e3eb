#include "formats/pdb/records.h"

#include <stdlib.h>
#include <string.h>

/* LLVM: TpiStream.rst, "Stream Header" */
#define HEADER_BYTES 56

/* A record begins with u16 length and u16 kind. */
#define RECORD_BYTES 4

/* CV_prop_t (cvinfo.h) */
#define IS_FORWARD 0x80u
#define HAS_UNIQUE_NAME 0x200u

/* LF_NUMERIC (cvinfo.h): kinds of numbers; a value below is the number
 * itself. */
#define NUMBER_CHAR 0x8000u
#define NUMBER_USHORT 0x8002u
#define NUMBER_ULONG 0x8004u
#define NUMBER_UQUADWORD 0x800au


/* Records are contiguous, each preceded by its length. */
static sym_status_t
index_records(sym_pdb_records_t *records, sym_cursor_t *c)
{
    const uint8_t *stream = c->start;
    size_t at = (size_t) (c->pos - stream), end = (size_t) (c->end - stream);

    for (uint32_t i = 0; i < records->n; i++) {
        size_t len = 0;

        if (end - at >= RECORD_BYTES) {
            len = (size_t) (stream[at] | stream[at + 1] << 8);
        }

        if (len < 2 || len > end - at - 2) {
            c->pos = stream + at;
            sym_cursor_fail(c, SYM_MALFORMED, "record runs past the stream");
            return SYM_MALFORMED;
        }

        records->offsets[i] = (uint32_t) at;
        at += 2 + len;
    }

    return SYM_OK;
}


sym_status_t
sym_pdb_records_open(sym_pdb_records_t *records, sym_str_t stream,
                     const char *section, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(stream.data, stream.len, section, err);
    uint32_t header, end, bytes;

    *records = (sym_pdb_records_t){ .stream = stream };
    if (stream.len == 0) {
        return SYM_OK;
    }

    (void) sym_u32(&c); /* version */
    header = sym_u32(&c);
    records->first = sym_u32(&c);
    end = sym_u32(&c);
    bytes = sym_u32(&c);

    if (sym_ok(&c)
        && (header < HEADER_BYTES || records->first < SYM_PDB_FIRST_RECORD
            || end < records->first || stream.len > UINT32_MAX))
    {
        sym_cursor_fail(&c, SYM_MALFORMED, "header of types");
    }

    if (sym_ok(&c)) {
        (void) sym_bytes(&c, header - (uint32_t) (c.pos - c.start));
        c = sym_take(&c, bytes);
    }

    if (sym_ok(&c) && end - records->first > sym_left(&c) / RECORD_BYTES) {
        sym_cursor_fail(&c, SYM_MALFORMED, "more types than bytes");
    }

    if (!sym_ok(&c)) {
        return err->status;
    }

    records->n = end - records->first;
    if (records->n == 0) {
        return SYM_OK;
    }

    records->offsets = malloc(records->n * sizeof(*records->offsets));
    if (records->offsets == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    return index_records(records, &c);
}


bool
sym_pdb_records_get(const sym_pdb_records_t *records, uint32_t index,
                    sym_pdb_record_t *record)
{
    const char *at;
    size_t len;

    record->index = index;
    if (index < records->first || index - records->first >= records->n) {
        return false;
    }

    at = records->stream.data + records->offsets[index - records->first];
    len = (size_t) ((uint8_t) at[0] | (uint8_t) at[1] << 8);
    record->err = (sym_error_t){ 0 };
    record->fields = sym_cursor(at + 2, len, "type record", &record->err);
    record->kind = sym_u16(&record->fields);
    return true;
}


uint64_t
sym_pdb_read_number(sym_pdb_record_t *record)
{
    sym_cursor_t *c = &record->fields;
    uint16_t kind = sym_u16(c);

    switch (kind) {
    case NUMBER_CHAR:
        return sym_u8(c);
    case NUMBER_USHORT:
        return sym_u16(c);
    case NUMBER_ULONG:
        return sym_u32(c);
    case NUMBER_UQUADWORD:
        return sym_u64(c);
    default:
        if (kind >= NUMBER_CHAR) {
            sym_cursor_fail(c, SYM_UNSUPPORTED, "kind of a number");
        }
        return kind;
    }
}


sym_str_t
sym_pdb_read_text(sym_pdb_record_t *record)
{
    sym_cursor_t *c = &record->fields;
    const uint8_t *end;
    sym_str_t text;

    if (record->kind < SYM_LF_ST_MAX) {
        return sym_bytes(c, sym_u8(c));
    }

    end = sym_left(c) != 0 ? memchr(c->pos, '\0', sym_left(c)) : NULL;
    if (end == NULL) {
        sym_cursor_fail(c, SYM_TRUNCATED, "text without an end");
        return sym_str(NULL, 0);
    }

    text = sym_bytes(c, (uint64_t) (end - c->pos));
    (void) sym_u8(c);
    return text;
}


bool
sym_pdb_is_class(uint16_t kind)
{
    switch (kind) {
    case SYM_LF_CLASS_ST:
    case SYM_LF_STRUCTURE_ST:
    case SYM_LF_UNION_ST:
    case SYM_LF_CLASS:
    case SYM_LF_STRUCTURE:
    case SYM_LF_UNION:
    case SYM_LF_INTERFACE:
    case SYM_LF_CLASS2:
    case SYM_LF_STRUCTURE2:
    case SYM_LF_UNION2:
    case SYM_LF_INTERFACE2:
        return true;
    default:
        return false;
    }
}


/*
 * lfClass:  count u16, properties u16, fields, derived, shape (u32 each), size
 * lfUnion:  count u16, properties u16, fields u32, size
 * The later forms have 32 bits of properties, and the count behind the indexes.
 */
bool
sym_pdb_read_class(sym_pdb_record_t *record, sym_pdb_class_t *c)
{
    const bool is_later = record->kind >= SYM_LF_CLASS2;
    const bool is_union = record->kind == SYM_LF_UNION_ST
                          || record->kind == SYM_LF_UNION
                          || record->kind == SYM_LF_UNION2;
    sym_cursor_t *f = &record->fields;
    uint32_t properties;

    if (!is_later) {
        (void) sym_u16(f);
    }

    properties = is_later ? sym_u32(f) : sym_u16(f);
    (void) sym_bytes(f, is_union ? 4 : 12);
    if (is_later) {
        (void) sym_u16(f);
    }

    c->size = sym_pdb_read_number(record);
    c->name = sym_pdb_read_text(record);
    c->is_forward = (properties & IS_FORWARD) != 0;
    c->unique_name = sym_str(NULL, 0);
    if (properties & HAS_UNIQUE_NAME) {
        c->unique_name = sym_pdb_read_text(record);
    }

    return sym_ok(f);
}
