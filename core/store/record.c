#include "store/bytes.h"
#include "store/env.h"

#include <errno.h>
#include <libdeflate.h>

/*
 * A module's record in the directory; docs/formats/store.md.  Written as little
 * endian, so that a record is the same on every host (symcaches need not be).
 */
#define RECORD_VERSION 1
#define RECORD_COMMON 40 /* same in every version */
#define RECORD_FIXED 72
#define RECORD_CRC 68

/* Limit for a module and its share of the tree; keeps sums far from
   overflow. */
#define PAGES_MAX ((uint64_t) 34 * SYM_EXTENTS_LIMIT)

#define PAGE_HEADER 16
#define NODE_HEADER 8
#define INLINE_MAX 2022 /* LMDB keeps smaller values in its tree's pages */

sym_status_t
sym_lmdb_fail(sym_error_t *err, const char *what, int rc)
{
    switch (rc) {
    case MDB_MAP_FULL:
        return sym_fail(err, SYM_FULL, "the store's map is full");
    case MDB_INVALID:
        return sym_fail(err, SYM_DAMAGED, "data.mdb is not an LMDB file");
    case MDB_VERSION_MISMATCH:
        return sym_fail(err, SYM_VERSION, "data.mdb has another LMDB version");
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC:
    case MDB_CURSOR_FULL:
    case MDB_BAD_TXN:
        return sym_fail(err, SYM_DAMAGED, "the store's pages are damaged");
    case MDB_READERS_FULL:
        return sym_fail(err, SYM_BUSY, "all reader slots are taken");
    case MDB_MAP_RESIZED:
        return sym_fail(err, SYM_BUSY, "the store grew while it was read");
    case ENOSPC:
    case EFBIG:
    case EDQUOT:
        return sym_fail_sys(err, SYM_FULL, what, rc);
    case ENOMEM:
        return sym_fail_sys(err, SYM_NOMEM, what, rc);
    default:
        if (rc < 0) {
            return sym_fail(err, SYM_DAMAGED, mdb_strerror(rc));
        }
        return sym_fail_sys(err, SYM_IO, what, rc);
    }
}


size_t
sym_record_key(const sym_module_key_t *key, sym_kind_t kind,
               char out[RECORD_KEY_MAX])
{
    size_t n = 0;

    if (key->scope.len > SYM_SCOPE_MAX || !sym_module_name_ok(key->name)
        || key->id.len == 0 || key->id.len > SYM_ID_MAX
        || (unsigned) kind > SYM_KIND_MAX)
    {
        return 0;
    }

    if (key->scope.len != 0) {
        memcpy(out, key->scope.data, key->scope.len);
        n = key->scope.len;
    }
    out[n++] = '\0';

    memcpy(out + n, key->name.data, key->name.len);
    n += key->name.len;
    out[n++] = '\0';

    memcpy(out + n, key->id.data, key->id.len);
    n += key->id.len;

    /* version 2 had only symcaches, and their keys have not changed */
    if (kind > SYM_KIND_SYMCACHE) {
        out[n++] = '\0';
        out[n++] = (char) kind;
    }

    return n;
}


/* Reads the part of a key that follows the scope and its NUL. */
static bool
read_rest(sym_str_t rest, sym_module_key_t *key, sym_kind_t *kind)
{
    const char *p = rest.data, *end = p + rest.len;
    const char *nul = memchr(p, '\0', (size_t) (end - p));

    if (nul == NULL) {
        return false;
    }

    key->name = sym_str(p, (size_t) (nul - p));
    p = nul + 1;
    nul = memchr(p, '\0', (size_t) (end - p));
    *kind = SYM_KIND_SYMCACHE;

    if (nul == NULL) {
        nul = end;
    } else if (end - nul == RECORD_KIND_BYTES && nul[1] > SYM_KIND_SYMCACHE
               && nul[1] <= SYM_KIND_MAX)
    {
        *kind = (sym_kind_t) nul[1];
    } else {
        return false;
    }

    key->id = sym_str(p, (size_t) (nul - p));
    return sym_module_name_ok(key->name) && key->id.len != 0
           && key->id.len <= SYM_ID_MAX;
}


bool
sym_record_key_read(const MDB_val *val, sym_module_key_t *key, sym_kind_t *kind)
{
    const char *p = val->mv_data;
    const char *nul = memchr(p, '\0', val->mv_size);

    if (val->mv_size > RECORD_KEY_MAX || nul == NULL || nul - p > SYM_SCOPE_MAX)
    {
        return false;
    }

    *key = (sym_module_key_t){ .scope = sym_str(p, (size_t) (nul - p)) };
    return read_rest(sym_str(nul + 1, val->mv_size - key->scope.len - 1), key,
                     kind);
}


