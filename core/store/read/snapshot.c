#include "store/tables.h"

#include <stdlib.h>

/*
 * The store has grown beyond our map, or a damaged meta page claims that.  It
 * can be mapped again only while this process has no open snapshot.
 */
static int
map_again(sym_store_t *store)
{
    return store->n_active == 0 ? mdb_env_set_mapsize(store->env, 0)
                                : MDB_MAP_RESIZED;
}


static int
renew(sym_snapshot_t *s)
{
    int rc;

    if (s->txn != NULL) {
        rc = mdb_txn_renew(s->txn);
        if (rc != MDB_BAD_RSLOT) {
            return rc;
        }
        /* Another process took us for dead and cleared our slot.  Another
         * reader may use it now, and ending the transaction would free it. */
    }

    rc = mdb_txn_begin(s->store->env, NULL, MDB_RDONLY, &s->txn);
    if (rc != 0) {
        s->txn = NULL;
    }

    return rc;
}


typedef struct {
    sym_snapshot_t *snapshot;
    int rc;
    bool has_no_map;
} begin_t;

static void
begin(void *arg)
{
    begin_t *b = arg;
    sym_store_t *store = b->snapshot->store;

    b->rc = renew(b->snapshot);
    if (b->rc == MDB_MAP_RESIZED) {
        b->rc = map_again(store);
        if (b->rc == 0) {
            b->rc = renew(b->snapshot);
        } else {
            b->has_no_map = b->rc != MDB_MAP_RESIZED;
        }
    }
}


sym_status_t
sym_snapshot_begin(sym_store_t *store, sym_snapshot_t **snapshot,
                   sym_error_t *err)
{
    begin_t b = { .snapshot = store->idle };
    sym_status_t guarded;

    if (b.snapshot != NULL) {
        store->idle = b.snapshot->next;
    } else {
        b.snapshot = calloc(1, sizeof(*b.snapshot));
        if (b.snapshot == NULL) {
            return sym_fail(err, SYM_NOMEM, "no memory for a snapshot");
        }
        b.snapshot->store = store;
        b.snapshot->all = store->all;
        store->all = b.snapshot;
    }

    /* even reading the newest meta page can fault */
    guarded = sym_store_guarded(store, begin, &b, err);
    if (guarded == SYM_OK && b.rc == 0) {
        store->n_active++;
        *snapshot = b.snapshot;
        return SYM_OK;
    }

    b.snapshot->next = store->idle;
    store->idle = b.snapshot;
    if (guarded != SYM_OK) {
        return guarded;
    }

    /* now the handle is unusable in any case */
    return b.has_no_map
               ? sym_fail_sys(err, SYM_DAMAGED,
                              "cannot remap the store: its recorded size is "
                              "damaged, or address space is exhausted",
                              b.rc)
               : sym_lmdb_fail(err, "cannot begin to read the store", b.rc);
}


sym_store_t *
sym_snapshot_store(const sym_snapshot_t *snapshot)
{
    return snapshot != NULL ? snapshot->store : NULL;
}


uint64_t
sym_snapshot_version(const sym_snapshot_t *snapshot)
{
    return mdb_txn_id(snapshot->txn);
}


void
sym_snapshot_end(sym_snapshot_t *s)
{
    sym_store_t *store = s->store;

    mdb_txn_reset(s->txn);
    store->n_active--;
    s->has_objects = s->has_paths = false;
    s->next = store->idle;
    store->idle = s;
}


static int
keep_cursor(MDB_txn *txn, MDB_dbi table, MDB_cursor **kept, bool *is_current)
{
    MDB_stat stat;
    int rc = 0;

    if (!*is_current && *kept != NULL) {
        rc = mdb_cursor_renew(txn, *kept);
    } else if (!*is_current) {
        /* Reads the table's root first.  Otherwise mdb_cursor_open() would read
         * it after allocating the cursor, and the cursor would leak if the page
         * is not in the file (sym_store_guarded()). */
        rc = mdb_stat(txn, table, &stat);
        rc = rc != 0 ? rc : mdb_cursor_open(txn, table, kept);
    }

    *is_current = *is_current || rc == 0;
    return rc;
}


int
sym_snapshot_objects_cursor(sym_snapshot_t *s, MDB_cursor **cursor)
{
    int rc =
        keep_cursor(s->txn, s->store->objects, &s->objects, &s->has_objects);

    *cursor = s->objects;
    return rc;
}


int
sym_snapshot_paths_cursor(sym_snapshot_t *s, MDB_cursor **cursor)
{
    int rc = keep_cursor(s->txn, s->store->paths, &s->paths, &s->has_paths);

    *cursor = s->paths;
    return rc;
}


