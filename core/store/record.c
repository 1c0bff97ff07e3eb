#include "store/bytes.h"
#include "store/env.h"

#include <errno.h>
#include <libdeflate.h>

#define PAGE_HEADER 16
#define INLINE_MAX 2022 /* LMDB stores smaller values in tree pages */

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


uint64_t
sym_value_pages(size_t len)
{
    return len <= INLINE_MAX ? 1 : (PAGE_HEADER - 1 + len) / STORE_PAGE + 1;
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
           && sym_has_expired(record->expires_at, record->stored_at, now_s);
}


int64_t
sym_module_last_s(const sym_object_record_t *record)
{
    return record->used_at != 0 ? (int64_t) record->used_at : record->stored_at;
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
