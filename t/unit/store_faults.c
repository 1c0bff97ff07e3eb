/*
 * LMDB refuses the 1st, 2nd, .. nth write of a store with several modules in
 * progress: once, or from then on, or the writer is killed there.  Modules
 * reported as stored are there, a record has all of its extents, and the store
 * keeps working, in the same process and in the next.
 */
#include "store/write/writer.h"
#include "store_kit.h"
#include "faults_kit.h"

/* --- operations of a store --- */

#define SLOTS 4
#define NAMES 9
#define STEPS 200
#define EXTENTS_MAX 5
#define LIVE_PAGES 420

typedef struct {
    sym_ingest_t *ingest;
    unsigned name, gen;
    uint32_t extents, left;
    bool is_put;
} module_t;

/* By name: the last version of a module that was reported as stored; 0:
 * none. */
static unsigned told[NAMES];
static unsigned n_told;

static sym_module_key_t
key_of(unsigned name)
{
    static const char *const names[NAMES] = { "a", "b", "c", "d", "e",
                                              "f", "g", "h", "i" };

    return kit_key(names[name]);
}


static void
begin(sym_store_t *w, module_t *m, unsigned gen)
{
    sym_error_t err = { 0 };

    *m = (module_t){ .name = gen % NAMES,
                     .gen = gen,
                     .extents = 1 + gen % EXTENTS_MAX };
    m->left = m->extents;
    if (sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &m->ingest, &err)
        != SYM_OK) {
        m->ingest = NULL;
    }
}


/* The next extent of a module, the first one last as in a symcache; or its
 * record. */
static void
go_on(module_t *m)
{
    static uint8_t data[SYM_EXTENT_MAX];
    const sym_module_key_t k = key_of(m->name);
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .source_bytes = m->gen };
    sym_error_t err = { 0 };

    if (m->left == 0) {
        m->is_put = true;
        if (kit_put_object(m->ingest, &k, &record, &err) != SYM_OK) {
            m->ingest = NULL;
        }
        return;
    }

    memset(data, (int) m->gen, sizeof(data));
    m->left--;
    if (sym_ingest_extent(m->ingest, m->left, data, sizeof(data), &err)
        != SYM_OK) {
        sym_ingest_abort(m->ingest);
        m->ingest = NULL;
    }
}


static void
end(module_t *m)
{
    sym_error_t err = { 0 };

    if (sym_ingest_finish(m->ingest, &err) == SYM_OK) {
        told[m->name] = m->gen;
        n_told++;
    }
    m->ingest = NULL;
}


static bool
has_put(const module_t *m, unsigned name)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (m[i].ingest != NULL && m[i].is_put && m[i].name == name) {
            return true;
        }
    }

    return false;
}


/* Other operations on a store, now and then. */
static void
disturb(sym_store_t *w, const module_t *m, unsigned step)
{
    sym_module_key_t k = key_of(step % NAMES);
    sym_error_t err = { 0 };

    if (step % 17 == 0 && !has_put(m, step % NAMES)
        && kit_remove(w, &k, SYM_KIND_ALL, &err) == SYM_OK)
    {
        told[step % NAMES] = 0;
    }
    if (step % 19 == 0) {
        (void) kit_put_absent(w, k.id.data, 0);
    }
    if (step % 31 == 0) {
        (void) sym_store_evict(w, (uint64_t) LIVE_PAGES / 4 * STORE_PAGE, NULL,
                               &err);
    }
    if (step % 37 == 0) {
        sym_object_ref_t ref = kit_ref(&k);
        sym_store_mark_t mark = { .len = 0 };
        uint64_t removed = 0;

        (void) sym_store_forget_part(w, NULL, &ref, &mark, UINT64_MAX, &removed,
                                     &err);
    }
}


/*
 * As in the loader, several modules take turns as their converters do, and wait
 * with their commits for each other.  One that is refused is replaced by the
 * next, maybe long before the others notice.
 */
static void
work(sym_store_t *w)
{
    module_t m[SLOTS] = { 0 };
    unsigned gen = 0, turn = 1;

    for (unsigned step = 1; step <= STEPS; step++) {
        module_t *one = &m[turn >> 16 & (SLOTS - 1)];

        turn = turn * 1103515245 + 12345;

        if (one->ingest == NULL) {
            begin(w, one, ++gen);
        } else if (!one->is_put) {
            go_on(one);
        } else if (step % 3 != 0) {
            end(one);
        }
        disturb(w, m, step);
    }

    for (unsigned i = 0; i < SLOTS; i++) {
        if (m[i].ingest != NULL && m[i].is_put) {
            end(&m[i]);
        } else if (m[i].ingest != NULL) {
            sym_ingest_abort(m[i].ingest);
        }
    }
}