uint32_t
sym_crc(const void *key, size_t key_len, const void *data, size_t len)
{
    return libdeflate_crc32(libdeflate_crc32(0, key, key_len), data, len);
}


void
sym_crc_put(uint8_t *p, uint32_t crc)
{
    (void) sym_bytes_put(p, crc, CRC_BYTES);
}


uint32_t
sym_crc_get(const uint8_t *p)
{
    return (uint32_t) sym_bytes_take(&p, CRC_BYTES);
}


/* Over the record without the checksum itself. */
static uint32_t
record_crc(const MDB_val *key, const uint8_t *p, size_t len)
{
    uint32_t crc = sym_crc(key->mv_data, key->mv_size, p, RECORD_CRC);

    return libdeflate_crc32(crc, p + RECORD_FIXED, len - RECORD_FIXED);
}


/* The part of a text that is stored. */
static size_t
kept(sym_str_t text, size_t max)
{
    return text.len < max ? text.len : max;
}


size_t
sym_record_write(const MDB_val *key, const sym_object_record_t *r,
                 uint8_t out[RECORD_BYTES_MAX])
{
    size_t source = kept(r->path, SOURCE_MAX);
    size_t reason = kept(r->reason, SYM_REASON_MAX);
    size_t code_id = r->object.code_id.len;
    uint8_t *p = out;

    p = sym_bytes_put(p, RECORD_VERSION, 1);
    p = sym_bytes_put(p, r->state, 1);
    p = sym_bytes_put(p, r->quality, 1);
    p = sym_bytes_put(p, 0, 1);
    p = sym_bytes_put(p, r->slot, 4);
    p = sym_bytes_put(p, r->module_id, 8);
    p = sym_bytes_put(p, r->extents, 4);
    p = sym_bytes_put(p, r->kind_version, 4);
    p = sym_bytes_put(p, r->bytes, 8);
    p = sym_bytes_put(p, r->pages, 8);
    p = sym_bytes_put(p, r->source_bytes, 8);
    p = sym_bytes_put(p, (uint64_t) r->stored_at, 8);
    p = sym_bytes_put(p, source, 2);
    p = sym_bytes_put(p, reason, 2);
    p = sym_bytes_put(p, r->expires_at, 4);
    p = sym_bytes_put(p, 0, 2);
    (void) sym_bytes_put(p, code_id, 2);
    p = out + RECORD_FIXED;

    if (source != 0) {
        memcpy(p, r->path.data, source);
        p += source;
    }

    if (reason != 0) {
        memcpy(p, r->reason.data, reason);
        p += reason;
    }

    if (code_id != 0) {
        memcpy(p, r->object.code_id.text, code_id);
        p += code_id;
    }

    sym_crc_put(out + RECORD_CRC, record_crc(key, out, (size_t) (p - out)));
    return (size_t) (p - out);
}


/* From the key; a variant has its debug id in the path. */
static void
set_object(const sym_module_key_t *key, sym_object_record_t *r)
{
    bool is_variant = sym_variant_is_in(key->id);
    char text[SYM_ID_MAX];
    sym_str_t id = { text, sym_debug_id_canonical(
                               is_variant ? r->path : key->id, text) };

    (void) sym_debug_id_read_breakpad(id, &r->object.debug_id);
    r->object.name = key->name;
    if (is_variant) {
        r->path = SYM_STR("");
    }
    if (is_variant || !sym_str_eq(id, key->id)) {
        r->asked = key->id;
    }
}


sym_status_t
sym_record_read(const MDB_val *key, const MDB_val *val, sym_object_record_t *r)
{
    const uint8_t *p = val->mv_data;
    size_t source, reason, code_id;
    sym_module_key_t parts;
    uint8_t version;

    *r = (sym_object_record_t){ 0 };
    if (!sym_record_key_read(key, &parts, &r->kind)
        || val->mv_size < RECORD_COMMON || val->mv_size > UINT16_MAX)
    {
        return SYM_DAMAGED;
    }

    version = p[0];
    r->state = (sym_module_state_t) p[1];
    r->quality = p[2];
    p += 4;
    r->slot = (uint32_t) sym_bytes_take(&p, 4);
    r->module_id = sym_bytes_take(&p, 8);
    r->extents = (uint32_t) sym_bytes_take(&p, 4);
    r->kind_version = (uint32_t) sym_bytes_take(&p, 4);
    r->bytes = sym_bytes_take(&p, 8);
    r->pages = sym_bytes_take(&p, 8);

    if (r->module_id >> (64 - EXTENT_BITS) != 0
        || r->extents > SYM_EXTENTS_LIMIT || r->pages > PAGES_MAX)
    {
        return SYM_DAMAGED;
    }

    if (version != RECORD_VERSION) {
        return SYM_NOT_FOUND;
    }

    if (val->mv_size < RECORD_FIXED || r->state < SYM_MODULE_READY
        || r->state > SYM_MODULE_MALFORMED)
    {
        return SYM_DAMAGED;
    }

    r->source_bytes = sym_bytes_take(&p, 8);
    r->stored_at = (int64_t) sym_bytes_take(&p, 8);
    source = (size_t) sym_bytes_take(&p, 2);
    reason = (size_t) sym_bytes_take(&p, 2);
    r->expires_at = (uint32_t) sym_bytes_take(&p, 4);
    p += 2;
    code_id = (size_t) sym_bytes_take(&p, 2);
    p = (const uint8_t *) val->mv_data + RECORD_FIXED;

    if (source + reason + code_id > val->mv_size - RECORD_FIXED
        || code_id > SYM_CODE_ID_MAX)
    {
        return SYM_DAMAGED;
    }

    r->path = sym_str((const char *) p, source);
    r->reason = sym_str((const char *) p + source, reason);
    memcpy(r->object.code_id.text, p + source + reason, code_id);
    r->object.code_id.len = (uint8_t) code_id;
    set_object(&parts, r);
    return SYM_OK;
}


