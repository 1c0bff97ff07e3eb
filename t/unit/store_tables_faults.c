/*
 * LMDB refuses the 1st, 2nd, .. nth write of all operations on objects and
 * paths: once, or from then on, or the writer is killed there.  Whatever was
 * reported as stored is there, an artifact has the record of its file, all
 * entries lead to each other, and the store keeps working, in the same process
 * and in the next.
 */
#include "store/write/tables.h"
#include "tables_kit.h"
#include "faults_kit.h"

static unsigned n_faults, n_uncounted, n_wrong, n_refused;
static const char *first_fault;

/* Numbers of the versions reported as stored; 0: removed, or nothing
 * reported. */
static uint32_t told_a, told_b;
static bool is_told_absent;

static sym_object_ref_t a, b;

static const artifact_t symcache = { .scope = "one",
                                     .path = "a",
                                     .kind = SYM_KIND_SYMCACHE,
                                     .quality = 2,
                                     .source_bytes = 1 };
static const artifact_t better = { .scope = "one",
                                   .path = "b",
                                   .checksum = "c",
                                   .kind = SYM_KIND_SYMCACHE,
                                   .quality = 4,
                                   .source_bytes = 2 };
static const artifact_t sources = { .scope = "one",
                                    .path = "b",
                                    .checksum = "c",
                                    .kind = SYM_KIND_SOURCES,
                                    .quality = 2,
                                    .source_bytes = 3 };
static const artifact_t other = { .scope = "one",
                                  .path = "fat",
                                  .kind = SYM_KIND_SYMCACHE,
                                  .quality = 4,
                                  .source_bytes = 4,
                                  .is_named = true };

static void
put(sym_store_t *w, const sym_object_ref_t *ref, const artifact_t *artifact,
    uint32_t *told)
{
    if (put_artifact(w, ref, artifact, NULL, NULL) == SYM_OK && told != NULL) {
        *told = artifact->source_bytes;
    }
}


static void
work(sym_store_t *w)
{
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_error_t err = { 0 };
    sym_store_mark_t mark = { .len = 0 };
    uint64_t n = 0;

    told_a = told_b = 0;
    is_told_absent = put_path(w, "one", "x/y", "", &absent) == SYM_OK;
    put(w, &a, &symcache, &told_a);
    put(w, &a, &better, &told_a);
    put(w, &a, &symcache, NULL); /* which has a lower rank */
    put(w, &a, &sources, NULL);
    put(w, &b, &other, &told_b);
    (void) put_path(w, "one", "b", "c", &absent);
    (void) put_path(w, "one", "a.so/" ID_A, "", &absent);

    if (sym_store_remove_objects(w, &SYM_STR("one"), &a, SYM_KIND_SOURCES, &err)
        != SYM_OK)
    {
        err = (sym_error_t){ 0 };
    }
    if (sym_store_clear_path(w, SYM_STR("one"), SYM_STR("p/fat"), &n, &err)
            == SYM_OK
        && n != 0)
    {
        told_b = 0;
    }
    err = (sym_error_t){ 0 };
    (void) sym_store_forget_part(w, NULL, &a, &mark, 100, &n, &err);
    put(w, &b, &other, &told_b);
}


static void
look(sym_store_t *store)
{
    uint64_t got_a, got_b;

    n_faults += store == NULL || kit_faults(store) != 0;
    if (store == NULL) {
        return;
    }
    if (first_fault == NULL && kit_fault[0] != '\0') {
        first_fault = kit_fault;
    }

    /* a version put after the last success may be there, if its commit
     * succeeded and the next write was refused; an older one never */
    got_a = answer(store, "one", &a, SYM_KIND_SYMCACHE);
    got_b = answer(store, "one", &b, SYM_KIND_SYMCACHE);
    n_wrong += got_a < told_a || (told_b != 0 && got_b != told_b);
    n_wrong += is_told_absent
               && path_in(store, "one", "x/y", "").outcome != SYM_PATH_ABSENT;
}


static sym_store_t *
next_writer(void)
{
    return kit_writer((uint64_t) 16 << 20);
}


static void
check_next(void)
{
    sym_store_t *store = kit_reader();

    n_faults += store == NULL || kit_faults(store) != 0;
    sym_store_close(store);

    store = next_writer();
    n_refused +=
        store == NULL || put_artifact(store, &b, &other, NULL, NULL) != SYM_OK;
    n_faults += store == NULL || kit_faults(store) != 0;
    sym_store_close(store);
    kit_clean();
}


/* True if a write was refused. */
static bool
refuse(unsigned long n, fault_t how)
{
    sym_store_t *w, *next;
    uint64_t live, negatives;

    kit_folder();
    w = next_writer();
    fault = how;
    is_refused = false;
    writes_left = n;
    work(w);
    writes_left = (unsigned long) -1;

    look(w);
    live = w->live_pages;
    negatives = w->negatives;
    n_uncounted += w->ingest_pages != 0 || w->ingests != NULL;
    sym_store_close(w);

    next = next_writer();
    n_uncounted += next == NULL || next->live_pages != live
                   || next->negatives != negatives;
    look(next);
    sym_store_close(next);
    check_next();
    return is_refused;
}


static bool
kill_at(unsigned long n)
{
    int status = -1;
    pid_t pid;

    kit_folder();
    sym_store_close(next_writer());

    pid = fork();
    if (pid == 0) {
        sym_store_t *w = next_writer();

        fault = KILLED;
        writes_left = n;
        work(w);
        _exit(1);
    }
    (void) waitpid(pid, &status, 0);
    check_next();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}


static void
sweep(const char *name, fault_t how)
{
    unsigned long n = 0;

    n_faults = n_uncounted = n_wrong = n_refused = 0;
    first_fault = NULL;
    while (n < 1000 && (how == KILLED ? kill_at(n) : refuse(n, how))) {
        n++;
    }

    ok(n > 80 && n < 1000, "%s: each of %lu writes", name, n);
    ok(n_faults == 0, "%s: verify finds nothing (%u times %s)", name, n_faults,
       first_fault != NULL ? first_fault : "something");
    ok(n_refused == 0, "%s: a later artifact is stored (not %u times)", name,
       n_refused);
    if (how != KILLED) {
        ok(n_wrong == 0, "%s: state is as reported (not %u times)", name,
           n_wrong);
        ok(n_uncounted == 0, "%s: the counts are correct (not %u times)", name,
           n_uncounted);
    }
}


int
main(void)
{
    a = ref_of("a.so", ID_A, BUILD_A);
    b = ref_of("b.so", ID_B, "ffff" BUILD_A);
    sweep("one is refused", FAIL_ONCE);
    sweep("all are refused from then on", FAIL_ON);
    sweep("killed", KILLED);
    return done_testing();
}
