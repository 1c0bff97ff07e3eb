#include "store/write/tables.h"

#include <stdlib.h>

typedef struct {
    sym_snapshot_t *snapshot;
    sym_fault_pt report;
    void *ctx;
    sym_error_t *err;
    uint64_t next; /* next module id */
    uint64_t faults;
    sym_ids_t ids;           /* ids of artifacts */
    uint64_t objects, names; /* entries of objects in these tables */
    uint64_t of_objects;     /* objects whose file has a record, */
    uint64_t of_paths;       /* the same number, according to these records */
} verify_t;


static void
fault(verify_t *v, const sym_module_key_t *key, sym_kind_t kind,
      uint32_t extent, const char *what)
{
    v->faults++;
    v->report(v->ctx, key, kind, extent, what);
}


static void
verify_extents(verify_t *v, const sym_module_key_t *key,
               const sym_object_record_t *a)
{
    sym_store_t *store = v->snapshot->store;
    uint64_t bytes = 0, pages = sym_tree_pages(a->extents);

    for (uint32_t i = 0; i < a->extents; i++) {
        uint64_t id = EXTENT_KEY(a->module_id, (uint64_t) i);
        MDB_val k = { sizeof(id), &id }, val;
        int rc = mdb_get(v->snapshot->txn, store->extents, &k, &val);

        if (rc != 0) {
            fault(v, key, a->kind, i, "extent is missing");
        } else if (val.mv_size < CRC_BYTES
                   || val.mv_size > SYM_EXTENT_MAX + CRC_BYTES) {
            fault(v, key, a->kind, i, "extent has an impossible size");
        } else {
            const uint8_t *p = val.mv_data;
            size_t len = val.mv_size - CRC_BYTES;

            bytes += len;
            pages += sym_value_pages(val.mv_size);
            if (sym_crc(&id, sizeof(id), p, len) != sym_crc_get(p + len)) {
                fault(v, key, a->kind, i, "extent's checksum is wrong");
            }
        }
    }

    if (bytes != a->bytes || pages != a->pages) {
        fault(v, key, a->kind, 0, "extents do not add up to the module's size");
    }
}


/* Adds the artifact's id. */
static sym_status_t
verify_number(verify_t *v, const sym_module_key_t *key, sym_kind_t kind,
              uint64_t module_id)
{
    if (module_id >= v->next) {
        fault(v, key, kind, 0, "module's number was never given out");
    }

    return sym_ids_add(&v->ids, module_id)
               ? SYM_OK
               : sym_fail(v->err, SYM_NOMEM, "no memory to verify the store");
}


/* Whether an entry for another id leads to a record. */
static void
verify_entry(verify_t *v, const sym_object_entry_t *entry)
{
    sym_module_key_t key = { .scope = entry->scope, .name = entry->name };
    char buf[OBJECT_KEY_MAX];
    MDB_val k = { sym_object_key_of_entry(entry, buf), buf }, val;

    if (mdb_get(v->snapshot->txn, v->snapshot->store->objects, &k, &val) != 0) {
        fault(v, &key, entry->kind, 0, "an id leads to no object");
    }
}


static sym_status_t
verify_object(void *ctx, const MDB_val *k, const MDB_val *val)
{
    verify_t *v = ctx;
    char id[SYM_ID_TEXT_MAX], buf[PATH_KEY_MAX];
    sym_module_key_t key = { 0 };
    sym_object_record_t record;
    sym_object_entry_t entry;
    MDB_val path = { 0, buf }, unused;
    bool has_all;

    if (!sym_object_key_parse(k, &entry)) {
        fault(v, &key, SYM_KIND_ALL, 0, "key of an object is damaged");
        return SYM_OK;
    }

    if (entry.first.len != 0) {
        verify_entry(v, &entry);
        return SYM_OK;
    }

    key.scope = entry.scope;
    key.name = entry.name;
    if (sym_object_check(k, val, &record) != SYM_OK) {
        fault(v, &key, entry.kind, 0, "record of an object is damaged");
        return SYM_OK;
    }

    key.name = record.object.name;
    key.id =
        sym_str(id, sym_debug_id_write_breakpad(&record.object.debug_id, id));
    verify_extents(v, &key, &record);

    v->objects += sym_object_entries(v->snapshot->store, v->snapshot->txn,
                                     entry.scope, &record, &has_all);
    v->names++;
    if (!has_all) {
        fault(v, &key, record.kind, 0, "module is not found by its ids");
    }

    path.mv_size = sym_object_path_key(entry.scope, &record, buf);
    v->of_objects += record.has_path;
    if (record.has_path
        && mdb_get(v->snapshot->txn, v->snapshot->store->paths, &path, &unused)
               != 0)
    {
        fault(v, &key, record.kind, 0, "module's file has no record");
    }

    return verify_number(v, &key, record.kind, record.module_id);
}


