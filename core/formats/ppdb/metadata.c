#include "formats/ppdb/metadata.h"

#include "base/little.h"

#define SIGNATURE 0x424a5342u /* "BSJB", II.24.2.1 */

/* A name has at most 32 characters, including its NUL (II.24.2.2). */
#define STREAM_NAME_MAX 32

/* Bits of HeapSizes: indexes of these heaps have 4 bytes (II.24.2.6). */
#define WIDE_STRINGS 0x01
#define WIDE_GUIDS 0x02
#define WIDE_BLOBS 0x04
#define EXTRA_DATA 0x40 /* 4 bytes that follow the row counts */

/* A token has 24 bits for the row (II.22). */
#define ROWS_MAX ((UINT32_C(1) << 24) - 1)

#define PARENT_BITS 5

typedef struct {
    sym_str_t pdb, tables, blobs, guids;
    bool has_pdb, has_tables, has_other_tables;
} streams_t;


/* --- streams --- */

/* A name, padded with zeros to a multiple of four bytes. */
static sym_str_t
stream_name(sym_cursor_t *c)
{
    size_t most = sym_left(c) < STREAM_NAME_MAX ? sym_left(c) : STREAM_NAME_MAX;
    const uint8_t *nul = memchr(c->pos, 0, most);
    size_t len = nul != NULL ? (size_t) (nul - c->pos) : 0;

    if (nul == NULL) {
        sym_cursor_fail(c, SYM_MALFORMED, "the name of a stream does not end");
        return SYM_STR("");
    }

    return sym_str(sym_bytes(c, (len + 4) & ~(size_t) 3).data, len);
}


static void
note_stream(streams_t *s, sym_str_t name, sym_str_t bytes)
{
    if (sym_str_eq(name, SYM_STR("#Pdb"))) {
        s->pdb = bytes;
        s->has_pdb = true;
    } else if (sym_str_eq(name, SYM_STR("#~"))) {
        s->tables = bytes;
        s->has_tables = true;
    } else if (sym_str_eq(name, SYM_STR("#-"))) {
        s->has_other_tables = true;
    } else if (sym_str_eq(name, SYM_STR("#Blob"))) {
        s->blobs = bytes;
    } else if (sym_str_eq(name, SYM_STR("#GUID"))) {
        s->guids = bytes;
    }
}


static sym_status_t
read_streams(sym_cursor_t *c, sym_str_t file, streams_t *s)
{
    uint32_t version, n;

    if (sym_u32(c) != SIGNATURE) {
        sym_cursor_fail(c, SYM_MALFORMED, "not .NET metadata");
    }

    (void) sym_bytes(c, 8); /* versions, reserved */
    version = sym_u32(c);
    (void) sym_bytes(c, version);
    (void) sym_u16(c); /* flags */
    n = sym_u16(c);

    for (uint32_t i = 0; i < n && sym_ok(c); i++) {
        uint32_t offset = sym_u32(c), size = sym_u32(c);
        sym_str_t name = stream_name(c);

        if (sym_ok(c) && (offset > file.len || size > file.len - offset)) {
            sym_cursor_fail(c, SYM_TRUNCATED, "a stream runs past the file");
        }

        if (sym_ok(c)) {
            note_stream(s, name, sym_str(file.data + offset, size));
        }
    }

    return c->err->status;
}


/* --- rows --- */

/* Reads the row counts.  There is one for each bit of the mask. */
static void
read_counts(sym_cursor_t *c, uint64_t mask, uint32_t rows[SYM_PPDB_MD_TABLES])
{
    for (unsigned i = 0; i < SYM_PPDB_MD_TABLES; i++) {
        if ((mask >> i & 1) == 0) {
            continue;
        }

        rows[i] = sym_u32(c);
        if (rows[i] > ROWS_MAX) {
            sym_cursor_fail(c, SYM_MALFORMED, "a table has too many rows");
        }
    }
}


/* Size of a row index, which may also contain the bits of a tag (II.24.2.6). */
static uint8_t
index_bytes(uint32_t rows, unsigned tag_bits)
{
    return rows < UINT32_C(1) << (16 - tag_bits) ? 2 : 4;
}


/* HasCustomDebugInformation (Portable PDB, "CustomDebugInformation Table"). */
static uint8_t
parent_bytes(const uint32_t rows[SYM_PPDB_MD_TABLES])
{
    static const uint8_t tables[] = { 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a,
                                      0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b,
                                      0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c,
                                      0x2b, 0x30, 0x32, 0x33, 0x34, 0x35 };
    uint32_t most = 0;

    for (size_t i = 0; i < sizeof(tables); i++) {
        most = rows[tables[i]] > most ? rows[tables[i]] : most;
    }

    return index_bytes(most, PARENT_BITS);
}


