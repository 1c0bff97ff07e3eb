/*
 * Adds attempts to the record of a stored module: files requested after the one
 * that it was made from.
 */
#include "store/write/tables.h"

static int
put_attempts(sym_store_t *store, MDB_txn *txn, MDB_val *k, sym_str_t attempts)
{
    uint8_t buf[OBJECT_BYTES_MAX];
    sym_object_record_t record;
    MDB_val key = *k, val;
    int rc = mdb_get(txn, store->objects, &key, &val);

    if (rc != 0 || sym_object_check(k, &val, &record) != SYM_OK) {
        return rc == MDB_NOTFOUND ? 0 : rc;
    }

    record.attempts = attempts;
    val = (MDB_val){ sym_object_write(k, &record, buf), buf };
    return mdb_put(txn, store->objects, k, &val, 0);
}


sym_status_t
sym_store_note_attempts(sym_store_t *store, sym_str_t scope,
                        const sym_object_ref_t *ref, sym_kind_t kind,
                        sym_str_t attempts, sym_error_t *err)
{
    char buf[OBJECT_KEY_MAX];
    MDB_val k = { 0, buf };
    sym_object_record_t record;
    sym_snapshot_t *snapshot;
    sym_status_t status;
    MDB_txn *txn;
    int rc;

    if (sym_batch_commit(store, err) != SYM_OK
        || sym_snapshot_begin(store, &snapshot, err) != SYM_OK)
    {
        return err->status;
    }

    status = sym_snapshot_object(snapshot, scope, ref, kind, &record, err);
    if (status == SYM_OK) {
        k.mv_size = sym_object_key_write(scope, &record.object, kind, 0, buf);
    }
    sym_snapshot_end(snapshot);
    if (status != SYM_OK || sym_batch(store, &txn, err) != SYM_OK) {
        return status != SYM_OK ? status : err->status;
    }

    rc = put_attempts(store, txn, &k, attempts);
    return rc != 0
               ? sym_batch_failed(store, "cannot write to the store", rc, err)
               : sym_batch_commit(store, err);
}
