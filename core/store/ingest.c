#include "store/env.h"

#include <stdlib.h>
#include <time.h>

#include "symcache/format.h"

static void
unlink_ingest(sym_ingest_t *ingest)
{
    sym_ingest_t **p = &ingest->store->ingests;

    while (*p != ingest) {
        p = &(*p)->next;
    }

    *p = ingest->next;
    ingest->store->ingest_pages -= ingest->pages;
    free(ingest->key);
    free(ingest);
}


/* Begun in the batch: its id is used up and it is marked as under way. */
static sym_status_t
register_ingest(sym_ingest_t *ingest, sym_error_t *err)
{
    sym_store_t *store = ingest->store;
    uint64_t next;
    MDB_txn *txn;
    int rc;

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_meta_get(store, txn, "next", &next);
    if (rc == 0 && next >> (64 - EXTENT_BITS) != 0) {
        rc = MDB_CORRUPTED;
    }

    rc = rc != 0 ? rc : sym_meta_put(store, txn, "next", next + 1);
    rc = rc != 0 ? rc : sym_pending_put(store, txn, next);
    if (rc != 0) {
        return sym_batch_failed(store, "cannot begin a module", rc, err);
    }

    ingest->module_id = next;
    ingest->batch = store->batch;
    return SYM_OK;
}


/* What earlier could not be deleted for want of room: there may be room now. */
static void
take_back_stale(sym_store_t *store)
{
    sym_error_t err = { 0 };
    MDB_txn *txn;
    int rc;

    if (store->stale_pages == 0 || sym_batch_commit(store, &err) != SYM_OK
        || sym_batch(store, &txn, &err) != SYM_OK)
    {
        return;
    }

    rc = sym_pending_drop(store, txn);
    if (rc != 0) {
        (void) sym_batch_failed(store, "cannot drop a module", rc, &err);
    } else if (sym_batch_commit(store, &err) == SYM_OK) {
        store->stale_pages = 0;
    }
}


sym_status_t
sym_ingest_begin(sym_store_t *store, const sym_module_key_t *key,
                 sym_ingest_t **out, sym_error_t *err)
{
    char buf[RECORD_KEY_MAX];
    size_t len = sym_record_key(key, buf);
    sym_ingest_t *ingest;

    if (len == 0) {
        return sym_fail(err, SYM_MALFORMED,
                        "the module's name or id is empty, too long or holds "
                        "a slash");
    }

    ingest = calloc(1, sizeof(*ingest));
    if (ingest != NULL) {
        ingest->key = malloc(len);
    }

    if (ingest == NULL || ingest->key == NULL) {
        free(ingest);
        return sym_fail(err, SYM_NOMEM, "no memory for an ingest");
    }

    memcpy(ingest->key, buf, len);
    ingest->key_len = len;
    ingest->store = store;

    take_back_stale(store);
    if (register_ingest(ingest, err) != SYM_OK) {
        free(ingest->key);
        free(ingest);
        return err->status;
    }

    ingest->next = store->ingests;
    store->ingests = ingest;
    *out = ingest;
    return SYM_OK;
}


sym_status_t
sym_ingest_extent(sym_ingest_t *ingest, uint32_t number, const uint8_t *data,
                  size_t len, sym_error_t *err)
{
    sym_store_t *store = ingest->store;
    uint64_t id = EXTENT_KEY(ingest->module_id, (uint64_t) number);
    uint64_t pages = sym_value_pages(len + CRC_BYTES);
    MDB_val key = { sizeof(id), &id }, val = { len + CRC_BYTES, NULL };
    MDB_txn *txn;
    int rc;

    if (number >= SYM_EXTENTS_LIMIT || len > SYM_EXTENT_MAX) {
        return sym_fail(err, SYM_MALFORMED, "extent out of bounds");
    }

    if (ingest->lost.status != SYM_OK) {
        *err = ingest->lost;
        return err->status;
    }

    /* its size is only known at its end: it must not empty the store first */
    if (ingest->pages + pages > store->budget.live_pages / 2) {
        return sym_fail(err, SYM_FULL,
                        "the module takes more than half of the store's quota "
                        "(of what is left for modules)");
    }

    if (sym_make_room(store, pages, err) != SYM_OK
        || sym_batch(store, &txn, err) != SYM_OK)
    {
        return err->status;
    }

    ingest->batch = store->batch;
    rc =
        mdb_put(txn, store->extents, &key, &val, MDB_RESERVE | MDB_NOOVERWRITE);
    if (rc == MDB_KEYEXIST) {
        return sym_fail(err, SYM_MALFORMED, "extent given twice");
    }

    if (rc != 0) {
        return sym_batch_failed(store, "cannot write to the store", rc, err);
    }

    memcpy(val.mv_data, data, len);
    sym_crc_put((uint8_t *) val.mv_data + len,
                sym_crc(&id, sizeof(id), data, len));
    ingest->pages += pages;
    store->ingest_pages += pages;
    ingest->bytes += len;
    ingest->extents++;
    ingest->end = number < ingest->end ? ingest->end : number + 1;
    store->batch_bytes += len;

    return store->batch_bytes < store->budget.batch_bytes
               ? SYM_OK
               : sym_batch_commit(store, err);
}


