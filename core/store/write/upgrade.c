/*
 * Stores of older versions.
 *
 * Version 1: records had no source.  Version 2: a record was always a
 * symcache, and its key ended with the id.  Both are converted in place, in
 * transactions of bounded size; a killed writer leaves an older store with
 * some records converted, and the next writer continues.
 */
#include "store/write/writer.h"

#include <stdlib.h>

/* Records that are converted in one transaction. */
#define STEP_RECORDS 4096

/* A fetched module has attempts; one that was loaded by hand has none. */
static bool
is_unowned(void *ctx, const sym_module_key_t *key,
           const sym_module_record_t *record)
{
    (void) ctx;
    (void) key;
    return record->state != SYM_MODULE_READY || record->attempts.len != 0;
}


/* Replaces the record at the cursor, which then stands at the new one. */
static int
add_kind(MDB_cursor *cursor, const MDB_val *k, const MDB_val *v)
{
    uint8_t value[RECORD_BYTES_MAX];
    char key[RECORD_KEY_MAX];
    MDB_val new_key = { 0, key }, new_value = { 0, value };
    sym_module_record_t record;
    sym_module_key_t parts;
    sym_kind_t kind;
    int rc;

    /* what is damaged, or of a version that never was, goes; repair follows */
    if (sym_record_check(k, v, &record) != SYM_OK
        || !sym_record_key_read(k, &parts, &kind))
    {
        return mdb_cursor_del(cursor, 0);
    }

    new_key.mv_size = sym_record_key(&parts, kind, key);
    new_value.mv_size = sym_record_write(&new_key, &record, value);

    rc = mdb_cursor_del(cursor, 0);
    return rc != 0 ? rc : mdb_cursor_put(cursor, &new_key, &new_value, 0);
}


/* The next records behind the mark; *is_end: there are no more. */
static int
add_kinds(sym_store_t *store, MDB_txn *txn, sym_store_mark_t *mark,
          bool *is_end)
{
    MDB_val k = { mark->len, mark->key }, v;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, store->directory, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &k, &v,
                        mark->len != 0 ? MDB_SET_RANGE : MDB_FIRST);
    for (size_t i = 0; rc == 0 && i < STEP_RECORDS; i++) {
        if (k.mv_size > sizeof(mark->key)) {
            rc = MDB_CORRUPTED;
            break;
        }

        memcpy(mark->key, k.mv_data, k.mv_size);
        mark->len = k.mv_size;
        if (sym_record_key_is_kindless(&k)) {
            rc = add_kind(cursor, &k, &v);
            store->converted += rc == 0;
        }

        rc = rc != 0 ? rc : mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    mdb_cursor_close(cursor);
    *is_end = rc == MDB_NOTFOUND;
    return *is_end ? 0 : rc;
}


static sym_status_t
convert_keys(sym_store_t *store, sym_error_t *err)
{
    sym_store_mark_t mark = { .len = 0 };
    bool is_end = false;
    MDB_txn *txn;

    while (!is_end) {
        int rc;

        if (sym_batch(store, &txn, err) != SYM_OK) {
            return err->status;
        }

        rc = add_kinds(store, txn, &mark, &is_end);
        if (rc != 0) {
            return sym_batch_failed(store, "cannot convert the store", rc, err);
        }

        if (sym_batch_commit(store, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_store_upgrade(sym_store_t *store, sym_error_t *err)
{
    MDB_txn *txn;
    int rc;

    if (store->version == SYM_STORE_VERSION) {
        return SYM_OK;
    }

    /* the source of a fetched record is unknown, and showing it to all
     * locations could leak private symbols: only modules loaded by hand
     * stay */
    if (store->version == SYM_STORE_VERSION_UNOWNED
        && sym_store_drop(store, is_unowned, NULL, &store->unowned, err)
               != SYM_OK)
    {
        return err->status;
    }

    if (convert_keys(store, err) != SYM_OK
        || sym_store_repair(store, err) != SYM_OK
        || sym_batch(store, &txn, err) != SYM_OK)
    {
        return err->status;
    }

    rc = sym_meta_put(store, txn, "version", SYM_STORE_VERSION);
    if (rc != 0) {
        return sym_batch_failed(store, "cannot convert the store", rc, err);
    }

    store->version = SYM_STORE_VERSION;
    return sym_batch_commit(store, err);
}


uint64_t
sym_store_unowned(const sym_store_t *store)
{
    return store->unowned;
}


uint64_t
sym_store_converted(const sym_store_t *store)
{
    return store->converted;
}
