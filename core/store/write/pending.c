#include "store/write/writer.h"

#include <errno.h>
#include <stdlib.h>

/* Keys of pending modules are 'p' and the id; keys of other numbers are
   names. */
#define PENDING 'p'


static MDB_val
pending_key(uint8_t buf[9], uint64_t module_id)
{
    buf[0] = PENDING;
    memcpy(buf + 1, &module_id, sizeof(module_id));
    return (MDB_val){ 9, buf };
}


int
sym_pending_put(sym_store_t *store, MDB_txn *txn, uint64_t module_id)
{
    uint8_t buf[9];
    MDB_val key = pending_key(buf, module_id), val = { 0, buf };

    return mdb_put(txn, store->meta, &key, &val, 0);
}


int
sym_pending_del(sym_store_t *store, MDB_txn *txn, uint64_t module_id)
{
    uint8_t buf[9];
    MDB_val key = pending_key(buf, module_id);
    int rc = mdb_del(txn, store->meta, &key, NULL);

    return rc == MDB_NOTFOUND ? 0 : rc;
}


bool
sym_pending_has(sym_store_t *store, MDB_txn *txn, uint64_t module_id)
{
    uint8_t buf[9];
    MDB_val key = pending_key(buf, module_id), val;

    return mdb_get(txn, store->meta, &key, &val) == 0;
}


/* Collects the modules that are marked as pending. */
static int
list_pending(sym_store_t *store, MDB_txn *txn, sym_ids_t *ids)
{
    uint8_t buf[9] = { PENDING };
    MDB_val key = { sizeof(buf), buf }, val;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, store->meta, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &key, &val, MDB_SET_RANGE);
    while (rc == 0 && key.mv_size == sizeof(buf)
           && ((const uint8_t *) key.mv_data)[0] == PENDING)
    {
        uint64_t id;

        memcpy(&id, (const uint8_t *) key.mv_data + 1, sizeof(id));
        rc = sym_ids_add(ids, id) ? mdb_cursor_get(cursor, &key, &val, MDB_NEXT)
                                  : ENOMEM;
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


static bool
has_ingest(const sym_store_t *store, uint64_t module_id)
{
    const sym_ingest_t *i = store->ingests;

    while (i != NULL && i->module_id != module_id) {
        i = i->next;
    }

    return i != NULL;
}


int
sym_pending_drop(sym_store_t *store, MDB_txn *txn)
{
    sym_ids_t ids = { 0 };
    int rc = list_pending(store, txn, &ids);

    for (size_t i = 0; rc == 0 && i < ids.n; i++) {
        if (!has_ingest(store, ids.ids[i])) {
            rc = sym_extents_delete(store, txn, ids.ids[i]);
            rc = rc != 0 ? rc : sym_pending_del(store, txn, ids.ids[i]);
        }
    }

    free(ids.ids);
    return rc;
}
