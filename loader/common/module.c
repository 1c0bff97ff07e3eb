#include "common/module.h"

#include "store/write.h"

#include <stdlib.h>
#include <string.h>

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const module_t *m = ctx;

    return sym_snapshot_extent(m->snapshot, m->record.module_id, number, data,
                               len);
}


typedef struct {
    sym_snapshot_t *snapshot;
    const sym_module_key_t *key;
    sym_kind_t kind;
    sym_module_key_t found;
    sym_module_record_t record; /* state 0: none yet */
    sym_error_t *err;
} search_t;

/* READY modules win over others, better ones over poor ones, and the first of
 * equals: the one loaded by hand. */
static bool
is_better(const sym_module_record_t *a, const sym_module_record_t *b)
{
    bool a_ready = a->state == SYM_MODULE_READY;
    bool b_ready = b->state == SYM_MODULE_READY;

    if (b->state == 0 || a_ready != b_ready) {
        return b->state == 0 || a_ready;
    }

    return a_ready && a->quality > b->quality && sym_module_is_poor(b);
}


static sym_status_t
search_scope(void *ctx, sym_str_t scope)
{
    search_t *s = ctx;
    sym_module_key_t key = *s->key, found;
    sym_module_record_t record;

    key.scope = scope;
    if (sym_snapshot_find_any(s->snapshot, &key, s->kind, &found, &record,
                              s->err)
            == SYM_OK
        && is_better(&record, &s->record))
    {
        s->found = found;
        s->record = record;
    }

    return s->err->status;
}


sym_status_t
module_find(sym_snapshot_t *snapshot, const sym_module_key_t *key,
            sym_kind_t kind, sym_module_key_t *found,
            sym_module_record_t *record, sym_error_t *err)
{
    search_t s = { .snapshot = snapshot, .key = key, .kind = kind, .err = err };

    if (!sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL))) {
        return sym_snapshot_find_any(snapshot, key, kind, found, record, err);
    }

    if (sym_snapshot_scopes(snapshot, search_scope, &s, err) != SYM_OK) {
        return err->status;
    }

    *found = s.found;
    *record = s.record;
    return s.record.state != 0 ? SYM_OK : SYM_NOT_FOUND;
}


typedef struct {
    const sym_module_key_t *key;
    sym_kind_t kind;
    module_t *m;
    sym_module_record_t record; /* state 0: none yet */
    size_t name_len;
} walk_t;

static sym_status_t
consider_module(void *ctx, const sym_module_key_t *key,
                const sym_module_record_t *record)
{
    walk_t *w = ctx;

    if (record->kind == w->kind && sym_str_eq(key->id, w->key->id)
        && (sym_str_eq(w->key->scope, SYM_STR(SYM_SCOPE_ALL))
            || sym_str_eq(w->key->scope, key->scope))
        && (w->record.state != SYM_MODULE_READY
            || (record->state == SYM_MODULE_READY
                && record->quality > w->record.quality)))
    {
        w->record = *record;
        w->name_len = key->name.len;
        memcpy(w->m->name, key->name.data, key->name.len);
    }

    return SYM_OK;
}


/* The index of ids has debug files only: a .sym file has a name. */
static sym_status_t
open_by_walk(module_t *m, const sym_module_key_t *key, sym_kind_t kind,
             sym_error_t *err)
{
    walk_t w = { .key = key, .kind = kind, .m = m };
    sym_module_key_t named = *key;
    sym_status_t rc = sym_snapshot_each(m->snapshot, consider_module, &w, err);

    if (rc != SYM_OK || w.record.state == 0) {
        return rc != SYM_OK ? rc : SYM_NOT_FOUND;
    }

    named.name = sym_str(m->name, w.name_len);
    return module_find(m->snapshot, &named, kind, &m->key, &m->record, err);
}


sym_status_t
module_open(module_t *m, sym_snapshot_t *snapshot, const sym_module_key_t *key,
            sym_kind_t kind, sym_error_t *err)
{
    sym_status_t rc;

    m->snapshot = snapshot;
    rc = module_find(snapshot, key, kind, &m->key, &m->record, err);

    return rc == SYM_NOT_FOUND && key->name.len == 0
               ? open_by_walk(m, key, kind, err)
               : rc;
}


