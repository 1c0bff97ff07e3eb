/*
 * Stores of older versions.
 *
 * Version 1: records had no source.  Version 2: a record was always a
 * symcache, and lies where it did: a worker of version 2 goes on reading
 * symcaches, the new ones too.
 */
#include "store/write/writer.h"

/* A fetched module has attempts; one that was loaded by hand has none. */
static bool
is_unowned(void *ctx, const sym_module_key_t *key,
           const sym_module_record_t *record)
{
    (void) ctx;
    (void) key;
    return record->state != SYM_MODULE_READY || record->attempts.len != 0;
}


/* Missing entries of the index are added when the records are counted. */
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

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_meta_put_version(store, txn);
    if (rc != 0) {
        return sym_batch_failed(store, "cannot upgrade the store", rc, err);
    }

    store->version = SYM_STORE_VERSION;
    store->is_upgraded = true;
    return sym_batch_commit(store, err);
}


uint64_t
sym_store_unowned(const sym_store_t *store)
{
    return store->unowned;
}


bool
sym_store_is_upgraded(const sym_store_t *store)
{
    return store->is_upgraded;
}
