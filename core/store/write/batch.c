/*
 * LMDB has one write transaction at a time, and all current ingests share it.
 * It is committed when it is large, and at the end of each ingest, or of
 * several that can wait for each other.
 */
#include "store/write/writer.h"

#include <errno.h>

sym_status_t
sym_batch(sym_store_t *store, MDB_txn **txn, sym_error_t *err)
{
    int rc;

    if (store->txn == NULL) {
        rc = mdb_txn_begin(store->env, NULL, 0, &store->txn);
        if (rc != 0) {
            store->txn = NULL;
            return sym_lmdb_fail(err, "cannot begin a write transaction", rc);
        }
        store->batch++;
        store->batch_bytes = 0;
    }

    *txn = store->txn;
    return SYM_OK;
}


static void
tell_ingests(sym_store_t *store, const sym_error_t *why)
{
    for (sym_ingest_t *i = store->ingests; i != NULL; i = i->next) {
        if (i->batch == store->batch && i->lost.status == SYM_OK) {
            sym_ingest_lose(i, why);
        }
    }
}


/* Restores the counts from before the batch. */
static void
lose(sym_store_t *store, const sym_error_t *why)
{
    store->lost_batches++;
    store->negatives -= (uint64_t) store->batch_negatives;
    store->batch_negatives = 0;
    tell_ingests(store, why);
}


sym_status_t
sym_batch_failed(sym_store_t *store, const char *what, int rc, sym_error_t *err)
{
    sym_error_t why = { 0 };

    (void) sym_lmdb_fail(&why, what, rc);
    mdb_txn_abort(store->txn);
    store->txn = NULL;
    store->room = 0;
    lose(store, &why);

    if (err->status == SYM_OK) {
        *err = why;
    }

    return err->status;
}


sym_status_t
sym_batch_commit(sym_store_t *store, sym_error_t *err)
{
    sym_error_t why = { 0 };
    int rc;

    if (store->txn == NULL) {
        return SYM_OK;
    }

    rc = mdb_txn_commit(store->txn);
    store->txn = NULL;
    store->room = 0;

    if (rc != 0) {
        /* LMDB returns this error after a short write */
        if (rc == EIO) {
            (void) sym_fail(&why, SYM_FULL,
                            "the store's disk is full or failing");
        }
        (void) sym_lmdb_fail(&why, "cannot write to the store", rc);
        lose(store, &why);
        if (err->status == SYM_OK) {
            *err = why;
        }
        return err->status;
    }

    store->batch_negatives = 0;
    for (sym_ingest_t *i = store->ingests; i != NULL; i = i->next) {
        if (i->batch == store->batch) {
            i->is_committed = true;
            i->batch = 0;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_batch_with_room(sym_store_t *store, uint64_t pages, MDB_txn **txn,
                    sym_error_t *err)
{
    if ((store->room < pages || store->room_run < pages)
        && (sym_batch_commit(store, err) != SYM_OK
            || sym_await_room(store, pages, err) != SYM_OK))
    {
        return err->status;
    }

    store->room -= pages;
    return sym_batch(store, txn, err);
}


int
sym_extents_delete(sym_store_t *store, MDB_txn *txn, uint64_t module_id)
{
    uint64_t first = EXTENT_KEY(module_id, 0);
    MDB_val key = { sizeof(first), &first }, val;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, store->extents, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &key, &val, MDB_SET_RANGE);
    while (rc == 0) {
        uint64_t at;

        memcpy(&at, key.mv_data, sizeof(at));
        if (MODULE_OF(at) != module_id) {
            break;
        }

        rc = mdb_cursor_del(cursor, 0);
        if (rc == 0) {
            /* the deletion moved the cursor to the next entry */
            rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
        }
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


sym_status_t
sym_store_reader_check(sym_store_t *store, unsigned *dead, sym_error_t *err)
{
    int n = 0, rc = mdb_reader_check(store->env, &n);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot check the reader table", rc);
    }

    if (dead != NULL) {
        *dead = (unsigned) n;
    }

    return SYM_OK;
}