sym_extent_source_t
module_extents(module_t *m)
{
    return (sym_extent_source_t){ get_extent, m, m->record.extents };
}


/* The module's own key, in text; SYM_NOT_FOUND: no module matches the requested
 * key. */
static sym_status_t
find_own_key(sym_store_t *store, const sym_module_key_t *asked, sym_kind_t kind,
             char text[SYM_NAME_MAX + SYM_ID_MAX], sym_module_key_t *own,
             sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_module_record_t record;
    sym_status_t rc = sym_snapshot_begin(store, &snapshot, err);

    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_find_read(snapshot, asked, kind, own, &record, err);

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


/* Removes all kinds of the object that matches the key. */
static sym_status_t
remove_own(sym_store_t *store, const sym_module_key_t *key, sym_error_t *err)
{
    char text[SYM_NAME_MAX + SYM_ID_MAX];
    sym_status_t result = SYM_NOT_FOUND;
    sym_module_key_t own;

    for (size_t i = 0; i < SYM_KINDS && err->status == SYM_OK; i++) {
        if (find_own_key(store, key, sym_kinds[i]->kind, text, &own, err)
                == SYM_OK
            && sym_store_remove(store, &own, SYM_KIND_ALL, err) == SYM_OK)
        {
            result = SYM_OK;
        }
    }

    return result;
}


static sym_status_t
remove_of_one(sym_store_t *store, const sym_module_key_t *key, sym_error_t *err)
{
    sym_status_t result;

    if (key->name.len == 0) {
        return sym_store_remove_ids(store, key, err);
    }

    result = remove_own(store, key, err);

    /* also unreadable versions, and negative records */
    if (err->status == SYM_OK && !sym_module_key_is_cut(key)
        && sym_store_remove(store, key, SYM_KIND_ALL, err) == SYM_OK)
    {
        result = SYM_OK;
    }

    if (err->status == SYM_OK
        && sym_store_remove_ids(store, key, err) == SYM_OK) {
        result = SYM_OK;
    }

    return err->status != SYM_OK ? err->status : result;
}


typedef struct {
    char (*names)[SYM_SCOPE_MAX];
    size_t *lens;
    size_t n, size;
} scopes_t;

static sym_status_t
add_scope(void *ctx, sym_str_t scope)
{
    scopes_t *s = ctx;

    if (s->n == s->size) {
        size_t size = s->size == 0 ? 16 : 2 * s->size;
        void *names = realloc(s->names, size * sizeof(*s->names));
        void *lens;

        s->names = names != NULL ? names : s->names;
        lens = names != NULL ? realloc(s->lens, size * sizeof(*s->lens)) : NULL;
        s->lens = lens != NULL ? lens : s->lens;
        if (lens == NULL) {
            return SYM_NOMEM;
        }
        s->size = size;
    }

    if (scope.len != 0) {
        memcpy(s->names[s->n], scope.data, scope.len);
    }
    s->lens[s->n++] = scope.len;
    return SYM_OK;
}


/* No snapshot is open during a removal. */
static sym_status_t
list_scopes(sym_store_t *store, scopes_t *scopes, sym_error_t *err)
{
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    if (sym_snapshot_scopes(snapshot, add_scope, scopes, err) == SYM_NOMEM) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
    }

    sym_snapshot_end(snapshot);
    return err->status;
}


sym_status_t
module_remove(sym_store_t *store, const sym_module_key_t *key, sym_error_t *err)
{
    sym_module_key_t one = *key;
    sym_status_t result = SYM_NOT_FOUND;
    scopes_t scopes = { 0 };

    if (!sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL))) {
        return remove_of_one(store, key, err);
    }

    (void) list_scopes(store, &scopes, err);
    for (size_t i = 0; i < scopes.n && err->status == SYM_OK; i++) {
        one.scope = sym_str(scopes.names[i], scopes.lens[i]);
        result = remove_of_one(store, &one, err) == SYM_OK ? SYM_OK : result;
    }

    free(scopes.names);
    free(scopes.lens);
    return err->status != SYM_OK ? err->status : result;
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
