#include "store/write/tables.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Limits of one transaction, because LMDB copies the pages of the tree around
 * deleted values, and reuses the freed pages only in the transaction after the
 * next.
 */
#define STEP_MODULES 512
#define STEP_PAGES ((uint64_t) 1 << 16)

uint64_t
sym_victim_bytes(const sym_victim_t *victim)
{
    return victim->pages * STORE_PAGE + victim->negative;
}


bool
sym_victims_add(sym_victims_t *v, const sym_victim_t *victim,
                const MDB_val *key)
{
    char *copy = malloc(key->mv_size);

    if (v->n == v->size) {
        size_t size = v->size == 0 ? 64 : v->size * 2;
        sym_victim_t *grown = realloc(v->list, size * sizeof(*grown));

        if (grown == NULL) {
            free(copy);
            return false;
        }
        v->list = grown;
        v->size = size;
    }

    if (copy == NULL) {
        return false;
    }

    memcpy(copy, key->mv_data, key->mv_size);
    v->list[v->n] = *victim;
    v->list[v->n].key = copy;
    v->list[v->n++].key_len = key->mv_size;
    v->bytes += sym_victim_bytes(victim);
    return true;
}


void
sym_victims_free(sym_victims_t *v)
{
    for (size_t i = 0; i < v->n; i++) {
        free(v->list[i].key);
    }

    free(v->list);
}


static int
remove_object(sym_store_t *store, MDB_txn *txn, const sym_victim_t *victim)
{
    MDB_val key = { victim->key_len, victim->key }, k = key, val;
    sym_object_record_t record;
    int rc = mdb_get(txn, store->objects, &k, &val);

    if (rc != 0) {
        return rc;
    }

    return sym_object_check(&key, &val, &record) == SYM_OK
               ? sym_object_remove(store, txn, &key, &record, false)
               : MDB_CORRUPTED;
}


static int
remove_victim(sym_store_t *store, MDB_txn *txn, const sym_victim_t *victim)
{
    MDB_val key = { victim->key_len, victim->key };

    return victim->is_path ? sym_path_record_drop(store, txn, &key)
                           : remove_object(store, txn, victim);
}


/* After the commit, subtracts the removed modules from the counts.  Records of
 * paths are counted in their batch. */
static void
forget(sym_store_t *store, const sym_victim_t *victims, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (victims[i].is_path) {
            continue;
        }
        store->live_pages -= victims[i].pages;
        store->removed.n[victims[i].kind & SYM_KIND_MAX]++;
        sym_clock_give(&store->clock, victims[i].slot);
    }
}


sym_kind_counts_t
sym_store_removed(const sym_store_t *store)
{
    return store->removed;
}


static int
count_evicted(sym_store_t *store, MDB_txn *txn, size_t n)
{
    uint64_t evicted;
    int rc = sym_meta_get(store, txn, "evicted", &evicted);

    return rc != 0 ? rc : sym_meta_put(store, txn, "evicted", evicted + n);
}


/* Removes as many victims as fit one transaction, from the first on; returns
 * their number, 0 after a failure. */
static size_t
remove_some(sym_store_t *store, const sym_victim_t *victims, size_t n,
            bool are_evicted, sym_error_t *err)
{
    uint64_t pages = 0;
    size_t done = 0;
    MDB_txn *txn;
    int rc = 0;

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return 0;
    }

    while (rc == 0 && done < n && done < STEP_MODULES && pages < STEP_PAGES) {
        pages += victims[done].pages;
        rc = remove_victim(store, txn, &victims[done++]);
    }

    if (rc == 0 && are_evicted) {
        rc = count_evicted(store, txn, done);
    }

    if (rc != 0) {
        (void) sym_batch_failed(store, "cannot remove modules", rc, err);
        return 0;
    }

    if (sym_batch_commit(store, err) != SYM_OK) {
        return 0;
    }

    forget(store, victims, done);
    return done;
}


sym_status_t
sym_victims_remove(sym_store_t *store, const sym_victims_t *v, bool are_evicted,
                   uint64_t *removed, sym_error_t *err)
{
    size_t done = 0, n = 1;

    while (done < v->n && n != 0) {
        n = remove_some(store, v->list + done, v->n - done, are_evicted, err);
        done += n;
    }

    *removed = done;
    return err->status;
}


typedef struct {
    sym_store_t *store;
    sym_drop_pt wants;
    void *ctx;
    sym_victims_t victims;
    bool failed;
} drop_t;

static sym_status_t
ask_object(void *ctx, const MDB_val *k, const MDB_val *val)
{
    drop_t *d = ctx;
    sym_object_record_t record;
    sym_victim_t victim;

    if (val->mv_size == 0 || sym_object_check(k, val, &record) != SYM_OK) {
        return SYM_OK;
    }

    record.used_at = sym_clock_read(&d->store->clock, record.slot);
    if (!d->wants(d->ctx, sym_scope_in(k), &record)) {
        return SYM_OK;
    }

    victim = sym_victim_of_object(&record);
    d->failed = !sym_victims_add(&d->victims, &victim, k);
    return d->failed ? SYM_NOMEM : SYM_OK;
}


sym_status_t
sym_store_drop(sym_store_t *store, sym_drop_pt wants, void *ctx,
               uint64_t *dropped, sym_error_t *err)
{
    drop_t d = { .store = store, .wants = wants, .ctx = ctx };
    sym_snapshot_t *snapshot;
    uint64_t n = 0;

    /* other modules share the open batch, and their data must not be lost */
    if (sym_batch_commit(store, err) == SYM_OK
        && sym_snapshot_begin(store, &snapshot, err) == SYM_OK)
    {
        (void) sym_table_walk(snapshot->txn, store->objects, ask_object, &d,
                              err);
        sym_snapshot_end(snapshot);
        if (d.failed) {
            (void) sym_fail(err, SYM_NOMEM, "no memory to choose what to drop");
        }
    }

    if (err->status == SYM_OK) {
        (void) sym_victims_remove(store, &d.victims, false, &n, err);
    }

    sym_victims_free(&d.victims);
    if (dropped != NULL) {
        *dropped = n;
    }

    return err->status;
}
