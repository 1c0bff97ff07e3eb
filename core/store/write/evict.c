#include "store/write/tables.h"

#include <stdlib.h>
#include <time.h>

/* An eviction frees a 64th of the quota more than necessary, so a full store
 * does not look for victims at every module. */
#define SLACK_SHIFT 6

/* For negatives it frees an eighth more, for the same reason; each of them is
 * cheap to lose. */
#define NEGATIVES_SLACK_SHIFT 3

/*
 * The victims: a heap with the most recently used one on top, which is dropped
 * as soon as the others suffice.  So one pass over the tables is enough, and
 * memory use depends on the number of victims, not on the size of the store.
 */
typedef struct {
    sym_store_t *store;
    sym_victims_t all; /* the heap */
    uint64_t need;     /* bytes */
    int64_t now_s;
    bool negatives_only;
    bool failed;
} choice_t;


/*
 * Whether a is evicted before b. Negatives go first: expired ones before
 * others, then the oldest, no matter how often they were requested.  Then the
 * least recently used module goes, and among equals the oldest.  So requests
 * with invented names never evict a module.
 */
static bool
goes_before(const sym_victim_t *a, const sym_victim_t *b)
{
    if (a->is_negative != b->is_negative) {
        return a->is_negative;
    }

    if (a->is_expired != b->is_expired) {
        return a->is_expired;
    }

    if (!a->is_negative && a->last_s != b->last_s) {
        return a->last_s < b->last_s;
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

    v->bytes -= sym_victim_bytes(&v->list[0]);
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
choose(choice_t *c, const sym_victim_t *victim, const MDB_val *key)
{
    sym_victims_t *v = &c->all;

    if ((c->negatives_only && !victim->is_negative)
        || (v->bytes >= c->need
            && (v->n == 0 || !goes_before(victim, &v->list[0]))))
    {
        return SYM_OK;
    }

    if (!sym_victims_add(v, victim, key)) {
        c->failed = true;
        return SYM_NOMEM;
    }
    sift_up(v, v->n - 1);

    while (v->n > 1 && v->bytes - sym_victim_bytes(&v->list[0]) >= c->need) {
        let_off_top(v);
    }

    return SYM_OK;
}


static sym_status_t
consider_object(void *ctx, const MDB_val *key, const MDB_val *val)
{
    choice_t *c = ctx;
    sym_object_record_t record;
    sym_victim_t victim;

    if (val->mv_size == 0 || sym_object_check(key, val, &record) != SYM_OK) {
        return SYM_OK;
    }

    record.used_at = sym_clock_read(&c->store->clock, record.slot);
    victim = sym_victim_of_object(&record);
    victim.is_expired = sym_is_past(record.expires_at, c->now_s);
    return choose(c, &victim, key);
}


/* Records with artifacts are skipped: they are removed together with their
 * artifacts. */
static sym_status_t
consider_path(void *ctx, const MDB_val *key, const MDB_val *val)
{
    choice_t *c = ctx;
    sym_path_record_t record;
    sym_victim_t victim;

    if (sym_path_record_check(key, val, &record) != SYM_OK
        || record.artifacts != 0) {
        return SYM_OK;
    }

    victim = sym_victim_of_path(key, val, &record);
    victim.is_expired = sym_is_past(record.expires_at, c->now_s);
    return choose(c, &victim, key);
}


static sym_status_t
find_victims(sym_store_t *store, choice_t *c, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    MDB_txn *txn;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    txn = snapshot->txn;
    if (c->negatives_only
        || sym_table_walk(txn, store->objects, consider_object, c, err)
               == SYM_OK)
    {
        (void) sym_table_walk(txn, store->paths, consider_path, c, err);
    }
    sym_snapshot_end(snapshot);

    return c->failed
               ? sym_fail(err, SYM_NOMEM, "no memory to choose what to evict")
               : err->status;
}


/*
 * Evicts in separate transactions: LMDB reuses a page only two commits after it
 * was freed, so the next write could not use it.
 */
static sym_status_t
evict_some(sym_store_t *store, uint64_t bytes, bool negatives_only,
           uint64_t *evicted, sym_error_t *err)
{
    choice_t c = { .store = store,
                   .need = bytes,
                   .now_s = (int64_t) time(NULL),
                   .negatives_only = negatives_only };

    *evicted = 0;
    if (sym_batch_commit(store, err) == SYM_OK
        && find_victims(store, &c, err) == SYM_OK)
    {
        (void) sym_victims_remove(store, &c.all, true, evicted, err);
    }

    sym_victims_free(&c.all);
    return err->status;
}


/* Live bytes: those of modules and negatives. */
static uint64_t
live_bytes(const sym_store_t *store)
{
    return store->live_pages * STORE_PAGE + store->negatives;
}


static sym_status_t
evict_down_to(sym_store_t *store, uint64_t keep, uint64_t *evicted,
              sym_error_t *err)
{
    uint64_t live = live_bytes(store);

    *evicted = 0;
    return live <= keep ? SYM_OK
                        : evict_some(store, live - keep, false, evicted, err);
}


sym_status_t
sym_store_evict(sym_store_t *store, uint64_t bytes, uint64_t *evicted,
                sym_error_t *err)
{
    uint64_t n;

    return evict_down_to(store, bytes, evicted != NULL ? evicted : &n, err);
}


sym_status_t
sym_keep_quota(sym_store_t *store, sym_error_t *err)
{
    uint64_t n;

    return evict_down_to(store, store->budget.live_pages * STORE_PAGE, &n, err);
}


sym_status_t
sym_make_negative_room(sym_store_t *store, uint64_t bytes, sym_error_t *err)
{
    uint64_t limit = store->budget.negative_bytes, n;

    return store->negatives + bytes <= limit
               ? SYM_OK
               : evict_some(store,
                            store->negatives + bytes - limit
                                + (limit >> NEGATIVES_SLACK_SHIFT),
                            true, &n, err);
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

    if (live_bytes(store) <= (limit - busy) * STORE_PAGE) {
        return SYM_OK;
    }

    keep = limit - busy;
    keep -= keep < limit >> SLACK_SHIFT ? keep : limit >> SLACK_SHIFT;

    /* otherwise dead readers keep the freed pages from being reused */
    if (sym_store_reader_check(store, NULL, err) != SYM_OK) {
        return err->status;
    }

    return evict_down_to(store, keep * STORE_PAGE, &n, err);
}
