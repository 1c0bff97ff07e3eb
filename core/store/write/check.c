/*
 * Checks and repairs the tables of objects and paths when a writer opens a
 * store.
 */
#include "store/write/tables.h"

#include <errno.h>

typedef struct {
    sym_store_t *store;
    MDB_txn *txn;
    uint64_t extents;
    uint64_t entries, names; /* entries that the objects should have */
    uint64_t of_objects;     /* objects whose file has a record */
    uint64_t of_paths;       /* the same number, according to the records of
                                paths */
    bool is_whole;
} count_t;

static sym_status_t
count_object(void *ctx, const MDB_val *key, const MDB_val *val)
{
    count_t *c = ctx;
    sym_object_record_t record;
    sym_object_entry_t entry;
    bool has_all;

    if (!sym_object_key_parse(key, &entry)) {
        c->is_whole = false;
        return SYM_OK;
    }

    if (entry.first.len != 0) {
        return SYM_OK; /* it is counted with its record */
    }

    if (sym_object_check(key, val, &record) != SYM_OK) {
        c->is_whole = false;
        return SYM_OK;
    }

    c->extents += record.extents;
    c->store->live_pages += record.pages;
    sym_clock_claim(&c->store->clock, record.slot);
    c->entries +=
        sym_object_entries(c->store, c->txn, entry.scope, &record, &has_all);
    c->names++;
    c->of_objects += record.has_path;
    c->is_whole = c->is_whole && has_all;
    return SYM_OK;
}


static sym_status_t
count_path(void *ctx, const MDB_val *key, const MDB_val *val)
{
    count_t *c = ctx;
    sym_path_record_t record;

    if (sym_path_record_check(key, val, &record) != SYM_OK) {
        c->is_whole = false;
        return SYM_OK;
    }

    c->of_paths += record.artifacts;
    c->store->negatives += sym_path_record_bytes(key, val, &record);
    return SYM_OK;
}


sym_status_t
sym_tables_count(sym_store_t *store, MDB_txn *txn, uint64_t *extents,
                 bool *is_whole, sym_error_t *err)
{
    count_t c = { .store = store, .txn = txn, .is_whole = true };
    MDB_stat objects = { 0 }, names = { 0 };

    if (sym_table_walk(txn, store->objects, count_object, &c, err) != SYM_OK
        || sym_table_walk(txn, store->paths, count_path, &c, err) != SYM_OK)
    {
        return err->status;
    }

    (void) mdb_stat(txn, store->objects, &objects);
    (void) mdb_stat(txn, store->names, &names);
    *extents = c.extents;
    *is_whole = c.is_whole && (uint64_t) objects.ms_entries == c.entries
                && (uint64_t) names.ms_entries == c.names
                && c.of_objects == c.of_paths;
    return SYM_OK;
}


/* --- repair --- */

/* Whether the record of its file exists, or is not needed. */
static bool
has_file(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
         const sym_object_record_t *record)
{
    char buf[PATH_KEY_MAX];
    MDB_val k = { sym_object_path_key(sym_scope_in(key), record, buf), buf }, v;

    return !record->has_path
           || (k.mv_size != 0 && mdb_get(txn, store->paths, &k, &v) == 0);
}


/* Deletes the entries that keep() rejects. */
static int
sift(sym_store_t *store, MDB_txn *txn, MDB_dbi table, sym_ids_t *kept,
     int (*keep)(sym_store_t *store, MDB_txn *txn, MDB_cursor *cursor,
                 const MDB_val *k, const MDB_val *v, sym_ids_t *kept))
{
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(txn, table, &cursor);

    if (rc != 0) {
        return rc;
    }

    while ((rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        rc = keep(store, txn, cursor, &k, &v, kept);
        if (rc == MDB_NOTFOUND) {
            rc = mdb_cursor_del(cursor, 0);
        }
        if (rc != 0) {
            break;
        }
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Sets the record's number of artifacts to 0, to count them again. */
static int
keep_path(sym_store_t *store, MDB_txn *txn, MDB_cursor *cursor,
          const MDB_val *k, const MDB_val *v, sym_ids_t *kept)
{
    char key[PATH_KEY_MAX];
    uint8_t buf[PATH_BYTES_MAX];
    sym_path_record_t record;
    MDB_val own = { k->mv_size, key }, value = { 0, buf };

    (void) store;
    (void) txn;
    (void) kept;
    if (sym_path_record_check(k, v, &record) != SYM_OK) {
        return MDB_NOTFOUND;
    }

    if (record.artifacts == 0) {
        return 0;
    }

    memcpy(key, k->mv_data, k->mv_size);
    record.artifacts = 0;
    value.mv_size = sym_path_record_write(k, &record, buf);
    return mdb_cursor_put(cursor, &own, &value, MDB_CURRENT);
}


/* Drops entries for other ids, because they are made again from the records. */
static int
keep_object(sym_store_t *store, MDB_txn *txn, MDB_cursor *cursor,
            const MDB_val *k, const MDB_val *v, sym_ids_t *kept)
{
    sym_object_record_t record;

    (void) cursor;
    if (sym_object_check(k, v, &record) != SYM_OK
        || !sym_extents_are_there(store, txn, record.module_id, record.extents)
        || !has_file(store, txn, k, &record))
    {
        return MDB_NOTFOUND;
    }

    return sym_ids_add(kept, record.module_id) ? 0 : ENOMEM;
}


/* Makes an object's entries, and counts it as an artifact of its file. */
static int
complete(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
         const sym_object_record_t *record)
{
    char buf[PATH_KEY_MAX];
    sym_str_t scope = sym_scope_in(key);
    MDB_val path = { sym_object_path_key(scope, record, buf), buf };
    sym_object_record_t own = *record;
    char name[SYM_NAME_MAX];
    int rc;

    sym_object_own_name(&own, name);
    rc = path.mv_size != 0 ? sym_path_record_hold(store, txn, &path) : 0;
    return rc != 0 ? rc : sym_object_put_entries(store, txn, scope, &own);
}


/* Walks by keys, because the loop adds entries to the table. */
static int
complete_all(sym_store_t *store, MDB_txn *txn)
{
    char buf[OBJECT_KEY_MAX];
    sym_object_record_t record;
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(txn, store->objects, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
    while (rc == 0) {
        size_t len = k.mv_size;
        MDB_val own = { len, buf };

        memcpy(buf, k.mv_data, len);
        if (v.mv_size != 0) {
            rc = sym_object_check(&own, &v, &record) == SYM_OK
                     ? complete(store, txn, &own, &record)
                     : MDB_CORRUPTED;
        }

        k = own;
        rc = rc != 0 ? rc : mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
        rc = rc != 0 ? rc : mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


int
sym_tables_repair(sym_store_t *store, MDB_txn *txn, sym_ids_t *kept)
{
    int rc = sift(store, txn, store->paths, kept, keep_path);

    rc = rc != 0 ? rc : sift(store, txn, store->objects, kept, keep_object);
    rc = rc != 0 ? rc : mdb_drop(txn, store->names, 0);
    return rc != 0 ? rc : complete_all(store, txn);
}
