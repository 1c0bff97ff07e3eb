#include "store/env.h"

#include <stdlib.h>
#include <zlib.h>

#include "symcache/format.h"

typedef struct {
    sym_snapshot_t *snapshot;
    sym_fault_pt report;
    void *ctx;
    uint64_t faults;
    uint64_t *ids; /* of modules in the directory */
    size_t n, size;
    bool failed;
} verify_t;


static void
fault(verify_t *v, const sym_module_key_t *key, uint32_t extent,
      const char *what)
{
    v->faults++;
    v->report(v->ctx, key, extent, what);
}


static bool
is_intact(uint64_t key, const MDB_val *val)
{
    const uint8_t *p = val->mv_data;
    size_t len = val->mv_size - CRC_BYTES;
    uint32_t want = 0;
    uLong crc = crc32(0, (const Bytef *) &key, sizeof(key));

    for (unsigned i = 0; i < CRC_BYTES; i++) {
        want |= (uint32_t) p[len + i] << (8 * i);
    }

    return (uint32_t) crc32(crc, p, (uInt) len) == want;
}


static void
verify_extents(verify_t *v, const sym_module_key_t *key,
               const sym_module_record_t *record)
{
    sym_store_t *store = v->snapshot->store;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < record->extents; i++) {
        uint64_t id = EXTENT_KEY(record->module_id, (uint64_t) i);
        MDB_val k = { sizeof(id), &id }, val;
        int rc = mdb_get(v->snapshot->txn, store->extents, &k, &val);

        if (rc != 0) {
            fault(v, key, i, "extent is missing");
        } else if (val.mv_size < CRC_BYTES
                   || val.mv_size > SYM_EXTENT_MAX + CRC_BYTES) {
            fault(v, key, i, "extent has an impossible size");
        } else {
            bytes += val.mv_size - CRC_BYTES;
            if (!is_intact(id, &val)) {
                fault(v, key, i, "extent's checksum is wrong");
            }
        }
    }

    if (bytes != record->bytes) {
        fault(v, key, 0, "extents do not add up to the module's size");
    }
}


static sym_status_t
verify_module(void *ctx, const sym_module_key_t *key,
              const sym_module_record_t *record)
{
    verify_t *v = ctx;

    if (v->n == v->size) {
        size_t size = v->size == 0 ? 256 : v->size * 2;
        uint64_t *grown = realloc(v->ids, size * sizeof(*grown));

        if (grown == NULL) {
            v->failed = true;
            return SYM_NOMEM;
        }
        v->ids = grown;
        v->size = size;
    }

    v->ids[v->n++] = record->module_id;
    verify_extents(v, key, record);
    return SYM_OK;
}


static int
compare_ids(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


/* Extents that no module in the directory has; those of modules under way are
 * in their writer's care. */
static int
verify_orphans(verify_t *v)
{
    static const sym_module_key_t none;
    sym_store_t *store = v->snapshot->store;
    uint64_t last = UINT64_MAX, id;
    MDB_cursor *cursor;
    MDB_val k, val;
    int rc = mdb_cursor_open(v->snapshot->txn, store->extents, &cursor);

    if (rc != 0) {
        return rc;
    }

    while ((rc = mdb_cursor_get(cursor, &k, &val, MDB_NEXT)) == 0) {
        memcpy(&id, k.mv_data, sizeof(id));
        id = MODULE_OF(id);

        if (id != last && !sym_pending_has(store, v->snapshot->txn, id)
            && (v->n == 0
                || bsearch(&id, v->ids, v->n, sizeof(*v->ids), compare_ids)
                       == NULL))
        {
            fault(v, &none, 0, "extents belong to no module");
        }
        last = id;
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


static void
verify_all(verify_t *v, sym_error_t *err)
{
    int rc;

    (void) sym_snapshot_each(v->snapshot, verify_module, v, err);
    if (v->failed) {
        (void) sym_fail(err, SYM_NOMEM, "no memory to verify the store");
    }

    if (err->status != SYM_OK) {
        return;
    }

    if (v->n != 0) {
        qsort(v->ids, v->n, sizeof(*v->ids), compare_ids);
    }

    rc = verify_orphans(v);
    if (rc != 0) {
        (void) sym_lmdb_fail(err, "cannot read the store", rc);
    }
}


typedef struct {
    verify_t *v;
    sym_error_t *err;
} guarded_t;

static void
run(void *arg)
{
    guarded_t *g = arg;

    verify_all(g->v, g->err);
}


sym_status_t
sym_store_verify(sym_store_t *store, sym_fault_pt report, void *ctx,
                 uint64_t *faults, sym_error_t *err)
{
    verify_t v = { .report = report, .ctx = ctx };
    guarded_t g = { &v, err };

    *faults = 0;
    if (sym_snapshot_begin(store, &v.snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_store_guarded(store, run, &g, err);
    sym_snapshot_end(v.snapshot);
    free(v.ids);
    *faults = v.faults;
    return err->status;
}
