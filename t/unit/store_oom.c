/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of each operation of a
 * store: it says so, nothing is half done, and everything is freed (the leak
 * check of the sanitizer run sees that).
 */
#include "oom.h"
#include "store_kit.h"


/* Opens, stores, replaces, evicts, verifies, closes. */
static sym_status_t
write_and_read(void)
{
    sym_store_t *w = kit_writer((uint64_t) 64 << 20), *r;
    sym_status_t status;
    sym_snapshot_t *s;
    uint64_t n = 0;

    if (w == NULL) {
        return kit_err.status;
    }

    status = kit_put(w, "a", 2, 100);
    if (status == SYM_OK) {
        status = kit_put(w, "b", 2, 100);
    }
    if (status == SYM_OK) {
        status = kit_put(w, "a", 3, 100);
    }
    if (status == SYM_OK) {
        status = sym_store_evict(w, (uint64_t) 60 * 4096, &n, &kit_err);
    }
    if (status == SYM_OK) {
        status = sym_store_verify(w, kit_note, NULL, &n, &kit_err);
    }
    sym_store_close(w);
    if (status != SYM_OK) {
        return status;
    }

    r = kit_reader();
    if (r == NULL) {
        return kit_err.status;
    }
    status = sym_snapshot_begin(r, &s, &kit_err);
    if (status == SYM_OK) {
        sym_snapshot_end(s);
    }
    sym_store_close(r);
    return status;
}


/* A damaged record makes the next writer repair the store. */
static void
damage(void)
{
    char buf[128];
    MDB_val key = kit_object_key(buf, "a");
    kit_lmdb_t l;

    ok(kit_lmdb_open(&l) && kit_lmdb_flip(l.txn, l.objects, key, 8, 1)
           && kit_lmdb_close(&l),
       "a damaged record");
}


static unsigned
sweep(const char *name)
{
    unsigned failures = 0, odd = 0, unwell = 0;

    for (unsigned long n = 0; n < 1000; n++) {
        sym_status_t status;
        sym_store_t *w;

        allocations_left = n;
        status = write_and_read();
        allocations_left = (unsigned long) -1;

        if (status == SYM_OK) {
            break;
        }
        failures++;
        odd += status != SYM_NOMEM;

        w = kit_writer(0);
        unwell += w == NULL || kit_faults(w) != 0;
        sym_store_close(w);
    }

    ok(failures > 3 && failures < 1000, "%s: %u allocations failed in turn",
       name, failures);
    is_u64(odd, 0, "each time the error is out of memory");
    is_u64(unwell, 0, "and the store is intact afterwards");
    return failures;
}


/* The repair itself. */
static void
sweep_repair(void)
{
    unsigned failures = 0;
    sym_store_t *w = NULL;

    damage();
    for (unsigned long n = 0; n < 1000 && w == NULL; n++) {
        allocations_left = n;
        w = kit_writer(0);
        allocations_left = (unsigned long) -1;
        failures += w == NULL && kit_err.status == SYM_NOMEM;
    }

    ok(w != NULL && failures > 3, "repair: %u allocations failed in turn",
       failures);
    is_u64(kit_faults(w), 0, "then it succeeds");
    ok(!kit_has(w, "a", NULL) && kit_has(w, "b", NULL), "and only once");
    sym_store_close(w);
}


int
main(void)
{
    kit_folder();
    (void) sweep("a new store");

    sym_store_t *w = kit_writer(0);
    (void) kit_put(w, "a", 2, 100);
    (void) kit_put(w, "b", 2, 100);
    sym_store_close(w);
    sweep_repair();

    kit_clean();
    return done_testing();
}
