#include "store/env.h"

#include <errno.h>
#include <stdlib.h>

int
sym_meta_get(sym_store_t *store, MDB_txn *txn, const char *name,
             uint64_t *value)
{
    MDB_val key = { strlen(name), (void *) (uintptr_t) name }, val;
    int rc = mdb_get(txn, store->meta, &key, &val);
    uint64_t found;

    if (rc != 0) {
        return rc;
    }

    if (val.mv_size != sizeof(found) + CRC_BYTES) {
        return MDB_CORRUPTED;
    }

    memcpy(&found, val.mv_data, sizeof(found));
    if (sym_crc(name, strlen(name), &found, sizeof(found))
        != sym_crc_get((const uint8_t *) val.mv_data + sizeof(found)))
    {
        return MDB_CORRUPTED;
    }

    *value = found;
    return 0;
}


int
sym_meta_put(sym_store_t *store, MDB_txn *txn, const char *name, uint64_t value)
{
    uint8_t buf[sizeof(value) + CRC_BYTES];
    MDB_val key = { strlen(name), (void *) (uintptr_t) name };
    MDB_val val = { sizeof(buf), buf };

    memcpy(buf, &value, sizeof(value));
    sym_crc_put(buf + sizeof(value),
                sym_crc(name, strlen(name), &value, sizeof(value)));
    return mdb_put(txn, store->meta, &key, &val, 0);
}