static sym_ppdb_table_t
take_table(sym_cursor_t *c, uint32_t rows, uint32_t row_bytes)
{
    sym_str_t bytes = sym_bytes(c, (uint64_t) rows * row_bytes);

    return (sym_ppdb_table_t){ (const uint8_t *) bytes.data, rows, row_bytes };
}


/* Takes all tables up to that of custom debug information, in their order. */
static sym_status_t
take_tables(sym_ppdb_metadata_t *m, sym_cursor_t *c,
            const uint32_t rows[SYM_PPDB_MD_TABLES])
{
    uint32_t method = index_bytes(rows[SYM_PPDB_MD_METHOD_DEF], 0);
    uint32_t scope = index_bytes(rows[SYM_PPDB_MD_IMPORT_SCOPE], 0);
    uint32_t variable = index_bytes(rows[SYM_PPDB_MD_LOCAL_VARIABLE], 0);
    uint32_t constant = index_bytes(rows[SYM_PPDB_MD_LOCAL_CONSTANT], 0);
    uint32_t blob = m->blob_bytes, guid = m->guid_bytes;

    m->document_bytes = index_bytes(rows[SYM_PPDB_MD_DOCUMENT], 0);
    m->parent_bytes = parent_bytes(rows);

    m->documents =
        take_table(c, rows[SYM_PPDB_MD_DOCUMENT], 2 * blob + 2 * guid);
    m->methods =
        take_table(c, rows[SYM_PPDB_MD_METHOD_DEBUG], m->document_bytes + blob);
    (void) take_table(c, rows[SYM_PPDB_MD_LOCAL_SCOPE],
                      method + scope + variable + constant + 8);
    (void) take_table(c, rows[SYM_PPDB_MD_LOCAL_VARIABLE], 4 + m->string_bytes);
    (void) take_table(c, rows[SYM_PPDB_MD_LOCAL_CONSTANT],
                      m->string_bytes + blob);
    (void) take_table(c, rows[SYM_PPDB_MD_IMPORT_SCOPE], scope + blob);
    (void) take_table(c, rows[SYM_PPDB_MD_STATE_MACHINE], 2 * method);
    m->custom = take_table(c, rows[SYM_PPDB_MD_CUSTOM_DEBUG],
                           m->parent_bytes + guid + blob);
    return c->err->status;
}


static sym_status_t
read_tables(sym_ppdb_metadata_t *m, const streams_t *s, sym_error_t *err)
{
    sym_cursor_t pdb = sym_cursor(s->pdb.data, s->pdb.len, "#Pdb", err);
    sym_cursor_t c = sym_cursor(s->tables.data, s->tables.len, "#~", err);
    uint32_t rows[SYM_PPDB_MD_TABLES] = { 0 };
    uint64_t valid;
    uint8_t sizes;

    m->id = (const uint8_t *) sym_bytes(&pdb, SYM_PPDB_MD_ID_BYTES).data;
    (void) sym_u32(&pdb); /* entry point */
    read_counts(&pdb, sym_u64(&pdb), rows);

    (void) sym_bytes(&c, 6); /* reserved, versions */
    sizes = sym_u8(&c);
    (void) sym_u8(&c);
    valid = sym_u64(&c);
    (void) sym_u64(&c); /* bits of sorted tables */

    if (sym_ok(&c) && valid << (SYM_PPDB_MD_TABLES - SYM_PPDB_MD_DOCUMENT) != 0)
    {
        sym_cursor_fail(&c, SYM_UNSUPPORTED,
                        "tables of an assembly among those of a portable PDB");
    }

    read_counts(&c, valid, rows);
    (void) sym_bytes(&c, (sizes & EXTRA_DATA) != 0 ? 4 : 0);

    m->string_bytes = (sizes & WIDE_STRINGS) != 0 ? 4 : 2;
    m->guid_bytes = (sizes & WIDE_GUIDS) != 0 ? 4 : 2;
    m->blob_bytes = (sizes & WIDE_BLOBS) != 0 ? 4 : 2;
    return take_tables(m, &c, rows);
}


