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

/*
 * What goes: a heap with the one used last on top, which is let off as soon as
 * the others suffice.  So one pass over the directory finds the victims, and
 * memory follows what goes, not what is there.
 */
typedef struct {
    victim_t *heap;
    size_t n, size;
    uint64_t pages; /* of all in the heap */
    uint64_t need;
    bool failed;
} victims_t;


/* True if a goes before b: used longer ago, or of equals stored first. */
static bool
goes_before(const victim_t *a, const victim_t *b)
{
    if (a->used_at != b->used_at) {
        return a->used_at < b->used_at;
    }

    if (a->stored_at != b->stored_at) {
        return a->stored_at < b->stored_at;
    }

    return a->module_id < b->module_id;
}


static void
swap(victim_t *a, victim_t *b)
{
    victim_t t = *a;

    *a = *b;
    *b = t;
}


static void
sift_up(victims_t *v, size_t i)
{
    while (i > 0 && goes_before(&v->heap[(i - 1) / 2], &v->heap[i])) {
        swap(&v->heap[(i - 1) / 2], &v->heap[i]);
        i = (i - 1) / 2;
    }
}


static void
let_off_top(victims_t *v)
{
    size_t i = 0;

    v->pages -= v->heap[0].pages;
    free(v->heap[0].key);
    v->heap[0] = v->heap[--v->n];

    for (;;) {
        size_t last = i, child = 2 * i + 1;

        if (child < v->n && goes_before(&v->heap[last], &v->heap[child])) {
            last = child;
        }
        child++;
        if (child < v->n && goes_before(&v->heap[last], &v->heap[child])) {
            last = child;
        }
        if (last == i) {
            return;
        }

        swap(&v->heap[i], &v->heap[last]);
        i = last;
    }
}


static bool
add_victim(victims_t *v, const victim_t *victim, const MDB_val *key)
{
    char *copy = malloc(key->mv_size);

    if (v->n == v->size) {
        size_t size = v->size == 0 ? 64 : v->size * 2;
        victim_t *grown = realloc(v->heap, size * sizeof(*grown));

        if (grown == NULL) {
            free(copy);
            return false;
        }
        v->heap = grown;
        v->size = size;
    }

    if (copy == NULL) {
        return false;
    }

    memcpy(copy, key->mv_data, key->mv_size);
    v->heap[v->n] = *victim;
    v->heap[v->n].key = copy;
    v->heap[v->n].key_len = key->mv_size;
    v->pages += victim->pages;
    sift_up(v, v->n++);
    return true;
}


static sym_status_t
consider(void *ctx, const MDB_val *key, sym_status_t status,
         sym_module_record_t *record)
{
    victims_t *v = ctx;
    victim_t victim = { .used_at = record->used_at,
                        .slot = record->slot,
                        .stored_at = (uint64_t) record->stored_at,
                        .module_id = record->module_id,
                        .pages = record->pages };

    /* a damaged record has no pages that were counted */
    if (status == SYM_DAMAGED
        || (v->pages >= v->need
            && (v->n == 0 || !goes_before(&victim, &v->heap[0]))))
    {
        return SYM_OK;
    }

    if (!add_victim(v, &victim, key)) {
        v->failed = true;
        return SYM_NOMEM;
    }

    while (v->n > 1 && v->pages - v->heap[0].pages >= v->need) {
        let_off_top(v);
    }

    return SYM_OK;
}


static void
free_victims(victims_t *v)
{
    for (size_t i = 0; i < v->n; i++) {
        free(v->heap[i].key);
    }

    free(v->heap);
}


static sym_status_t
find_victims(sym_store_t *store, victims_t *v, sym_error_t *err)
{
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_directory_walk(store, snapshot->txn, consider, v, err);
    sym_snapshot_end(snapshot);

    return v->failed
               ? sym_fail(err, SYM_NOMEM, "no memory to choose what to evict")
               : err->status;
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
    victims_t v = { 0 };
    MDB_txn *txn;
    int rc = 0;

    if (store->live_pages <= keep_pages) {
        return SYM_OK;
    }
    v.need = store->live_pages - keep_pages;

    if (sym_batch_commit(store, err) != SYM_OK
        || find_victims(store, &v, err) != SYM_OK
        || sym_batch(store, &txn, err) != SYM_OK)
    {
        free_victims(&v);
        return err->status;
    }

    for (size_t i = 0; rc == 0 && i < v.n; i++) {
        rc = remove_victim(store, txn, &v.heap[i]);
    }

    rc = rc != 0 ? rc : count_evicted(store, txn, v.n);
    if (rc != 0) {
        (void) sym_batch_failed(store, "cannot evict modules", rc, err);
    } else if (sym_batch_commit(store, err) == SYM_OK) {
        forget(store, v.heap, v.n);
        if (evicted != NULL) {
            *evicted = v.n;
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
        || (rc == 0 && sym_record_check(&k, &v, &record) == SYM_DAMAGED))
    {
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
