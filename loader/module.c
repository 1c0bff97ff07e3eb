#include "module.h"

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const module_t *m = ctx;

    return sym_snapshot_extent(m->snapshot, m->record.module_id, number, data,
                               len);
}


sym_status_t
module_open(module_t *m, sym_snapshot_t *snapshot, const sym_module_key_t *key,
            sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find(snapshot, key, &m->record, err);

    m->snapshot = snapshot;
    m->cache = (sym_symcache_t){ .get = get_extent };

    if (rc != SYM_OK || m->record.state != SYM_MODULE_READY) {
        return rc;
    }

    return sym_symcache_open(&m->cache, get_extent, m, err);
}


sym_str_t
module_string(module_t *m, sym_string_ref_t ref)
{
    bool is_plain;

    if (ref == SYM_NO_REF) {
        return SYM_STR("");
    }

    return sym_str(m->text,
                   sym_symcache_string(&m->cache, ref, m->text, &is_plain));
}


sym_str_t
module_info(module_t *m, sym_info_t which)
{
    return sym_str(m->text, sym_symcache_info(&m->cache, which, m->text));
}