sym_status_t
sym_record_check(const MDB_val *key, const MDB_val *val,
                 sym_object_record_t *record)
{
    const uint8_t *p = val->mv_data;
    sym_status_t status = sym_record_read(key, val, record);

    if (status == SYM_OK
        && sym_crc_get(p + RECORD_CRC) != record_crc(key, p, val->mv_size))
    {
        return SYM_DAMAGED;
    }

    return status;
}


uint64_t
sym_value_pages(size_t len)
{
    return len <= INLINE_MAX ? 1 : (PAGE_HEADER - 1 + len) / STORE_PAGE + 1;
}


uint64_t
sym_negative_bytes(const MDB_val *key, const sym_object_record_t *r)
{
    uint64_t value = RECORD_FIXED + kept(r->path, SOURCE_MAX)
                     + kept(r->reason, SYM_REASON_MAX) + r->object.code_id.len;
    uint64_t node = NODE_HEADER + key->mv_size;

    if (r->state == SYM_MODULE_READY) {
        return 0;
    }

    /* leaves are assumed half full */
    return value > INLINE_MAX ? sym_value_pages(value) * STORE_PAGE + 2 * node
                              : 2 * (node + value);
}


uint64_t
sym_tree_pages(uint32_t extents)
{
    /* an extent takes 26 bytes in a leaf; leaves are assumed half full */
    return 1 + extents / 64;
}


bool
sym_module_expired(const sym_object_record_t *record, int64_t now_s)
{
    return record->state != SYM_MODULE_READY
           && ((record->expires_at != 0 && record->expires_at <= now_s)
               || record->stored_at - SYM_CLOCK_SLACK_S > now_s);
}


int64_t
sym_module_last_s(const sym_object_record_t *record)
{
    return record->used_at != 0 ? (int64_t) record->used_at : record->stored_at;
}


static sym_str_t
code_id_of(const sym_object_record_t *record)
{
    return sym_str(record->object.code_id.text, record->object.code_id.len);
}


bool
sym_module_record_is_of(const sym_object_record_t *record,
                        const sym_module_key_t *key)
{
    return record->object.code_id.len == 0 || key->code_id.len == 0
           || sym_str_eq(code_id_of(record), key->code_id);
}


/* Clients of some APIs write either id in one field. */
static bool
reads_as(sym_str_t code_id, sym_str_t id)
{
    char a[SYM_ID_MAX], b[SYM_ID_MAX];

    return sym_str_eq(sym_str(a, sym_debug_id_canonical(code_id, a)),
                      sym_str(b, sym_debug_id_canonical(id, b)));
}


bool
sym_module_record_counts(const sym_object_record_t *record,
                         const sym_module_key_t *key)
{
    sym_str_t code_id = code_id_of(record);

    return sym_str_eq(code_id, key->code_id)
           || (sym_module_record_is_of(record, key)
               && reads_as(code_id.len != 0 ? code_id : key->code_id, key->id));
}


unsigned
sym_module_state_weight(sym_module_state_t state)
{
    return state == SYM_MODULE_FAILED      ? 3
           : state == SYM_MODULE_MALFORMED ? 2
           : state == SYM_MODULE_ABSENT    ? 1
                                           : 0;
}


const char *
sym_module_state_name(sym_module_state_t state)
{
    switch (state) {
    case SYM_MODULE_READY:
        return "ready";
    case SYM_MODULE_ABSENT:
        return "absent";
    case SYM_MODULE_FAILED:
        return "failed";
    case SYM_MODULE_MALFORMED:
        return "malformed";
    default:
        return "unknown";
    }
}
