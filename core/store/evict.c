#include "store/env.h"

#include <stdlib.h>
#include <time.h>

#include "symcache/format.h"

/* An eviction takes a 64th of the quota more than it must, so that a full store
 * does not look for victims at every module. */
#define SLACK_SHIFT 6

/*
 * What goes: a heap with the one used last on top, which is let off as soon as
 * the others suffice.  So one pass over the directory finds the victims, and
 * memory follows what goes, not what is there.
 */
typedef struct {
    sym_victims_t all; /* the heap */
    uint64_t need;     /* pages */
    int64_t now_s;
    bool failed;
} choice_t;


/* True if a goes before b: expired, used longer ago, or of equals stored
 * first. */
static bool
goes_before(const sym_victim_t *a, const sym_victim_t *b)
{
    if (a->is_expired != b->is_expired) {
        return a->is_expired;
    }

    if (a->used_at != b->used_at) {
        return a->used_at < b->used_at;
    }

    if (a->stored_at != b->stored_at) {
        return a->stored_at < b->stored_at;
    }

    return a->module_id < b->module_id;
}


static void
swap(sym_victim_t *a, sym_victim_t *b)
{
    sym_victim_t t = *a;

    *a = *b;
    *b = t;
}


static void
sift_up(sym_victims_t *v, size_t i)
{
    while (i > 0 && goes_before(&v->list[(i - 1) / 2], &v->list[i])) {
        swap(&v->list[(i - 1) / 2], &v->list[i]);
        i = (i - 1) / 2;
    }
}


static void
let_off_top(sym_victims_t *v)
{
    size_t i = 0;

    v->pages -= v->list[0].pages;
    free(v->list[0].key);
    v->list[0] = v->list[--v->n];

    for (;;) {
        size_t last = i, child = 2 * i + 1;

        if (child < v->n && goes_before(&v->list[last], &v->list[child])) {
            last = child;
        }
        child++;
        if (child < v->n && goes_before(&v->list[last], &v->list[child])) {
            last = child;
        }
        if (last == i) {
            return;
        }

        swap(&v->list[i], &v->list[last]);
        i = last;
    }
}


static sym_status_t
consider(void *ctx, const MDB_val *key, sym_status_t status,
         sym_module_record_t *record)
{
    choice_t *c = ctx;
    sym_victims_t *v = &c->all;
    sym_victim_t victim = { .used_at = record->used_at,
                            .slot = record->slot,
                            .stored_at = (uint64_t) record->stored_at,
                            .module_id = record->module_id,
                            .pages = record->pages };

    /* a damaged record has no pages that were counted */
    if (status == SYM_DAMAGED) {
        return SYM_OK;
    }

    /* negatives that no longer count are of no use to anybody; of a record of a
     * later version the state is not known */
    victim.is_expired =
        status == SYM_OK && sym_module_expired(record, c->now_s);
    if (v->pages >= c->need
        && (v->n == 0 || !goes_before(&victim, &v->list[0]))) {
        return SYM_OK;
    }

    if (!sym_victims_add(v, &victim, key)) {
        c->failed = true;
        return SYM_NOMEM;
    }
    sift_up(v, v->n - 1);

    while (v->n > 1 && v->pages - v->list[0].pages >= c->need) {
        let_off_top(v);
    }

    return SYM_OK;
}


static sym_status_t
find_victims(sym_store_t *store, choice_t *c, sym_error_t *err)
{
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_directory_walk(store, snapshot->txn, consider, c, err);
    sym_snapshot_end(snapshot);

    return c->failed
               ? sym_fail(err, SYM_NOMEM, "no memory to choose what to evict")
               : err->status;
}


/*
 * In transactions of their own: LMDB gives a page out again only two commits
 * after the one that freed it, so what follows at once could not use it.
 */
static sym_status_t
evict_pages(sym_store_t *store, uint64_t keep_pages, uint64_t *evicted,
            sym_error_t *err)
{
    choice_t c = { .now_s = (int64_t) time(NULL) };

    *evicted = 0;
    if (store->live_pages <= keep_pages) {
        return SYM_OK;
    }
    c.need = store->live_pages - keep_pages;

    if (sym_batch_commit(store, err) == SYM_OK
        && find_victims(store, &c, err) == SYM_OK)
    {
        (void) sym_victims_remove(store, &c.all, true, evicted, err);
    }

    sym_victims_free(&c.all);
    return err->status;
}


sym_status_t
sym_store_evict(sym_store_t *store, uint64_t bytes, uint64_t *evicted,
                sym_error_t *err)
{
    uint64_t n;

    return evict_pages(store, bytes / SYM_PAGE, evicted != NULL ? evicted : &n,
                       err);
}


sym_status_t
sym_keep_quota(sym_store_t *store, sym_error_t *err)
{
    uint64_t n;

    return evict_pages(store, store->budget.live_pages, &n, err);
}


sym_status_t
sym_make_room(sym_store_t *store, uint64_t pages, sym_error_t *err)
{
    uint64_t limit = store->budget.live_pages;
    uint64_t busy = store->ingest_pages + store->stale_pages + pages;
    uint64_t keep, n;

    if (busy > limit) {
        return sym_fail(err, SYM_FULL,
                        "the modules being stored exceed the store's quota");
    }

    if (store->live_pages + busy <= limit) {
        return SYM_OK;
    }

    keep = limit - busy;
    keep -= keep < limit >> SLACK_SHIFT ? keep : limit >> SLACK_SHIFT;

    /* dead readers would keep the freed pages from being used again */
    if (sym_store_reader_check(store, NULL, err) != SYM_OK) {
        return err->status;
    }

    return evict_pages(store, keep, &n, err);
}
