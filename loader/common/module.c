#include "common/module.h"

#include <stdlib.h>
#include <string.h>

/* Number of path records that are read in one snapshot. */
#define FORGET_RECORDS 10000

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const module_t *m = ctx;

    return sym_snapshot_extent(m->snapshot, m->record.module_id, number, data,
                               len);
}


typedef struct {
    module_t *m; /* record.state 0: no record yet */
    const sym_object_ref_t *ref;
    sym_kind_t kind;
    sym_error_t *err;
} search_t;

/* READY modules win over others, and better ones over poor ones.  Among equals
 * the first wins, so the one loaded by hand. */
static bool
is_better(const sym_object_record_t *a, const sym_object_record_t *b)
{
    bool a_ready = a->state == SYM_MODULE_READY;
    bool b_ready = b->state == SYM_MODULE_READY;

    if (b->state == 0 || a_ready != b_ready) {
        return b->state == 0 || a_ready;
    }

    return a_ready && a->quality > b->quality && sym_object_is_poor(b);
}


static sym_status_t
search_scope(void *ctx, sym_str_t scope)
{
    const search_t *s = ctx;
    sym_object_record_t record;
    sym_status_t rc = sym_snapshot_object(s->m->snapshot, scope, s->ref,
                                          s->kind, &record, s->err);

    if (rc == SYM_OK && is_better(&record, &s->m->record)) {
        s->m->record = record;
        s->m->key.scope = scope;
    }

    return s->err->status;
}


sym_status_t
module_open(module_t *m, sym_snapshot_t *snapshot, const sym_module_key_t *key,
            sym_kind_t kind, sym_error_t *err)
{
    sym_object_ref_t ref;
    search_t s = { m, &ref, kind, err };
    bool is_of_all = sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL));

    sym_object_ref_of_key(key, &ref);
    m->snapshot = snapshot;
    m->key = *key;
    m->record.state = 0;

    if ((is_of_all ? sym_snapshot_scopes(snapshot, search_scope, &s, err)
                   : search_scope(&s, key->scope))
        != SYM_OK)
    {
        return err->status;
    }

    if (m->record.state == SYM_MODULE_READY) {
        m->key.name = m->record.object.name;
        m->key.id = sym_object_shown_id(&m->record.object, m->id);
    }

    return m->record.state != 0 ? SYM_OK : SYM_NOT_FOUND;
}


sym_extent_source_t
module_extents(module_t *m)
{
    return (sym_extent_source_t){ get_extent, m, m->record.extents };
}


sym_status_t
module_remove(sym_store_t *store, const sym_module_key_t *key, sym_error_t *err)
{
    const sym_str_t *scope =
        sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL)) ? NULL : &key->scope;
    sym_store_mark_t mark = { .len = 0 };
    uint64_t forgotten = 0;
    sym_object_ref_t ref;
    sym_status_t rc, more = SYM_AGAIN;

    sym_object_ref_of_key(key, &ref);
    rc = sym_store_remove_objects(store, scope, &ref, SYM_KIND_ALL, err);
    while (err->status == SYM_OK && more == SYM_AGAIN) {
        more = sym_store_forget_part(store, scope, &ref, &mark, FORGET_RECORDS,
                                     &forgotten, err);
    }

    return err->status == SYM_OK && forgotten != 0 ? SYM_OK : rc;
}


uint32_t
module_removed_kinds(const sym_store_t *store, const sym_kind_counts_t *before)
{
    const sym_kind_counts_t now = sym_store_removed(store);
    uint32_t kinds = 0;

    for (unsigned kind = 0; kind <= SYM_KIND_MAX; kind++) {
        kinds |= now.n[kind] != before->n[kind] ? 1u << kind : 0;
    }

    return kinds;
}
