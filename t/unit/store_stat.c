/*
 * The figures of a store are the same in one pass or in parts of any size;
 * changes between two parts are counted once or not at all, and the writer is
 * never blocked meanwhile.
 */
#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define MODULES 21
#define ABSENT 7

static void
put_modules(sym_store_t *w, bool are_some_absent)
{
    char name[8];

    for (unsigned i = 0; i < MODULES; i++) {
        (void) snprintf(name, sizeof(name), "m%02u", i);
        if (are_some_absent && i % 3 == 0) {
            (void) kit_put_absent(w, name, 0);
        } else {
            (void) kit_put(w, name, 1 + i % 2, 100);
        }
    }
}


/* In parts; returns how many. */
static unsigned
stat_by(sym_store_t *store, uint64_t records, sym_store_stat_t *stat)
{
    sym_store_mark_t mark = { .len = 0 };
    sym_status_t rc;
    unsigned parts = 0;

    kit_err = (sym_error_t){ 0 };
    do {
        rc = sym_store_stat_part(store, &mark, records, stat, &kit_err);
        parts++;
    } while (rc == SYM_AGAIN && parts < 1000);

    is_status(rc, SYM_OK, &kit_err, "the walk ends");
    return parts;
}


static bool
is_same(const sym_store_stat_t *a, const sym_store_stat_t *b)
{
    return a->modules == b->modules && a->paths == b->paths
           && a->ready == b->ready && a->absent == b->absent
           && a->failed == b->failed && a->malformed == b->malformed
           && a->extents == b->extents && a->live_bytes == b->live_bytes
           && a->file_bytes == b->file_bytes && a->free_bytes == b->free_bytes
           && a->quota == b->quota && a->live_limit == b->live_limit
           && a->evicted == b->evicted && a->readers == b->readers
           && a->reading == b->reading && a->last_txn == b->last_txn;
}


static void
test_parts(void)
{
    sym_store_stat_t whole, parts;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(100 * MIB);
    is_u64(stat_by(w, 1, &parts), 1, "an empty store: one part");
    is_u64(parts.modules, 0, "... and nothing in it");

    put_modules(w, true);
    (void) sym_store_stat(w, &whole, &kit_err);
    is_u64(whole.modules + whole.paths, MODULES, "all of them");
    is_u64(whole.absent, ABSENT, "a third absent");
    is_u64(whole.ready, 14, "the others are ready");
    is_u64(whole.extents, 21, "one extent or two");
    is_u64(whole.reading, 0, "nobody reads");

    for (uint64_t n = 1; n <= MODULES + 1; n++) {
        uint64_t by_table =
            (ABSENT + n - 1) / n + (MODULES - ABSENT + n - 1) / n;

        ok(stat_by(w, n, &parts) <= by_table, "parts");
        ok(is_same(&whole, &parts), "the same figures");
    }

    sym_store_close(w);
    kit_clean();
}


/* Counts one part, of ten modules. */
static void
begin_walk(sym_store_t *w, sym_store_mark_t *mark, sym_store_stat_t *stat)
{
    *mark = (sym_store_mark_t){ .len = 0 };
    kit_err = (sym_error_t){ 0 };
    is_status(sym_store_stat_part(w, mark, 10, stat, &kit_err), SYM_AGAIN,
              &kit_err, "there are more");
    is_u64(stat->modules, 10, "ten so far");
}


static void
test_changes(void)
{
    sym_module_key_t gone = kit_key("m09");
    sym_store_stat_t stat, now;
    sym_store_mark_t mark;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(100 * MIB);
    put_modules(w, false);

    begin_walk(w, &mark, &stat);
    (void) sym_store_stat(w, &now, &kit_err);
    is_u64(now.reading, 0, "no snapshot is open between two parts");
    (void) kit_put(w, "m01", 1, 100);
    (void) kit_put(w, "a", 1, 100);
    is_status(sym_store_stat_part(w, &mark, 100, &stat, &kit_err), SYM_OK,
              &kit_err, "one replaced, one new, both passed");
    is_u64(stat.modules, MODULES, "neither is counted now");

    begin_walk(w, &mark, &stat);
    is_status(kit_remove(w, &gone, SYM_KIND_SYMCACHE, &kit_err), SYM_OK,
              &kit_err, "removed after the walk passed");
    gone = kit_key("m08"); /* with "a" before them, it is the tenth */
    is_status(kit_remove(w, &gone, SYM_KIND_SYMCACHE, &kit_err), SYM_OK,
              &kit_err, "the module at its position");
    (void) kit_put(w, "z", 1, 100);
    is_status(sym_store_stat_part(w, &mark, 100, &stat, &kit_err), SYM_OK,
              &kit_err, "it continues after it");
    is_u64(stat.modules, MODULES + 1, "the new one ahead is counted");

    begin_walk(w, &mark, &stat);
    for (unsigned i = 0; i < MODULES; i++) {
        char name[8];
        sym_error_t none = { 0 };

        (void) snprintf(name, sizeof(name), "m%02u", i);
        gone = kit_key(name);
        (void) kit_remove(w, &gone, SYM_KIND_SYMCACHE, &none);
    }
    gone = kit_key("z");
    (void) kit_remove(w, &gone, SYM_KIND_SYMCACHE, &kit_err);
    is_status(sym_store_stat_part(w, &mark, 1, &stat, &kit_err), SYM_OK,
              &kit_err, "everything ahead is gone");
    is_u64(stat.modules, 10, "those counted before");

    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    test_parts();
    test_changes();
    return done_testing();
}
