#include "formats/pdb/records.h"

#include <stdlib.h>
#include <string.h>

#include "formats/pdb/le.h"
#include "formats/pdb/msf.h"
#include "formats/pdb/offsets.h"

/* LLVM: TpiStream.rst, "Stream Header" */
#define HEADER_BYTES 56
#define HEADER_HASHES 20 /* u16 stream */
#define HEADER_VALUE_BYTES 24
#define HEADER_BUCKETS 28
#define HEADER_VALUES 32 /* table of hashes: offset in their stream, length */
#define HEADER_PLACES 40 /* the "index offset buffer" */

/* CV_prop_t (cvinfo.h) */
#define IS_FORWARD 0x80u
#define HAS_UNIQUE_NAME 0x200u

/* LF_NUMERIC (cvinfo.h): kinds of numbers; a smaller value is the number
 * itself. */
#define NUMBER_CHAR 0x8000u
#define NUMBER_USHORT 0x8002u
#define NUMBER_ULONG 0x8004u
#define NUMBER_UQUADWORD 0x800au


uint32_t
sym_pdb_hash_stream(sym_str_t stream)
{
    return stream.len >= HEADER_BYTES ? sym_le16(stream.data + HEADER_HASHES)
                                      : SYM_MSF_NO_STREAM;
}


/* A part of the hash stream, whose offset and length are in the header. */
static sym_str_t
hash_part(sym_str_t stream, sym_str_t hashes, size_t field)
{
    const uint32_t at = sym_le32(stream.data + field);
    const uint32_t len = sym_le32(stream.data + field + 4);

    return len != 0 && at <= hashes.len && len <= hashes.len - at
               ? sym_str(hashes.data + at, len)
               : SYM_STR("");
}


static void
find_hashes(sym_pdb_records_t *records, sym_str_t hashes)
{
    const char *header = records->stream.data;

    records->buckets = sym_le32(header + HEADER_BUCKETS);
    records->hashes = hash_part(records->stream, hashes, HEADER_VALUES);
    if (sym_le32(header + HEADER_VALUE_BYTES) != 4 || records->buckets == 0
        || records->hashes.len / 4 != records->n)
    {
        records->hashes = SYM_STR("");
    }
}


sym_status_t
sym_pdb_records_open(sym_pdb_records_t *records, sym_str_t stream,
                     sym_str_t hashes, const char *section, sym_error_t *err)
{
    uint32_t header, end, bytes;
    sym_cursor_t c;

    *records = (sym_pdb_records_t){ .stream = stream };
    if (stream.len == 0) {
        return SYM_OK; /* an absent stream may have a NULL pointer */
    }

    c = sym_cursor(stream.data, stream.len, section, err);
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

    if (sym_ok(&c)
        && end - records->first > sym_left(&c) / SYM_PDB_RECORD_BYTES) {
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

    find_hashes(records, hashes);
    return sym_pdb_find_records(&c, hash_part(stream, hashes, HEADER_PLACES),
                                records->first, records->n, records->offsets);
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


static bool
is_later_class(uint16_t kind)
{
    return kind >= SYM_LF_CLASS2;
}


/*
 * lfClass:  count u16, properties u16, fields, derived, shape (u32 each), size
 * lfUnion:  count u16, properties u16, fields u32, size Later forms have 32
 * bits of properties, and their count follows the indexes.
 */
bool
sym_pdb_read_class(sym_pdb_record_t *record, sym_pdb_class_t *c)
{
    const bool is_later = is_later_class(record->kind);
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


bool
sym_pdb_is_definition(const sym_pdb_record_t *record)
{
    sym_cursor_t f = record->fields;

    if (!is_later_class(record->kind)) {
        (void) sym_u16(&f);
    }

    return (sym_u16(&f) & IS_FORWARD) == 0;
}
