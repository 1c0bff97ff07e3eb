/*
 * Writes records of paths.
 */
#include "store/write/tables.h"

#include <time.h>

/* Reads the stored record; MDB_NOTFOUND: no readable one. */
static int
get(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
    sym_path_record_t *record, uint64_t *bytes)
{
    MDB_val k = *key, v;
    int rc = mdb_get(txn, store->paths, &k, &v);

    *bytes = 0;
    if (rc != 0) {
        return rc;
    }

    if (sym_path_record_check(key, &v, record) != SYM_OK) {
        return MDB_NOTFOUND;
    }

    *bytes = sym_path_record_bytes(key, &v, record);
    return 0;
}


/* Changes the bytes of negatives; reverted if the batch is lost. */
static void
count(sym_store_t *store, uint64_t before, uint64_t after)
{
    store->negatives += after - before;
    store->batch_negatives += (int64_t) (after - before);
}


static int
put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
    const sym_path_record_t *record, uint64_t before)
{
    uint8_t buf[PATH_BYTES_MAX];
    MDB_val k = *key, v = { sym_path_record_write(key, record, buf), buf };
    uint64_t after = sym_path_record_bytes(key, &v, record);
    int rc = mdb_put(txn, store->paths, &k, &v, 0);

    if (rc == 0) {
        count(store, before, after);
    }

    return rc;
}


static void
add_id(sym_path_record_t *r, const sym_store_id_t *id)
{
    for (unsigned i = 0; i < r->n_ids; i++) {
        if (memcmp(&r->ids[i], id, sizeof(*id)) == 0) {
            return;
        }
    }

    r->ids[r->n_ids < SYM_PATH_IDS_MAX ? r->n_ids++ : SYM_PATH_IDS_MAX - 1] =
        *id;
}


/*
 * Keeps results for other kinds.  The old ids stay, because they find the
 * artifacts of an earlier file.
 */
static void
merge(sym_path_record_t *r, const sym_path_record_t *old)
{
    if (old->artifacts != 0) {
        for (unsigned i = 0; i < old->n_ids; i++) {
            add_id(r, &old->ids[i]);
        }
    }

    if (old->artifacts != 0 && old->outcome == SYM_PATH_READ) {
        r->given |= old->given & ~r->tried;
        if (r->reader == old->reader) {
            r->tried |= old->tried;
        }
    } else if (r->tried != 0 && old->outcome == r->outcome
               && old->reader == r->reader && old->expires_at > r->stored_at)
    {
        /* the same text was read for another kind */
        r->tried |= old->tried;
        r->expires_at =
            old->expires_at < r->expires_at ? old->expires_at : r->expires_at;
    }
}


int
sym_path_record_put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                    const sym_path_record_t *given, const sym_store_id_t *ids,
                    unsigned n_ids)
{
    sym_path_record_t record = *given, old;
    uint64_t before;
    int rc = get(store, txn, key, &old, &before);

    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }

    record.stored_at = (int64_t) time(NULL);
    record.artifacts = 0;
    if (rc == 0) {
        merge(&record, &old);
        record.artifacts = old.artifacts;
    }

    /* the ids in a file's record find its artifacts */
    for (unsigned i = 0; i < n_ids; i++) {
        add_id(&record, &ids[i]);
    }

    if (n_ids != 0 && ++record.artifacts == 0) {
        return MDB_CORRUPTED;
    }

    return put(store, txn, key, &record, before);
}


int
sym_path_record_hold(sym_store_t *store, MDB_txn *txn, const MDB_val *key)
{
    sym_path_record_t record;
    uint64_t before;
    int rc = get(store, txn, key, &record, &before);

    if (rc != 0 || ++record.artifacts == 0) {
        return rc != 0 ? rc : MDB_CORRUPTED;
    }

    return put(store, txn, key, &record, before);
}


int
sym_path_record_release(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
                        bool is_replaced)
{
    sym_path_record_t record;
    uint64_t before;
    int rc = get(store, txn, key, &record, &before);

    if (rc != 0 || record.artifacts == 0) {
        return rc == MDB_NOTFOUND ? 0 : rc;
    }

    record.artifacts--;
    if (record.artifacts == 0 && !is_replaced) {
        return sym_path_record_drop(store, txn, key);
    }

    return put(store, txn, key, &record, before);
}


int
sym_path_record_drop(sym_store_t *store, MDB_txn *txn, const MDB_val *key)
{
    sym_path_record_t record;
    MDB_val k = *key;
    uint64_t before;
    int rc = get(store, txn, key, &record, &before);

    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }

    rc = mdb_del(txn, store->paths, &k, NULL);
    if (rc == 0) {
        count(store, before, 0);
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Maximum of bytes that the record can count for. */
static uint64_t
bytes_of(const MDB_val *key, const sym_path_record_t *record)
{
    uint8_t buf[PATH_BYTES_MAX];
    MDB_val v = { sym_path_record_write(key, record, buf), buf };

    return sym_path_record_bytes(key, &v, record);
}


sym_status_t
sym_paths_make_room(sym_store_t *store, const MDB_val *key,
                    const sym_path_record_t *record, MDB_txn **txn,
                    sym_error_t *err)
{
    return sym_make_negative_room(store, bytes_of(key, record), err) == SYM_OK
               ? sym_batch_with_room(store, 1, txn, err)
               : err->status;
}


sym_status_t
sym_store_put_path(sym_store_t *store, const sym_path_key_t *path,
                   const sym_path_record_t *record, sym_path_ticket_t *ticket,
                   sym_error_t *err)
{
    char buf[PATH_KEY_MAX];
    MDB_val key = { sym_path_record_key(path, buf), buf };
    MDB_txn *txn;
    int rc;

    if (key.mv_size == 0) {
        return sym_fail(err, SYM_MALFORMED,
                        "the path is empty or contains a control character");
    }

    if (sym_paths_make_room(store, &key, record, &txn, err) != SYM_OK) {
        return err->status;
    }

    *ticket = (sym_path_ticket_t){ store->batch, store->lost_batches };
    rc = sym_path_record_put(store, txn, &key, record, NULL, 0);
    return rc == 0
               ? SYM_OK
               : sym_batch_failed(store, "cannot write to the store", rc, err);
}


sym_status_t
sym_store_flush_path(sym_store_t *store, const sym_path_ticket_t *ticket,
                     sym_error_t *err)
{
    if (store->txn != NULL && store->batch == ticket->batch) {
        (void) sym_batch_commit(store, err);
    }

    return err->status == SYM_OK && store->lost_batches != ticket->lost
               ? sym_fail(err, SYM_FULL, "what was written has been lost")
               : err->status;
}
