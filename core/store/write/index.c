#include "store/write/writer.h"

int
sym_index_put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    sym_index_ids_t ids;
    int rc = 0;

    sym_index_ids(key, record, &ids);
    for (unsigned i = 0; i < ids.n && rc == 0; i++) {
        MDB_val k = sym_index_key(key, ids.ids[i], buf), v = { 0, buf };

        rc = mdb_put(txn, store->ids, &k, &v, 0);
    }

    return rc;
}


int
sym_index_del(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    sym_index_ids_t ids;
    int rc = 0;

    sym_index_ids(key, record, &ids);
    for (unsigned i = 0; i < ids.n && rc == 0; i++) {
        MDB_val k = sym_index_key(key, ids.ids[i], buf);

        rc = mdb_del(txn, store->ids, &k, NULL);
        rc = rc == MDB_NOTFOUND ? 0 : rc;
    }

    return rc;
}


int
sym_index_rebuild(sym_store_t *store, MDB_txn *txn)
{
    sym_module_record_t record;
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_drop(txn, store->ids, 0);

    rc = rc != 0 ? rc : mdb_cursor_open(txn, store->directory, &cursor);
    if (rc != 0) {
        return rc;
    }

    while (rc == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        if (sym_record_check(&k, &v, &record) == SYM_OK) {
            rc = sym_index_put(store, txn, &k, &record);
        }
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}
