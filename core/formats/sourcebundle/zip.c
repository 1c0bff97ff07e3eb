#include "formats/sourcebundle/zip.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/sort.h"
#include "formats/packed/inflate.h"

/* APPNOTE 4.3: signatures and sizes of the fixed parts */
#define LOCAL_SIGNATURE UINT32_C(0x04034b50)
#define LOCAL_BYTES 30
#define ENTRY_SIGNATURE UINT32_C(0x02014b50)
#define ENTRY_BYTES 46
#define END_SIGNATURE UINT32_C(0x06054b50)
#define END_BYTES 22
#define END64_SIGNATURE UINT32_C(0x06064b50)
#define END64_BYTES 56
#define LOCATOR_SIGNATURE UINT32_C(0x07064b50)
#define LOCATOR_BYTES 20

/* 4.5.3: extra field with numbers that do not fit 32 bits */
#define EXTRA_ZIP64 1

#define METHOD_STORED 0
#define METHOD_DEFLATED 8
#define FLAG_ENCRYPTED 1

static sym_status_t
fail(sym_error_t *err, uint64_t offset, sym_status_t status, const char *what)
{
    if (err->status == SYM_OK) {
        err->section = "zip";
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


/* At most len bytes from pos, which must be inside the file. */
static sym_cursor_t
from(const sym_zip_t *zip, uint64_t pos, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(zip->bytes.data, zip->bytes.len, "zip", err);

    (void) sym_bytes(&c, pos);
    return c;
}


static uint32_t
signature_at(const sym_zip_t *zip, uint64_t pos)
{
    const uint8_t *p = (const uint8_t *) zip->bytes.data + pos;

    return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
           | (uint32_t) p[3] << 24;
}


/* The last end record whose comment ends at the end of the file. */
static bool
find_end(const sym_zip_t *zip, uint64_t *at)
{
    uint64_t len = zip->bytes.len;

    for (uint64_t back = END_BYTES;
         back <= len && back <= END_BYTES + UINT16_MAX; back++)
    {
        uint64_t pos = len - back;
        const uint8_t *p = (const uint8_t *) zip->bytes.data + pos;

        if (signature_at(zip, pos) == END_SIGNATURE
            && (uint64_t) (p[20] | p[21] << 8) == back - END_BYTES)
        {
            *at = pos;
            return true;
        }
    }

    return false;
}


/* Position of zip64's end record.  Its locator also contains the position, but
 * relative to the start of the zip. */
static bool
find_end64(const sym_zip_t *zip, uint64_t end, uint64_t *at)
{
    if (end < LOCATOR_BYTES + END64_BYTES
        || signature_at(zip, end - LOCATOR_BYTES) != LOCATOR_SIGNATURE)
    {
        return false;
    }

    *at = end - LOCATOR_BYTES - END64_BYTES;
    return signature_at(zip, *at) == END64_SIGNATURE;
}


sym_status_t
sym_zip_open(sym_zip_t *zip, sym_str_t bytes, sym_error_t *err)
{
    uint64_t at, entries, size, offset;
    sym_cursor_t c;

    *zip = (sym_zip_t){ .bytes = bytes };

    if (!find_end(zip, &at)) {
        return fail(err, bytes.len, SYM_TRUNCATED,
                    "the zip's directory is missing");
    }

    c = from(zip, at + 10, err);
    entries = sym_u16(&c);
    size = sym_u32(&c);
    offset = sym_u32(&c);

    if (find_end64(zip, at, &at)) {
        c = from(zip, at + 32, err);
        entries = sym_u64(&c);
        size = sym_u64(&c);
        offset = sym_u64(&c);
    }

    if (size > at || offset > at - size || entries > size / ENTRY_BYTES) {
        return fail(err, at, SYM_MALFORMED,
                    "the zip's directory is larger than the file");
    }

    zip->first = at - size;
    zip->base = zip->first - offset;
    zip->end = at;
    zip->n_entries = entries;
    sym_zip_rewind(zip);
    return SYM_OK;
}


void
sym_zip_rewind(sym_zip_t *zip)
{
    zip->pos = zip->first;
}


/* Replaces values that are UINT32_MAX in the entry, in this order. */
static void
read_zip64(sym_cursor_t *c, sym_zip_entry_t *e)
{
    uint64_t *const values[] = { &e->size, &e->packed, &e->header };

    for (size_t i = 0; i < 3; i++) {
        if (*values[i] == UINT32_MAX) {
            *values[i] = sym_u64(c);
        }
    }
}


static void
read_extra(sym_cursor_t *c, sym_zip_entry_t *e)
{
    while (sym_left(c) >= 4) {
        unsigned id = sym_u16(c);
        sym_cursor_t field = sym_take(c, sym_u16(c));

        if (id == EXTRA_ZIP64) {
            read_zip64(&field, e);
        }
    }
}


sym_status_t
sym_zip_next(sym_zip_t *zip, sym_zip_entry_t *entry, sym_error_t *err)
{
    sym_cursor_t c = from(zip, zip->pos, err), extra;
    uint16_t name_len, extra_len, comment_len;

    if (zip->pos == zip->end) {
        return SYM_NOT_FOUND;
    }

    if (zip->end - zip->pos < ENTRY_BYTES
        || signature_at(zip, zip->pos) != ENTRY_SIGNATURE)
    {
        return fail(err, zip->pos, SYM_MALFORMED,
                    "an entry of the zip's directory is damaged");
    }

    *entry = (sym_zip_entry_t){ 0 };
    (void) sym_bytes(&c, 8);
    entry->is_encrypted = (sym_u16(&c) & FLAG_ENCRYPTED) != 0;
    entry->method = sym_u16(&c);
    (void) sym_bytes(&c, 4); /* modification time */
    entry->crc = sym_u32(&c);
    entry->packed = sym_u32(&c);
    entry->size = sym_u32(&c);
    name_len = sym_u16(&c);
    extra_len = sym_u16(&c);
    comment_len = sym_u16(&c);
    (void) sym_bytes(&c, 8); /* disk, attributes */
    entry->header = sym_u32(&c);
    entry->name = sym_bytes(&c, name_len);
    extra = sym_take(&c, extra_len);
    read_extra(&extra, entry);
    (void) sym_bytes(&c, comment_len);

    if (!sym_ok(&c)) {
        return err->status;
    }

    zip->pos = (uint64_t) (c.pos - c.start);

    return zip->pos <= zip->end
               ? SYM_OK
               : fail(err, zip->pos, SYM_MALFORMED,
                      "an entry of the zip's directory is damaged");
}


/* The packed bytes of an entry. */
static sym_status_t
find_data(const sym_zip_t *zip, const sym_zip_entry_t *entry, sym_str_t *data,
          sym_error_t *err)
{
    uint64_t len = zip->bytes.len, pos = zip->base + entry->header;
    uint16_t name_len, extra_len;
    sym_cursor_t c;

    if (entry->header > len - zip->base
        || len - zip->base - entry->header < LOCAL_BYTES
        || signature_at(zip, zip->base + entry->header) != LOCAL_SIGNATURE)
    {
        return fail(err, pos, SYM_MALFORMED,
                    "a file of the zip is not where its directory says");
    }

    c = from(zip, pos + 26, err);
    name_len = sym_u16(&c);
    extra_len = sym_u16(&c);
    (void) sym_bytes(&c, (uint64_t) name_len + extra_len);
    *data = sym_bytes(&c, entry->packed);
    return err->status;
}


/* The extent of a file in the zip, from its local header to the end of its
 * packed bytes. */
typedef struct {
    uint64_t begin, end;
} extent_t;

typedef struct {
    extent_t *extents;
    sym_sort_item_t *order; /* orders extents by their start */
    size_t n;
} extents_t;


static sym_status_t
count_entries(sym_zip_t *zip, size_t *n, sym_error_t *err)
{
    sym_zip_entry_t entry;
    sym_status_t rc;

    *n = 0;
    while ((rc = sym_zip_next(zip, &entry, err)) == SYM_OK) {
        (*n)++;
    }

    sym_zip_rewind(zip);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
find_extents(sym_zip_t *zip, extents_t *of, sym_error_t *err)
{
    sym_zip_entry_t entry;
    sym_str_t data;

    for (size_t i = 0; i < of->n; i++) {
        if (sym_zip_next(zip, &entry, err) != SYM_OK
            || find_data(zip, &entry, &data, err) != SYM_OK)
        {
            return err->status;
        }

        of->extents[i] = (extent_t){
            .begin = zip->base + entry.header,
            .end = (uint64_t) (data.data + data.len - zip->bytes.data),
        };
        of->order[i] = (sym_sort_item_t){ .key = of->extents[i].begin,
                                          .at = (uint32_t) i };
    }

    return sym_sort(of->order, of->n) ? SYM_OK
                                      : fail(err, zip->first, SYM_NOMEM, NULL);
}


static sym_status_t
check_extents(const sym_zip_t *zip, const extents_t *of, sym_error_t *err)
{
    for (size_t i = 0; i < of->n; i++) {
        uint64_t next = i + 1 < of->n ? of->order[i + 1].key : zip->first;

        if (of->extents[of->order[i].at].end > next) {
            return fail(err, of->order[i].key, SYM_MALFORMED,
                        "files of the zip overlap");
        }
    }

    return SYM_OK;
}


sym_status_t
sym_zip_check(sym_zip_t *zip, sym_error_t *err)
{
    extents_t of = { 0 };
    sym_status_t rc = count_entries(zip, &of.n, err);

    if (rc == SYM_OK && of.n != 0) {
        of.extents = calloc(of.n, sizeof(*of.extents));
        of.order = calloc(of.n, sizeof(*of.order));
        rc = of.extents == NULL || of.order == NULL
                 ? fail(err, zip->first, SYM_NOMEM, NULL)
                 : find_extents(zip, &of, err);
    }

    rc = rc != SYM_OK ? rc : check_extents(zip, &of, err);
    free(of.extents);
    free(of.order);
    sym_zip_rewind(zip);
    return rc;
}


static sym_status_t
unpack(const sym_zip_entry_t *entry, sym_str_t data, char *out)
{
    struct libdeflate_decompressor *d;
    enum libdeflate_result rc;

    if (entry->method == METHOD_STORED) {
        if (data.len != entry->size) {
            return SYM_MALFORMED;
        }

        if (data.len != 0) {
            memcpy(out, data.data, data.len);
        }

        return SYM_OK;
    }

    d = libdeflate_alloc_decompressor();
    if (d == NULL) {
        return SYM_NOMEM;
    }

    rc = libdeflate_deflate_decompress(d, data.data, data.len, out,
                                       (size_t) entry->size, NULL);
    libdeflate_free_decompressor(d);
    return rc == LIBDEFLATE_SUCCESS ? SYM_OK : SYM_MALFORMED;
}


sym_status_t
sym_zip_read(const sym_zip_t *zip, const sym_zip_entry_t *entry, char *out,
             sym_error_t *err)
{
    uint64_t at = zip->base + entry->header;
    sym_str_t data;
    sym_status_t rc;

    if (entry->is_encrypted) {
        return fail(err, at, SYM_UNSUPPORTED, "a file in it is encrypted");
    }

    if (entry->method != METHOD_STORED && entry->method != METHOD_DEFLATED) {
        return fail(err, at, SYM_UNSUPPORTED, "this compression method");
    }

    if (find_data(zip, entry, &data, err) != SYM_OK) {
        return err->status;
    }

    rc = unpack(entry, data, out);

    if (rc != SYM_OK) {
        return rc == SYM_NOMEM ? fail(err, at, rc, SYM_UNPACK_NO_MEMORY)
                               : fail(err, at, rc, SYM_UNPACK_DAMAGED);
    }

    return libdeflate_crc32(0, out, (size_t) entry->size) == entry->crc
               ? SYM_OK
               : fail(err, at, SYM_MALFORMED, SYM_UNPACK_DAMAGED);
}
