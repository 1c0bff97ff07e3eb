#include "store/write/tables.h"

#include <stdlib.h>

static void
unlink_ingest(sym_ingest_t *ingest)
{
    sym_ingest_t **p = &ingest->store->ingests;

    while (*p != ingest) {
        p = &(*p)->next;
    }

    *p = ingest->next;
    if (!ingest->is_put) {
        ingest->store->ingest_pages -= ingest->pages;
    }
    free(ingest);
}


/* Adds an ingest to the batch: takes an id, and marks it as pending. */
static sym_status_t
register_ingest(sym_ingest_t *ingest, sym_error_t *err)
{
    sym_store_t *store = ingest->store;
    uint64_t next = 0;
    MDB_txn *txn;
    int rc;

    if (sym_batch_with_room(store, 1, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_meta_get(store, txn, "next", &next);
    if (rc == 0 && next >> (64 - EXTENT_BITS) != 0) {
        rc = MDB_CORRUPTED;
    }

    /* an id from a lost batch is not reused: its ingest may not know of the
     * loss yet, and would delete the extents of the new owner */
    next = next < store->next_id ? store->next_id : next;
    rc = rc != 0 ? rc : sym_meta_put(store, txn, "next", next + 1);
    rc = rc != 0 ? rc : sym_pending_put(store, txn, next);
    if (rc != 0) {
        return sym_batch_failed(store, "cannot begin a module", rc, err);
    }

    store->next_id = next + 1;
    ingest->module_id = next;
    ingest->batch = store->batch;
    return SYM_OK;
}


/* Retries deletions that failed earlier because the disk was full. */
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
sym_ingest_begin_object(sym_store_t *store, sym_kind_t kind, sym_ingest_t **out,
                        sym_error_t *err)
{
    sym_ingest_t *ingest = calloc(1, sizeof(*ingest));

    if (ingest == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for an ingest");
    }

    ingest->kind = kind;
    ingest->store = store;
    ingest->old.slot = SYM_NO_SLOT;

    take_back_stale(store);
    if (register_ingest(ingest, err) != SYM_OK) {
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

    /* the size is known only at the end, and until then the ingest must not
       evict the complete store */
    if (ingest->pages + pages > store->budget.live_pages / 2) {
        return sym_fail(err, SYM_LIMIT,
                        "the module takes more than half of the store's quota "
                        "(of what is left for modules)");
    }

    if (sym_make_room(store, pages, err) != SYM_OK
        || sym_batch_with_room(store, pages, &txn, err) != SYM_OK)
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
    store->batch_bytes += pages * STORE_PAGE;

    return store->batch_bytes < store->budget.batch_bytes
               ? SYM_OK
               : sym_batch_commit(store, err);
}


/*
 * Updates the counts when the module is put into the batch, for a replaced
 * module, too.  After the commit would be too late, because the module may
 * already be evicted or removed then.
 */
void
sym_ingest_count_put(sym_ingest_t *ingest)
{
    sym_store_t *store = ingest->store;

    ingest->is_put = true;
    store->ingest_pages -= ingest->pages;
    store->live_pages += ingest->space.pages;
    store->live_pages -= ingest->old.pages;
}


/* The batch is lost, so a module that this one replaced is back. */
void
sym_ingest_lose(sym_ingest_t *ingest, const sym_error_t *why)
{
    sym_store_t *store = ingest->store;

    ingest->lost = *why;
    if (!ingest->is_put) {
        return;
    }

    ingest->is_put = false;
    store->ingest_pages += ingest->pages;
    store->live_pages += ingest->old.pages;
    store->live_pages -= ingest->space.pages;
    sym_clock_give(&store->clock, ingest->space.slot);
}


sym_status_t
sym_ingest_finish(sym_ingest_t *ingest, sym_error_t *err)
{
    sym_store_t *store = ingest->store;

    /* the end of another ingest may have committed or lost the batch */
    if (ingest->lost.status == SYM_OK && ingest->batch != 0) {
        (void) sym_batch_commit(store, err);
    }

    if (ingest->lost.status != SYM_OK) {
        *err = ingest->lost;
        sym_ingest_abort(ingest);
        return err->status;
    }

    sym_clock_give(&store->clock, ingest->old.slot);
    unlink_ingest(ingest);
    return SYM_OK;
}


/* Deletes the ingest's extents on disk and in the batch. */
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
    bool is_in_batch = ingest->batch != 0 && ingest->lost.status == SYM_OK;

    /* remaining extents stay marked as pending, and their pages in use, until
     * they are deleted with the next module or when the store is opened */
    if ((ingest->is_committed || is_in_batch) && !take_back(ingest)) {
        ingest->store->stale_pages += ingest->pages;
    }

    unlink_ingest(ingest);
}