static sym_status_t
verify_path(void *ctx, const MDB_val *k, const MDB_val *val)
{
    verify_t *v = ctx;
    sym_module_key_t key = { .scope = sym_scope_in(k) };
    sym_path_record_t record;
    sym_path_shown_t shown;

    if (sym_path_record_check(k, val, &record) != SYM_OK) {
        key.name =
            sym_path_record_key_read(k, &shown) ? shown.path : SYM_STR("");
        fault(v, &key, SYM_KIND_ALL, 0, "record of a path is damaged");
    } else {
        v->of_paths += record.artifacts;
    }

    return SYM_OK;
}


/* Every object has all of its entries, so surplus entries are stale. */
static void
verify_tables(verify_t *v)
{
    static const sym_module_key_t none;
    sym_store_t *store = v->snapshot->store;
    MDB_txn *txn = v->snapshot->txn;
    MDB_stat objects = { 0 }, names = { 0 };

    if (sym_table_walk(txn, store->objects, verify_object, v, v->err) != SYM_OK
        || sym_table_walk(txn, store->paths, verify_path, v, v->err) != SYM_OK)
    {
        return;
    }

    (void) mdb_stat(txn, store->objects, &objects);
    (void) mdb_stat(txn, store->names, &names);
    if ((uint64_t) objects.ms_entries > v->objects
        || (uint64_t) names.ms_entries > v->names)
    {
        fault(v, &none, SYM_KIND_ALL, 0, "ids belong to no module");
    }

    if (v->of_objects != v->of_paths) {
        fault(v, &none, SYM_KIND_ALL, 0,
              "records of paths count other artifacts than there are");
    }
}


/* Looks for extents without an object; those of current ingests belong to the
 * writer. */
static int
verify_orphans(verify_t *v)
{
    static const sym_module_key_t none;
    sym_store_t *store = v->snapshot->store;
    uint64_t last = UINT64_MAX, before = 0, id;
    bool is_first = true;
    MDB_cursor *cursor;
    MDB_val k, val;
    int rc = mdb_cursor_open(v->snapshot->txn, store->extents, &cursor);

    if (rc != 0) {
        return rc;
    }

    while ((rc = mdb_cursor_get(cursor, &k, &val, MDB_NEXT)) == 0) {
        memcpy(&id, k.mv_data, sizeof(id));

        /* without this check a damaged tree could lead us in circles */
        if (!is_first && id <= before) {
            rc = MDB_CORRUPTED;
            break;
        }
        is_first = false;
        before = id;
        id = MODULE_OF(id);

        if (id != last && !sym_ids_has(&v->ids, id)
            && !sym_pending_has(store, v->snapshot->txn, id))
        {
            fault(v, &none, SYM_KIND_ALL, 0, "extents belong to no module");
        }
        last = id;
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


static void
verify_all(verify_t *v)
{
    sym_store_t *store = v->snapshot->store;
    MDB_txn *txn = v->snapshot->txn;
    uint64_t number;
    int rc = sym_meta_get(store, txn, "next", &v->next);

    rc = rc != 0 ? rc : sym_meta_get(store, txn, "quota", &number);
    rc = rc != 0 ? rc : sym_meta_get(store, txn, "evicted", &number);

    if (rc == 0) {
        verify_tables(v);
        sym_ids_sort(&v->ids);
        rc = v->err->status == SYM_OK ? verify_orphans(v) : 0;
    }

    if (rc != 0) {
        (void) sym_lmdb_fail(v->err, "cannot read the store", rc);
    }
}


static void
run(void *arg)
{
    verify_all(arg);
}


sym_status_t
sym_store_verify(sym_store_t *store, sym_fault_pt report, void *ctx,
                 uint64_t *faults, sym_error_t *err)
{
    verify_t v = { .report = report, .ctx = ctx, .err = err };

    *faults = 0;
    if (sym_snapshot_begin(store, &v.snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_store_guarded(store, run, &v, err);
    sym_snapshot_end(v.snapshot);
    free(v.ids.ids);
    *faults = v.faults;
    return err->status;
}
