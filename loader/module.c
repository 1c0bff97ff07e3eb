#include "module.h"

#include <stdlib.h>
#include <string.h>

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
    sym_status_t rc =
        sym_snapshot_find_any(snapshot, key, &m->key, &m->record, err);

    m->snapshot = snapshot;
    m->cache = (sym_symcache_t){ .get = get_extent };

    if (rc != SYM_OK || m->record.state != SYM_MODULE_READY) {
        return rc;
    }

    return sym_symcache_open(&m->cache, get_extent, m, err);
}


/* Without memory each access asks the store: right, but slow. */
void
module_remember(module_t *m)
{
    uint32_t n = m->cache.n_extents;

    if (n > m->extents_room) {
        free(m->extents);
        m->extents = malloc(n * sizeof(*m->extents));
        m->extents_room = m->extents != NULL ? n : 0;
    }

    if (n <= m->extents_room) {
        memset(m->extents, 0, n * sizeof(*m->extents));
        sym_symcache_remember(&m->cache, m->extents);
    }
}


void
module_free(module_t *m)
{
    free(m->extents);
}


/* The key that the module has itself, in text; SYM_NOT_FOUND: nothing answers
 * to the one that is asked for. */
static sym_status_t
find_own_key(sym_store_t *store, const sym_module_key_t *asked,
             char text[SYM_NAME_MAX + SYM_ID_MAX], sym_module_key_t *own,
             sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_module_record_t record;
    sym_status_t rc = sym_snapshot_begin(store, &snapshot, err);

    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_find_any(snapshot, asked, own, &record, err);

    if (rc == SYM_OK) {
        memcpy(text, own->name.data, own->name.len);
        memcpy(text + own->name.len, own->id.data, own->id.len);
        own->scope = asked->scope;
        own->name.data = text;
        own->id.data = text + own->name.len;
    }

    sym_snapshot_end(snapshot);
    return rc;
}


sym_status_t
module_remove(sym_store_t *store, const sym_module_key_t *key, sym_error_t *err)
{
    char text[SYM_NAME_MAX + SYM_ID_MAX];
    sym_module_key_t own;
    sym_status_t by_id, by_key;

    if (key->name.len == 0) {
        return sym_store_remove_id(store, key->scope, key->id, err);
    }

    by_id = find_own_key(store, key, text, &own, err);

    if (by_id == SYM_OK) {
        by_id = sym_store_remove(store, &own, err);
    }

    /* also what is known not to be had, or cannot be read any more */
    by_key =
        err->status == SYM_OK ? sym_store_remove(store, key, err) : err->status;
    return by_key == SYM_NOT_FOUND ? by_id : by_key;
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
