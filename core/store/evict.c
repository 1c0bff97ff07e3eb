#include "store/env.h"

#include <stdlib.h>

#include "symcache/format.h"

/* An eviction takes a 64th of the quota more than it must, so that a full store
 * does not look for victims at every module. */
#define SLACK_SHIFT 6

typedef struct {
    uint32_t used_at;
    uint32_t slot;
    uint64_t stored_at, module_id, pages;
    char *key;
    size_t key_len;
} victim_t;

typedef struct {
    victim_t *victims;
    size_t n, size;
    bool failed;
} victims_t;

static sym_status_t
collect(void *ctx, const sym_module_key_t *key,
        const sym_module_record_t *record)
{
    victims_t *v = ctx;
    victim_t *victim;
    char buf[RECORD_KEY_MAX];

    if (v->n == v->size) {
        size_t size = v->size == 0 ? 256 : v->size * 2;
        victim_t *grown = realloc(v->victims, size * sizeof(*grown));

        if (grown == NULL) {
            v->failed = true;
            return SYM_NOMEM;
        }
        v->victims = grown;
        v->size = size;
    }

    victim = &v->victims[v->n];
    *victim = (victim_t){ .used_at = record->used_at,
                          .slot = record->slot,
                          .stored_at = (uint64_t) record->stored_at,
                          .module_id = record->module_id,
                          .pages = record->pages,
                          .key_len = sym_record_key(key, buf) };
    victim->key = malloc(victim->key_len + 1);
    if (victim->key == NULL) {
        v->failed = true;
        return SYM_NOMEM;
    }

    memcpy(victim->key, buf, victim->key_len);
    v->n++;
    return SYM_OK;
}


/* Least recently used first; of equals the one stored first. */
static int
compare_victims(const void *a, const void *b)
{
    const victim_t *x = a, *y = b;

    if (x->used_at != y->used_at) {
        return x->used_at < y->used_at ? -1 : 1;
    }

    if (x->stored_at != y->stored_at) {
        return x->stored_at < y->stored_at ? -1 : 1;
    }

    return x->module_id < y->module_id ? -1 : x->module_id > y->module_id;
}


static void
free_victims(victims_t *v)
{
    for (size_t i = 0; i < v->n; i++) {
        free(v->victims[i].key);
    }

    free(v->victims);
}


static sym_status_t
find_victims(sym_store_t *store, victims_t *v, sym_error_t *err)
{
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_snapshot_each(snapshot, collect, v, err);
    sym_snapshot_end(snapshot);

    if (v->failed) {
        return sym_fail(err, SYM_NOMEM, "no memory to choose what to evict");
    }

    if (err->status == SYM_OK && v->n != 0) {
        qsort(v->victims, v->n, sizeof(*v->victims), compare_victims);
    }

    return err->status;
}


static int
remove_victim(sym_store_t *store, MDB_txn *txn, const victim_t *victim)
{
    MDB_val key = { victim->key_len, victim->key };
    int rc = mdb_del(txn, store->directory, &key, NULL);

    return rc != 0 ? rc : sym_extents_delete(store, txn, victim->module_id);
}


/* After the commit: what the removed modules held is free. */
static void
forget(sym_store_t *store, const victim_t *victims, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        store->live_pages -= victims[i].pages;
        store->n_modules--;
        sym_clock_give(&store->clock, victims[i].slot);
    }
}


static int
count_evicted(sym_store_t *store, MDB_txn *txn, size_t n)
{
    uint64_t evicted;
    int rc = sym_meta_get(store, txn, "evicted", &evicted);

    return rc != 0 ? rc : sym_meta_put(store, txn, "evicted", evicted + n);
}


/*
 * In a transaction of its own: LMDB gives a page out again only two commits
 * after the one that freed it, so what follows at once could not use it.
 */
static sym_status_t
evict_pages(sym_store_t *store, uint64_t keep_pages, uint64_t *evicted,
            sym_error_t *err)
{
    uint64_t live = store->live_pages;
    victims_t v = { 0 };
    size_t n = 0;
    MDB_txn *txn;
    int rc = 0;

    if (sym_batch_commit(store, err) != SYM_OK
        || find_victims(store, &v, err) != SYM_OK
        || sym_batch(store, &txn, err) != SYM_OK)
    {
        free_victims(&v);
        return err->status;
    }

    while (rc == 0 && n < v.n && live > keep_pages) {
        rc = remove_victim(store, txn, &v.victims[n]);
        live -= v.victims[n++].pages;
    }

    rc = rc != 0 ? rc : count_evicted(store, txn, n);
    if (rc != 0) {
        (void) sym_batch_failed(store, "cannot evict modules", rc, err);
    } else if (sym_batch_commit(store, err) == SYM_OK) {
        forget(store, v.victims, n);
        if (evicted != NULL) {
            *evicted = n;
        }
    }

    free_victims(&v);
    return err->status;
}


sym_status_t
sym_store_evict(sym_store_t *store, uint64_t bytes, uint64_t *evicted,
                sym_error_t *err)
{
    if (evicted != NULL) {
        *evicted = 0;
    }

    return evict_pages(store, bytes / SYM_PAGE, evicted, err);
}


sym_status_t
sym_make_room(sym_store_t *store, uint64_t pages, sym_error_t *err)
{
    uint64_t quota = store->quota / SYM_PAGE;
    uint64_t busy = store->ingest_pages + pages;
    uint64_t keep;

    if (busy > quota) {
        return sym_fail(err, SYM_FULL,
                        "the modules being stored exceed the store's quota");
    }

    if (store->live_pages + busy <= quota) {
        return SYM_OK;
    }

    keep = quota - busy;
    keep -= keep < quota >> SLACK_SHIFT ? keep : quota >> SLACK_SHIFT;

    /* dead readers would keep the freed pages from being used again */
    if (sym_store_reader_check(store, NULL, err) != SYM_OK) {
        return err->status;
    }

    return evict_pages(store, keep, NULL, err);
}


sym_status_t
sym_store_remove(sym_store_t *store, const sym_module_key_t *key,
                 sym_error_t *err)
{
    char buf[RECORD_KEY_MAX];
    victim_t victim = { .key = buf, .key_len = sym_record_key(key, buf) };
    MDB_val k = { victim.key_len, victim.key }, v;
    sym_module_record_t record;
    MDB_txn *txn;
    int rc;

    if (victim.key_len == 0) {
        return SYM_NOT_FOUND;
    }

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = mdb_get(txn, store->directory, &k, &v);
    if (rc == MDB_NOTFOUND
        || (rc == 0 && sym_record_read(&v, &record) != SYM_OK)) {
        return SYM_NOT_FOUND;
    }

    if (rc == 0) {
        victim.module_id = record.module_id;
        victim.pages = record.pages;
        victim.slot = record.slot;
        rc = remove_victim(store, txn, &victim);
    }

    if (rc != 0) {
        return sym_batch_failed(store, "cannot remove a module", rc, err);
    }

    if (sym_batch_commit(store, err) == SYM_OK) {
        forget(store, &victim, 1);
    }

    return err->status;
}
