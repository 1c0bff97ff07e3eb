/*
 * Writes objects; an artifact of higher rank is kept.
 */
#include "store/write/tables.h"

#include <time.h>

/* --- entries --- */

void
sym_object_own_name(sym_object_record_t *r, char name[SYM_NAME_MAX])
{
    char *p = name;

    r->object.name = sym_str_append(
        &p, r->object.name.len <= SYM_NAME_MAX ? r->object.name : SYM_STR(""));
}


int
sym_object_put_entries(sym_store_t *store, MDB_txn *txn, sym_str_t scope,
                       const sym_object_record_t *r)
{
    char buf[OBJECT_KEY_MAX], name[NAME_KEY_MAX];
    MDB_val k = { sym_name_key_write(scope, &r->object, r->kind, name), name };
    MDB_val v = { 0, buf };
    int rc = mdb_put(txn, store->names, &k, &v, 0);

    k.mv_data = buf;
    for (unsigned n = 1; rc == 0
                         && (k.mv_size = sym_object_key_write(scope, &r->object,
                                                              r->kind, n, buf))
                                != 0;
         n++)
    {
        v = (MDB_val){ 0, name };
        rc = mdb_put(txn, store->objects, &k, &v, 0);
    }

    return rc;
}


static int
del_entries(sym_store_t *store, MDB_txn *txn, sym_str_t scope,
            const sym_object_record_t *r)
{
    char buf[OBJECT_KEY_MAX], name[NAME_KEY_MAX];
    MDB_val k = { sym_name_key_write(scope, &r->object, r->kind, name), name };
    int rc = mdb_del(txn, store->names, &k, NULL);

    k.mv_data = buf;
    for (unsigned n = 1; (rc == 0 || rc == MDB_NOTFOUND)
                         && (k.mv_size = sym_object_key_write(scope, &r->object,
                                                              r->kind, n, buf))
                                != 0;
         n++)
    {
        rc = mdb_del(txn, store->objects, &k, NULL);
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


unsigned
sym_object_entries(sym_store_t *store, MDB_txn *txn, sym_str_t scope,
                   const sym_object_record_t *r, bool *has_all)
{
    char buf[OBJECT_KEY_MAX], name[NAME_KEY_MAX];
    MDB_val k = { sym_name_key_write(scope, &r->object, r->kind, name), name };
    unsigned n = 1;
    MDB_val v;

    *has_all = mdb_get(txn, store->names, &k, &v) == 0;
    k.mv_data = buf;
    while (
        (k.mv_size = sym_object_key_write(scope, &r->object, r->kind, n, buf))
        != 0)
    {
        *has_all = *has_all && mdb_get(txn, store->objects, &k, &v) == 0;
        n++;
    }

    return n;
}


int
sym_object_remove(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                  const sym_object_record_t *record, bool is_replaced)
{
    sym_str_t scope = sym_scope_in(key);
    sym_object_record_t own = *record;
    char buf[PATH_KEY_MAX], name[SYM_NAME_MAX];
    MDB_val path = { sym_object_path_key(scope, record, buf), buf };
    MDB_val k = *key;
    int rc;

    sym_object_own_name(&own, name);
    rc = del_entries(store, txn, scope, &own);

    if (rc == 0 && path.mv_size != 0) {
        rc = sym_path_record_release(store, txn, &path, is_replaced);
    }

    rc = rc != 0 ? rc : mdb_del(txn, store->objects, &k, NULL);
    return rc != 0 ? rc : sym_extents_delete(store, txn, own.module_id);
}


sym_victim_t
sym_victim_of_object(const sym_object_record_t *r)
{
    return (sym_victim_t){
        .kind = r->kind,
        .slot = r->slot,
        .last_s = sym_module_last_s(r),
        .stored_at = (uint64_t) r->stored_at,
        .module_id = r->module_id,
        .pages = r->pages,
    };
}


sym_victim_t
sym_victim_of_path(const MDB_val *key, const MDB_val *val,
                   const sym_path_record_t *r)
{
    return (sym_victim_t){
        .is_path = true,
        .is_negative = r->artifacts == 0,
        .slot = SYM_NO_SLOT,
        .last_s = r->stored_at,
        .stored_at = (uint64_t) r->stored_at,
        .negative = sym_path_record_bytes(key, val, r),
    };
}


/* --- ingests --- */

typedef struct {
    sym_ingest_t *ingest;
    const sym_object_put_t *put;
    sym_object_record_t record; /* final content of the record */
    MDB_val key, path;
    char key_text[OBJECT_KEY_MAX], path_text[PATH_KEY_MAX];
} new_t;

static bool
prepare(new_t *n, sym_ingest_t *ingest, const sym_object_put_t *put)
{
    n->ingest = ingest;
    n->put = put;
    n->record = *put->record;
    n->record.kind = ingest->kind;
    n->record.has_path = put->path != NULL;
    n->key = (MDB_val){ sym_object_key_write(put->scope, &n->record.object,
                                             ingest->kind, 0, n->key_text),
                        n->key_text };

    if (n->key.mv_size == 0) {
        return false;
    }

    n->path = (MDB_val){ 0, n->path_text };
    if (put->path != NULL) {
        sym_path_key_t path = *put->path;

        path.scope = put->scope;
        n->path.mv_size = sym_path_record_key(&path, n->path_text);
        n->record.path = sym_str(n->path_text + put->scope.len + 1,
                                 n->path.mv_size - put->scope.len - 1);
        return n->path.mv_size != 0;
    }

    return true;
}


/* Anything replaces a tombstone, or an artifact that this program cannot
   read. */
static bool
loses_to(const sym_object_record_t *old, const sym_object_record_t *record)
{
    return record->state != SYM_MODULE_READY || old->state != SYM_MODULE_READY
           || !sym_kind_reads(old->kind, old->kind_version)
           || sym_object_replaces(record, old);
}


/* Removes the record that the new one replaces, if any; *is_kept: false if the
 * old record stays. */
static int
replace_old(new_t *n, MDB_txn *txn, bool *is_kept)
{
    sym_store_t *store = n->ingest->store;
    MDB_val k = n->key, v;
    sym_object_record_t old;
    int rc = mdb_get(txn, store->objects, &k, &v);

    *is_kept = true;
    if (rc != 0) {
        return rc == MDB_NOTFOUND ? 0 : rc;
    }

    /* the next open frees the extents of a damaged record */
    if (sym_object_check(&n->key, &v, &old) != SYM_OK) {
        return 0;
    }

    if (!n->put->is_forced && !loses_to(&old, &n->record)) {
        *is_kept = false;
        return 0;
    }

    n->ingest->old = (sym_space_t){ old.pages, old.slot };
    return sym_object_remove(store, txn, &n->key, &old,
                             n->record.state == SYM_MODULE_READY);
}


static int
put_record(new_t *n, MDB_txn *txn)
{
    sym_store_t *store = n->ingest->store;
    uint8_t buf[OBJECT_BYTES_MAX];
    MDB_val k = n->key, v = { sym_object_write(&n->key, &n->record, buf), buf };
    int rc = mdb_put(txn, store->objects, &k, &v, 0);

    return rc != 0
               ? rc
               : sym_object_put_entries(store, txn, n->put->scope, &n->record);
}


static int
put_file(new_t *n, MDB_txn *txn, bool is_kept)
{
    sym_store_id_t ids[OBJECT_IDS_MAX];

    return n->path.mv_size == 0
               ? 0
               : sym_path_record_put(
                   n->ingest->store, txn, &n->path, n->put->file, ids,
                   is_kept ? sym_object_file_ids(&n->record.object, ids) : 0);
}


static int
put_all(new_t *n, MDB_txn *txn, bool *is_kept)
{
    sym_ingest_t *ingest = n->ingest;
    sym_store_t *store = ingest->store;
    int rc = replace_old(n, txn, is_kept);

    rc = rc != 0 ? rc : put_file(n, txn, *is_kept);
    if (rc == 0 && !*is_kept) {
        ingest->space = (sym_space_t){ 0, SYM_NO_SLOT };
        rc = sym_extents_delete(store, txn, ingest->module_id);
    } else if (rc == 0) {
        n->record.slot = sym_clock_take(&store->clock);
        ingest->space = (sym_space_t){ n->record.pages, n->record.slot };
        rc = put_record(n, txn);
    }

    return rc != 0 ? rc : sym_pending_del(store, txn, ingest->module_id);
}


static sym_status_t
put_in_batch(new_t *n, bool *is_kept, sym_error_t *err)
{
    sym_ingest_t *ingest = n->ingest;
    sym_store_t *store = ingest->store;
    MDB_txn *txn;
    int rc;

    if (ingest->lost.status != SYM_OK) {
        *err = ingest->lost;
        return err->status;
    }

    if (ingest->end != ingest->extents) {
        return sym_fail(err, SYM_MALFORMED, "the artifact lacks an extent");
    }

    rc = n->path.mv_size != 0 ? (int) sym_paths_make_room(
             store, &n->path, n->put->file, &txn, err)
                              : (int) sym_batch(store, &txn, err);
    if (rc != SYM_OK) {
        return err->status;
    }

    ingest->batch = store->batch;
    ingest->space = (sym_space_t){ 0, SYM_NO_SLOT };
    n->record.module_id = ingest->module_id;
    n->record.extents = ingest->extents;
    n->record.bytes = ingest->bytes;
    n->record.pages = ingest->pages + sym_tree_pages(ingest->extents);
    n->record.stored_at = (int64_t) time(NULL);

    rc = put_all(n, txn, is_kept);
    if (rc != 0) {
        sym_clock_give(&store->clock, ingest->space.slot);
        return sym_batch_failed(store, "cannot write to the store", rc, err);
    }

    sym_ingest_count_put(ingest);
    return SYM_OK;
}


sym_status_t
sym_ingest_put_object(sym_ingest_t *ingest, const sym_object_put_t *put,
                      bool *is_kept, sym_error_t *err)
{
    new_t n;

    if (!prepare(&n, ingest, put)) {
        (void) sym_fail(err, SYM_MALFORMED,
                        "the object has no id, or a name or path that cannot "
                        "be stored");
    } else {
        (void) put_in_batch(&n, is_kept, err);
    }

    if (err->status != SYM_OK) {
        sym_ingest_abort(ingest);
    }

    return err->status;
}