/* The record that the new one replaces, if any; takes its extents away. */
static int
replace_old(sym_ingest_t *ingest, MDB_txn *txn, sym_module_record_t *old,
            bool *has_old)
{
    sym_store_t *store = ingest->store;
    MDB_val key = { ingest->key_len, ingest->key }, val;
    int rc = mdb_get(txn, store->directory, &key, &val);

    *has_old = false;
    if (rc == MDB_NOTFOUND) {
        return 0;
    }

    if (rc != 0) {
        return rc;
    }

    /* of one that cannot be trusted the extents go at the next open */
    if (sym_record_check(&key, &val, old) == SYM_DAMAGED) {
        return 0;
    }

    *has_old = true;
    return sym_extents_delete(store, txn, old->module_id);
}


static int
put_record(sym_ingest_t *ingest, MDB_txn *txn,
           const sym_module_record_t *record)
{
    uint8_t buf[RECORD_BYTES_MAX];
    MDB_val key = { ingest->key_len, ingest->key };
    MDB_val val = { sym_record_write(&key, record, buf), buf };
    int rc = mdb_put(txn, ingest->store->directory, &key, &val, 0);

    return rc != 0 ? rc
                   : sym_pending_del(ingest->store, txn, ingest->module_id);
}


sym_status_t
sym_ingest_commit(sym_ingest_t *ingest, const sym_module_record_t *given,
                  sym_error_t *err)
{
    sym_store_t *store = ingest->store;
    sym_module_record_t record = *given, old;
    uint32_t now = (uint32_t) time(NULL);
    bool has_old;
    MDB_txn *txn;
    int rc;

    if (ingest->lost.status != SYM_OK) {
        *err = ingest->lost;
        goto failed;
    }

    if (ingest->end != ingest->extents) {
        (void) sym_fail(err, SYM_MALFORMED, "the module lacks an extent");
        goto failed;
    }

    if (sym_batch(store, &txn, err) != SYM_OK) {
        goto failed;
    }
    ingest->batch = store->batch;

    record.module_id = ingest->module_id;
    record.extents = ingest->extents;
    record.bytes = ingest->bytes;
    record.pages = ingest->pages + sym_tree_pages(ingest->extents);
    record.stored_at = (int64_t) time(NULL);
    record.slot = sym_clock_take(&store->clock, now);

    rc = replace_old(ingest, txn, &old, &has_old);
    rc = rc != 0 ? rc : put_record(ingest, txn, &record);
    if (rc != 0) {
        sym_clock_give(&store->clock, record.slot);
        (void) sym_batch_failed(store, "cannot write to the store", rc, err);
        goto failed;
    }

    if (sym_batch_commit(store, err) != SYM_OK) {
        sym_clock_give(&store->clock, record.slot);
        goto failed;
    }

    store->live_pages += record.pages;
    if (has_old) {
        store->live_pages -= old.pages;
        sym_clock_give(&store->clock, old.slot);
    }

    unlink_ingest(ingest);
    return SYM_OK;

failed:
    sym_ingest_abort(ingest);
    return err->status;
}


/* Deletes what is on disk of it, or goes there with the batch. */
static bool
take_back(sym_ingest_t *ingest)
{
    sym_store_t *store = ingest->store;
    sym_error_t err = { 0 };
    MDB_txn *txn;
    int rc;

    if (sym_batch(store, &txn, &err) != SYM_OK) {
        return false;
    }

    rc = sym_extents_delete(store, txn, ingest->module_id);
    rc = rc != 0 ? rc : sym_pending_del(store, txn, ingest->module_id);
    if (rc != 0) {
        (void) sym_batch_failed(store, "cannot drop a module", rc, &err);
        return false;
    }

    return !ingest->is_committed || sym_batch_commit(store, &err) == SYM_OK;
}


void
sym_ingest_abort(sym_ingest_t *ingest)
{
    /* what stays is noted as under way, and done with the next module or when
     * the store is opened; until then its pages are not free */
    if ((ingest->is_committed || ingest->batch != 0) && !take_back(ingest)) {
        ingest->store->stale_pages += ingest->pages;
    }

    unlink_ingest(ingest);
}
