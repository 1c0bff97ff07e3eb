/*
 * Records that are committed together: one transaction for all, nothing
 * visible before it; if it fails, each of them reports it and none of it
 * counts.
 */
#include "store/write/writer.h"
#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define N 5

static const char *const names[N] = { "a", "b", "c", "d", "e" };

/* Puts a tombstone, which has no extents. */
static sym_ingest_t *
begin_gone(sym_store_t *w, const char *name)
{
    sym_object_record_t record = { .state = SYM_MODULE_MALFORMED,
                                   .reason = SYM_STR("damaged") };
    sym_module_key_t k = kit_key(name);
    sym_ingest_t *ingest = NULL;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err)
            != SYM_OK
        || kit_put_object(ingest, &k, &record, &kit_err) != SYM_OK)
    {
        return NULL;
    }

    return ingest;
}


static sym_store_stat_t
stat_of(sym_store_t *w)
{
    sym_store_stat_t stat = { 0 };

    kit_err = (sym_error_t){ 0 };
    (void) sym_store_stat(w, &stat, &kit_err);
    return stat;
}


static unsigned
seen(sym_store_t *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < N; i++) {
        n += kit_has(w, names[i], NULL);
    }

    return n;
}


static void
test_together(void)
{
    sym_ingest_t *all[N];
    sym_store_t *w;
    uint64_t before, live;

    kit_folder();
    w = kit_writer(64 * MIB);
    before = stat_of(w).last_txn;

    for (unsigned i = 0; i < N; i++) {
        all[i] = begin_gone(w, names[i]);
        ok(all[i] != NULL, "put");
    }

    is_u64(seen(w), 0, "nothing of it is visible");
    is_u64(stat_of(w).last_txn, before, "nor committed");
    is_status(sym_ingest_finish(all[0], &kit_err), SYM_OK, &kit_err,
              "the first is finished");
    is_u64(seen(w), N, "and all are there");
    is_u64(stat_of(w).last_txn, before + 1, "by one transaction");

    for (unsigned i = 1; i < N; i++) {
        is_status(sym_ingest_finish(all[i], &kit_err), SYM_OK, &kit_err,
                  "the others are finished");
    }

    is_u64(stat_of(w).last_txn, before + 1, "without another");
    live = stat_of(w).live_bytes;
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);

    w = kit_writer(0);
    is_u64(seen(w), N, "all there after a restart");
    is_u64(stat_of(w).live_bytes, live, "counted as the records say");
    is_u64(live, (uint64_t) N * 4096, "a page each");
    sym_store_close(w);
    kit_clean();
}


/* A module's own commit includes everything that was put before. */
static void
test_with_module(void)
{
    sym_ingest_t *one;
    sym_store_t *w;
    uint64_t before;

    kit_folder();
    w = kit_writer(64 * MIB);
    before = stat_of(w).last_txn;
    one = begin_gone(w, "a");
    is_status(kit_put(w, "b", 1, 10), SYM_OK, &kit_err, "a module");
    ok(kit_has(w, "a", NULL) && kit_has(w, "b", NULL), "both are there");
    is_status(sym_ingest_finish(one, &kit_err), SYM_OK, &kit_err, "finished");
    is_u64(stat_of(w).last_txn, before + 1, "one transaction");
    sym_store_close(w);
    kit_clean();
}


/* Removed between put and finish by a commit of its own. */
static void
test_removed(void)
{
    const sym_module_key_t k = kit_key("a");
    sym_ingest_t *one;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(64 * MIB);
    one = begin_gone(w, "a");
    is_status(kit_remove(w, &k, SYM_KIND_ALL, &kit_err), SYM_OK, &kit_err,
              "removed");
    is_status(sym_ingest_finish(one, &kit_err), SYM_OK, &kit_err, "finished");
    ok(!kit_has(w, "a", NULL), "does not exist");
    is_u64(stat_of(w).live_bytes, 0, "nothing counts");
    sym_store_close(w);
    kit_clean();
}


static void
test_lost(void)
{
    sym_error_t err = { 0 };
    sym_ingest_t *all[N];
    sym_store_t *w;
    uint64_t live;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "a", 3, 10);
    live = stat_of(w).live_bytes;

    for (unsigned i = 0; i < N; i++) {
        all[i] = begin_gone(w, names[i]);
    }

    (void) sym_batch_failed(w, "cannot write to the store", MDB_MAP_FULL, &err);

    for (unsigned i = 0; i < N; i++) {
        err = (sym_error_t){ 0 };
        is_status(sym_ingest_finish(all[i], &err), SYM_FULL, &err,
                  "each reports that the transaction was lost");
    }

    is_u64(seen(w), 1, "earlier modules are still there");
    is_u64(stat_of(w).live_bytes, live, "and are counted as before");
    is_u64(w->live_pages * 4096, live, "also for the quota");
    is_status(kit_put(w, "b", 1, 10), SYM_OK, &kit_err,
              "and more can be stored");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    test_together();
    test_with_module();
    test_removed();
    test_lost();
    return done_testing();
}
