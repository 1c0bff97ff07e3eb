/*
 * Adds attempts to the record of a stored module: files requested after the one
 * that it was made from.
 */
#include "store/write/writer.h"

sym_status_t
sym_store_note_attempts(sym_store_t *store, const sym_module_key_t *key,
                        sym_kind_t kind, sym_str_t attempts, sym_error_t *err)
{
    char name[RECORD_KEY_MAX];
    uint8_t buf[RECORD_BYTES_MAX];
    MDB_val k = { sym_record_key(key, kind, name), name }, val;
    sym_module_record_t record;
    MDB_txn *txn;
    int rc;

    if (k.mv_size == 0) {
        return SYM_NOT_FOUND;
    }

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = mdb_get(txn, store->directory, &k, &val);
    if (rc == MDB_NOTFOUND) {
        return SYM_NOT_FOUND;
    }

    if (rc == 0
        && (sym_record_check(&k, &val, &record) != SYM_OK
            || record.state != SYM_MODULE_READY))
    {
        return SYM_NOT_FOUND;
    }

    if (rc == 0) {
        record.attempts = attempts;
        val = (MDB_val){ sym_record_write(&k, &record, buf), buf };
        rc = mdb_put(txn, store->directory, &k, &val, 0);
    }

    return rc != 0
               ? sym_batch_failed(store, "cannot write to the store", rc, err)
               : sym_batch_commit(store, err);
}
