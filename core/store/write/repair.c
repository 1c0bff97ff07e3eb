#include "store/write/tables.h"

#include <stdlib.h>

bool
sym_ids_add(sym_ids_t *set, uint64_t id)
{
    if (set->n == set->size) {
        size_t size = set->size == 0 ? 256 : set->size * 2;
        uint64_t *grown = realloc(set->ids, size * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        set->ids = grown;
        set->size = size;
    }

    set->ids[set->n++] = id;
    return true;
}


static int
compare_ids(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


void
sym_ids_sort(sym_ids_t *set)
{
    if (set->n != 0) {
        qsort(set->ids, set->n, sizeof(*set->ids), compare_ids);
    }
}


bool
sym_ids_has(const sym_ids_t *set, uint64_t id)
{
    return set->n != 0
           && bsearch(&id, set->ids, set->n, sizeof(*set->ids), compare_ids)
                  != NULL;
}


bool
sym_extents_are_there(sym_store_t *store, MDB_txn *txn, uint64_t module_id,
                      uint32_t extents)
{
    for (uint32_t i = 0; i < extents; i++) {
        uint64_t id = EXTENT_KEY(module_id, (uint64_t) i);
        MDB_val k = { sizeof(id), &id }, v;

        if (mdb_get(txn, store->extents, &k, &v) != 0) {
            return false;
        }
    }

    return true;
}


/* Moves to the first extent at or after *id, or returns MDB_NOTFOUND. */
static int
next_module(sym_store_t *store, MDB_txn *txn, uint64_t *id)
{
    uint64_t first = EXTENT_KEY(*id, 0);
    MDB_val k = { sizeof(first), &first }, v;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, store->extents, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    if (rc == 0) {
        memcpy(&first, k.mv_data, sizeof(first));
        *id = MODULE_OF(first);
    }

    mdb_cursor_close(cursor);
    return rc;
}


/* No module is being written, so extents without a record are garbage. */
static int
drop_orphans(sym_store_t *store, MDB_txn *txn, const sym_ids_t *kept)
{
    uint64_t id = 0;
    int rc;

    while ((rc = next_module(store, txn, &id)) == 0) {
        rc = sym_ids_has(kept, id) ? 0 : sym_extents_delete(store, txn, id);
        if (rc != 0 || ++id >> (64 - EXTENT_BITS) != 0) {
            break;
        }
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


sym_status_t
sym_store_repair(sym_store_t *store, sym_error_t *err)
{
    sym_ids_t kept = { 0 };
    MDB_txn *txn;
    int rc;

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_tables_repair(store, txn, &kept);
    if (rc == 0) {
        sym_ids_sort(&kept);
        rc = drop_orphans(store, txn, &kept);
    }
    free(kept.ids);

    return rc == 0
               ? sym_batch_commit(store, err)
               : sym_batch_failed(store, "cannot repair the store", rc, err);
}
