#include "store/env.h"

#include <errno.h>

/*
 * A module in the directory; docs/store.md.  Little endian by hand, so that a
 * record is the same on every host (the symcache inside need not be).
 */
#define RECORD_VERSION 1
#define RECORD_FIXED 72

#define PAGE 4096
#define PAGE_HEADER 16
#define INLINE_MAX 2038 /* LMDB keeps smaller values in its tree's pages */

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
sym_record_key(const sym_module_key_t *key, char out[RECORD_KEY_MAX])
{
    size_t n = 0;

    if (key->scope.len > SYM_SCOPE_MAX || !sym_module_name_ok(key->name)
        || key->id.len == 0 || key->id.len > SYM_ID_MAX)
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
    return n + key->id.len;
}


bool
sym_record_key_read(const MDB_val *val, sym_module_key_t *key)
{
    const char *p = val->mv_data, *end = p + val->mv_size, *nul;

    nul = memchr(p, '\0', (size_t) (end - p));
    if (nul == NULL) {
        return false;
    }
    key->scope = sym_str(p, (size_t) (nul - p));

    p = nul + 1;
    nul = memchr(p, '\0', (size_t) (end - p));
    if (nul == NULL) {
        return false;
    }
    key->name = sym_str(p, (size_t) (nul - p));

    key->id = sym_str(nul + 1, (size_t) (end - nul) - 1);
    return true;
}


static uint8_t *
put(uint8_t *p, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        *p++ = (uint8_t) (v >> (8 * i));
    }

    return p;
}


static uint64_t
take(const uint8_t **p, unsigned width)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < width; i++) {
        v |= (uint64_t) (*p)[i] << (8 * i);
    }

    *p += width;
    return v;
}


size_t
sym_record_write(const sym_module_record_t *r, uint8_t out[RECORD_BYTES_MAX])
{
    size_t source = r->source.len < SOURCE_MAX ? r->source.len : SOURCE_MAX;
    size_t reason = r->reason.len < REASON_MAX ? r->reason.len : REASON_MAX;
    uint8_t *p = out;

    p = put(p, RECORD_VERSION, 1);
    p = put(p, r->state, 1);
    p = put(p, r->quality, 1);
    p = put(p, 0, 1);
    p = put(p, r->format, 4);
    p = put(p, r->module_id, 8);
    p = put(p, r->slot, 4);
    p = put(p, r->extents, 4);
    p = put(p, r->bytes, 8);
    p = put(p, r->pages, 8);
    p = put(p, r->source_bytes, 8);
    p = put(p, (uint64_t) r->stored_at, 8);
    p = put(p, source, 2);
    p = put(p, reason, 2);
    memset(p, 0, RECORD_FIXED - 60); /* for later versions */
    p += RECORD_FIXED - 60;

    if (source != 0) {
        memcpy(p, r->source.data, source);
        p += source;
    }

    if (reason != 0) {
        memcpy(p, r->reason.data, reason);
        p += reason;
    }

    return (size_t) (p - out);
}


sym_status_t
sym_record_read(const MDB_val *val, sym_module_record_t *r)
{
    const uint8_t *p = val->mv_data;
    size_t source, reason;

    if (val->mv_size < RECORD_FIXED) {
        return SYM_DAMAGED;
    }

    if (p[0] != RECORD_VERSION) {
        return SYM_NOT_FOUND;
    }

    *r = (sym_module_record_t){ .state = (sym_module_state_t) p[1],
                                .quality = p[2] };
    p += 4;
    r->format = (uint32_t) take(&p, 4);
    r->module_id = take(&p, 8);
    r->slot = (uint32_t) take(&p, 4);
    r->extents = (uint32_t) take(&p, 4);
    r->bytes = take(&p, 8);
    r->pages = take(&p, 8);
    r->source_bytes = take(&p, 8);
    r->stored_at = (int64_t) take(&p, 8);
    source = (size_t) take(&p, 2);
    reason = (size_t) take(&p, 2);
    p = (const uint8_t *) val->mv_data + RECORD_FIXED;

    if (source + reason > val->mv_size - RECORD_FIXED
        || r->state < SYM_MODULE_READY || r->state > SYM_MODULE_MALFORMED
        || r->module_id >> (64 - EXTENT_BITS) != 0
        || r->extents >> EXTENT_BITS != 0)
    {
        return SYM_DAMAGED;
    }

    r->source = sym_str((const char *) p, source);
    r->reason = sym_str((const char *) p + source, reason);
    return SYM_OK;
}


uint64_t
sym_value_pages(size_t len)
{
    return len <= INLINE_MAX ? 1 : (PAGE_HEADER - 1 + len) / PAGE + 1;
}