/* --- checks afterwards --- */

static unsigned n_wrong, n_faults, n_uncounted, n_refused, n_left;
static const char *first_fault;

static void
note_faults(sym_store_t *store)
{
    n_faults += store == NULL || kit_faults(store) != 0;
    if (first_fault == NULL && store != NULL && kit_fault[0] != '\0') {
        first_fault = kit_fault;
    }
}


/* A module is in the last reported state, or was evicted. */
static void
look_for_told(sym_store_t *store)
{
    sym_object_record_t record;
    sym_error_t err = { 0 };
    sym_snapshot_t *s;

    if (store == NULL || sym_snapshot_begin(store, &s, &err) != SYM_OK) {
        n_wrong++;
        return;
    }

    for (unsigned i = 0; i < NAMES; i++) {
        sym_module_key_t k = key_of(i);

        n_wrong += kit_find(s, &k, SYM_KIND_SYMCACHE, &record, &err) == SYM_OK
                   && record.source_bytes != told[i];
    }
    sym_snapshot_end(s);
}


static sym_store_t *
small_writer(void)
{
    sym_store_t *w = kit_writer((uint64_t) 16 << 20);

    if (w != NULL) {
        w->budget.live_pages = LIVE_PAGES;
        w->budget.batch_bytes = UINT64_C(6) * SYM_EXTENT_MAX;
    }
    return w;
}


/* The next reader, before the next writer repairs anything; then that
 * writer. */
static void
check_next(bool is_told_all)
{
    sym_store_t *store = kit_reader();

    note_faults(store);
    if (is_told_all) {
        look_for_told(store);
    }
    sym_store_close(store);

    store = small_writer();
    n_refused += store == NULL || kit_put(store, "next", 4, 100) != SYM_OK;
    note_faults(store);
    sym_store_close(store);
}


/* The writer's counts are those of a new one. */
static void
check_counts(sym_store_t *w)
{
    uint64_t live = w->live_pages, negatives = w->negatives;
    sym_store_t *next;

    n_left += w->ingest_pages != 0 || w->ingests != NULL;
    sym_store_close(w);

    next = kit_writer(0);
    n_uncounted += next == NULL || next->live_pages != live
                   || next->negatives != negatives;
    sym_store_close(next);
}


/* True if a write was refused. */
static bool
refuse(unsigned long n, fault_t how)
{
    sym_store_t *w;

    kit_folder();
    memset(told, 0, sizeof(told));
    w = small_writer();
    fault = how;
    is_refused = false;
    writes_left = n;
    work(w);
    writes_left = (unsigned long) -1;

    n_refused += kit_put(w, "later", 4, 100) != SYM_OK;
    note_faults(w);
    look_for_told(w);
    check_counts(w);
    check_next(true);
    kit_clean();
    return is_refused;
}


static bool
kill_at(unsigned long n)
{
    pid_t pid;
    int status = -1;

    kit_folder();
    sym_store_close(small_writer());

    pid = fork();
    if (pid == 0) {
        sym_store_t *w = small_writer();

        fault = KILLED;
        writes_left = n;
        work(w);
        _exit(1);
    }
    (void) waitpid(pid, &status, 0);
    check_next(false);
    kit_clean();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}


static void
sweep(const char *name, fault_t how)
{
    unsigned long n = 0;

    n_wrong = n_faults = n_uncounted = n_refused = n_left = 0;
    first_fault = NULL;
    while (n < 5000 && (how == KILLED ? kill_at(n) : refuse(n, how))) {
        n++;
    }

    ok(n > 200 && n < 5000, "%s: each of %lu writes", name, n);
    ok(n_faults == 0, "%s: verify finds nothing (%u times %s)", name, n_faults,
       first_fault != NULL ? first_fault : "something");
    ok(n_refused == 0, "%s: a later module is stored (not %u times)", name,
       n_refused);
    if (how != KILLED) {
        ok(n_wrong == 0, "%s: modules are as reported (not %u times)", name,
           n_wrong);
        ok(n_left == 0, "%s: nothing is left in progress (%u times)", name,
           n_left);
        ok(n_uncounted == 0, "%s: the counts are correct (not %u times)", name,
           n_uncounted);
    }
}


int
main(void)
{
    sweep("one is refused", FAIL_ONCE);
    ok(n_told > 1000, "modules were stored meanwhile");
    sweep("all are refused from then on", FAIL_ON);
    sweep("killed", KILLED);
    return done_testing();
}