sym_status_t
sym_ppdb_metadata_open(sym_ppdb_metadata_t *m, sym_str_t file, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(file.data, file.len, "metadata", err);
    streams_t s = { .has_pdb = false };

    *m = (sym_ppdb_metadata_t){ .id = NULL };

    if (read_streams(&c, file, &s) != SYM_OK) {
        return err->status;
    }

    if (!s.has_pdb) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "metadata without debug information: no stream #Pdb");
    }

    if (!s.has_tables) {
        return s.has_other_tables
                   ? sym_fail(err, SYM_UNSUPPORTED,
                              "metadata of edit and continue (stream #-)")
                   : sym_fail(err, SYM_MALFORMED, "there is no stream #~");
    }

    m->blobs = s.blobs;
    m->guids = s.guids;
    return read_tables(m, &s, err);
}


/* --- cells --- */

static uint32_t
take_index(const uint8_t **pos, uint32_t bytes)
{
    const uint8_t *p = *pos;

    *pos += bytes;
    return bytes == 2 ? sym_get16(p) : sym_get32(p);
}


static const uint8_t *
row_at(const sym_ppdb_table_t *table, uint32_t row)
{
    return table->rows + (size_t) (row - 1) * table->row_bytes;
}


sym_ppdb_document_row_t
sym_ppdb_metadata_document(const sym_ppdb_metadata_t *m, uint32_t row)
{
    const uint8_t *p = row_at(&m->documents, row);
    sym_ppdb_document_row_t d;

    d.name = take_index(&p, m->blob_bytes);
    p += m->guid_bytes + m->blob_bytes; /* hash */
    d.language = take_index(&p, m->guid_bytes);
    return d;
}


sym_ppdb_method_row_t
sym_ppdb_metadata_method(const sym_ppdb_metadata_t *m, uint32_t row)
{
    const uint8_t *p = row_at(&m->methods, row);
    sym_ppdb_method_row_t method;

    method.document = take_index(&p, m->document_bytes);
    method.points = take_index(&p, m->blob_bytes);
    return method;
}


sym_ppdb_custom_row_t
sym_ppdb_metadata_custom(const sym_ppdb_metadata_t *m, uint32_t row)
{
    const uint8_t *p = row_at(&m->custom, row);
    uint32_t parent = take_index(&p, m->parent_bytes);
    sym_ppdb_custom_row_t custom = { .tag = parent & ((1u << PARENT_BITS) - 1),
                                     .row = parent >> PARENT_BITS };

    custom.kind = take_index(&p, m->guid_bytes);
    custom.value = take_index(&p, m->blob_bytes);
    return custom;
}


/* --- heaps --- */

static sym_status_t
fail_blob(sym_error_t *err, uint32_t offset, const char *what)
{
    err->section = SYM_PPDB_MD_BLOBS;
    err->offset = offset;
    return sym_fail(err, SYM_MALFORMED, what);
}


sym_status_t
sym_ppdb_metadata_blob(const sym_ppdb_metadata_t *m, uint32_t offset,
                       sym_str_t *blob, sym_error_t *err)
{
    const uint8_t *pos, *end;
    uint32_t len;

    *blob = SYM_STR("");
    if (offset >= m->blobs.len) {
        return fail_blob(err, offset, "a blob outside of its heap");
    }

    pos = (const uint8_t *) m->blobs.data + offset;
    end = (const uint8_t *) m->blobs.data + m->blobs.len;
    if (!sym_ppdb_metadata_unsigned(&pos, end, &len)
        || len > (size_t) (end - pos)) {
        return fail_blob(err, offset, "a blob runs past its heap");
    }

    *blob = sym_str((const char *) pos, len);
    return SYM_OK;
}


const uint8_t *
sym_ppdb_metadata_guid(const sym_ppdb_metadata_t *m, uint32_t index)
{
    return index != 0 && index <= m->guids.len / SYM_PPDB_MD_GUID_BYTES
               ? (const uint8_t *) m->guids.data
                     + (size_t) (index - 1) * SYM_PPDB_MD_GUID_BYTES
               : NULL;
}


/* --- compressed numbers --- */

unsigned
sym_ppdb_metadata_long(const uint8_t **pos, const uint8_t *end, uint32_t *value)
{
    const uint8_t *p = *pos;
    size_t left = (size_t) (end - p);

    if (left >= 2 && p[0] >= 0x80 && p[0] < 0xc0) {
        *value = (uint32_t) (p[0] & 0x3f) << 8 | p[1];
        *pos += 2;
        return 14;
    }

    if (left >= 4 && p[0] >= 0xc0 && p[0] < 0xe0) {
        *value = (uint32_t) (p[0] & 0x1f) << 24 | (uint32_t) p[1] << 16
                 | (uint32_t) p[2] << 8 | p[3];
        *pos += 4;
        return 29;
    }

    return 0;
}