sym_status_t
sym_snapshot_extent(sym_snapshot_t *s, uint64_t module_id, uint32_t number,
                    const uint8_t **data, size_t *len)
{
    uint64_t key = EXTENT_KEY(module_id, (uint64_t) number);
    MDB_val k = { sizeof(key), &key }, v;

    if (number >> EXTENT_BITS != 0
        || mdb_get(s->txn, s->store->extents, &k, &v) != 0
        || v.mv_size < CRC_BYTES || v.mv_size > SYM_EXTENT_MAX + CRC_BYTES)
    {
        return SYM_NOT_FOUND;
    }

    *data = v.mv_data;
    *len = v.mv_size - CRC_BYTES;
    return SYM_OK;
}


sym_status_t
sym_snapshot_extent_checked(sym_snapshot_t *s, uint64_t module_id,
                            uint32_t number, const uint8_t **data, size_t *len)
{
    uint64_t key = EXTENT_KEY(module_id, (uint64_t) number);
    sym_status_t rc = sym_snapshot_extent(s, module_id, number, data, len);

    if (rc == SYM_OK
        && sym_crc(&key, sizeof(key), *data, *len) != sym_crc_get(*data + *len))
    {
        rc = SYM_DAMAGED;
    }

    return rc;
}


static uint64_t *
sound_slot(sym_store_t *store, uint64_t key)
{
    if (store->sound == NULL) {
        store->sound = calloc(SOUND_EXTENTS, sizeof(*store->sound));
    }

    return store->sound != NULL ? &store->sound[key * 0x9e3779b97f4a7c15u >> 48]
                                : NULL;
}

_Static_assert(SOUND_EXTENTS == 1 << 16, "a hash of 16 bits");


static bool
is_unsound(const sym_store_t *store, uint64_t module_id)
{
    if (store->n_unsound == 0) {
        return false;
    }

    for (size_t i = 0; i < UNSOUND_MAX; i++) {
        if (store->unsound[i] != 0 && MODULE_OF(store->unsound[i]) == module_id)
        {
            return true;
        }
    }

    return false;
}


bool
sym_snapshot_is_unsound(const sym_snapshot_t *s, uint64_t module_id)
{
    return is_unsound(s->store, module_id);
}


static void
note_unsound(sym_store_t *store, uint64_t key)
{
    if (!is_unsound(store, MODULE_OF(key))) {
        store->unsound[store->n_unsound++ % UNSOUND_MAX] = key;
    }
}


sym_status_t
sym_snapshot_extent_sound(sym_snapshot_t *s, uint64_t module_id,
                          uint32_t number, const uint8_t **data, size_t *len)
{
    uint64_t key = EXTENT_KEY(module_id, (uint64_t) number);
    uint64_t *slot = sound_slot(s->store, key);
    sym_status_t rc;

    if (slot != NULL && *slot == key) {
        return sym_snapshot_extent(s, module_id, number, data, len);
    }

    rc = sym_snapshot_extent_checked(s, module_id, number, data, len);
    if (rc == SYM_DAMAGED) {
        note_unsound(s->store, key);
    } else if (rc == SYM_OK && slot != NULL) {
        *slot = key;
    }

    return rc;
}


bool
sym_snapshot_is_sound(sym_snapshot_t *s, const sym_object_record_t *record)
{
    for (uint32_t i = 0; i < record->extents; i++) {
        const uint8_t *data;
        size_t len;

        if (sym_snapshot_extent_checked(s, record->module_id, i, &data, &len)
            != SYM_OK) {
            return false;
        }
    }

    return true;
}


void
sym_store_tell_time(sym_store_t *store, uint32_t now_s)
{
    if (store->sound != NULL && store->sound_period != now_s / SOUND_PERIOD_S) {
        memset(store->sound, 0, SOUND_EXTENTS * sizeof(*store->sound));
    }

    store->sound_period = now_s / SOUND_PERIOD_S;
}


bool
sym_snapshot_has_unsound(sym_snapshot_t *s)
{
    bool has = false;

    for (size_t i = 0; i < UNSOUND_MAX; i++) {
        uint64_t key = s->store->unsound[i];
        const uint8_t *data;
        size_t len;

        if (key != 0
            && sym_snapshot_extent_checked(
                   s, MODULE_OF(key),
                   (uint32_t) (key & ((1u << EXTENT_BITS) - 1)), &data, &len)
                   == SYM_DAMAGED)
        {
            has = true;
        } else {
            s->store->unsound[i] = 0;
        }
    }

    return has;
}
