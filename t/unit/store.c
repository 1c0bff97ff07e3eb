/*
 * Committed data is there, complete, whatever happened since; uncommitted data
 * is gone.  One writer, any number of readers, and a quota that evicts the
 * least recently used first.
 */
#include <signal.h>
#include <time.h>

#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define PAGE ((uint64_t) 4096)

/* State of a module as one process sees it.  A process opens a store only once,
 * so the writer also reads. */
static void
use(sym_store_t *store, const char *name, uint32_t when)
{
    sym_object_record_t record;

    if (kit_has(store, name, &record)) {
        sym_store_touch(store, record.slot, when);
    }
}


static void
test_round_trip(void)
{
    sym_snapshot_t *old, *fresh;
    sym_object_record_t record;
    sym_module_key_t a = kit_key("a"), b = kit_key("b");
    sym_store_stat_t stat;
    sym_store_t *w;

    kit_folder();
    ok(kit_reader() == NULL, "no store: no reader");
    is_u64(kit_err.status, SYM_NOT_FOUND, "and the error says so");

    w = kit_writer(100 * MIB);
    ok(w != NULL, "a store is made");
    is_status(kit_put(w, "a", 1, 100), SYM_OK, &kit_err, "small module");
    is_status(kit_put(w, "b", 40, 5000), SYM_OK, &kit_err, "40 extents");

    (void) sym_snapshot_begin(w, &old, &kit_err);
    ok(kit_is_whole(old, "a", 1, 100) && kit_is_whole(old, "b", 40, 5000),
       "both are complete");
    is_status(kit_find(old, &b, SYM_KIND_SYMCACHE, &record, &kit_err), SYM_OK,
              &kit_err, "find");
    is_u64(record.bytes, 39 * (uint64_t) SYM_EXTENT_MAX + 5000, "size");
    is_u64(record.quality, SYM_QUALITY_LINES, "quality");
    is_str(record.path, "test", "source");
    is_u64(record.used_at, 0, "stored, but not used so far");
    is_u64((uint64_t) sym_module_last_s(&record), (uint64_t) record.stored_at,
           "... is counted from then on");
    use(w, "b", 12345);
    (void) kit_has(w, "b", &record);
    is_u64(record.used_at, 12345, "a use is remembered");
    is_u64((uint64_t) sym_module_last_s(&record), 12345, "... counts");

    is_status(kit_put(w, "b", 3, 700), SYM_OK, &kit_err, "replaced");
    is_status(kit_remove(w, &a, SYM_KIND_SYMCACHE, &kit_err), SYM_OK, &kit_err,
              "removed");
    is_status(kit_remove(w, &a, SYM_KIND_SYMCACHE, &kit_err), SYM_NOT_FOUND,
              &kit_err, "once");
    ok(kit_is_whole(old, "a", 1, 100) && kit_is_whole(old, "b", 40, 5000),
       "the snapshot still sees the old state");
    (void) sym_snapshot_begin(w, &fresh, &kit_err);
    ok(kit_is_whole(fresh, "b", 3, 700) && !kit_is_whole(fresh, "a", 1, 100),
       "a new one sees the new state");
    sym_snapshot_end(old);
    sym_snapshot_end(fresh);

    is_u64(kit_faults(w), 0, "verifies");
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.modules, 1, "one module");
    is_u64(stat.ready, 1, "ready");
    is_u64(stat.extents, 3, "three extents");
    is_u64(stat.quota, 100 * MIB, "quota");
    is_u64(stat.live_bytes, (2 * 16 + 1 + 1) * PAGE, "live bytes");

    is_status(kit_put(w, "no/slash", 0, 0), SYM_MALFORMED, &kit_err,
              "a name with a slash is refused");
    sym_store_close(w);

    w = kit_reader();
    (void) sym_snapshot_begin(w, &fresh, &kit_err);
    ok(kit_is_whole(fresh, "b", 3, 700), "a reader sees it");
    sym_snapshot_end(fresh);
    sym_store_close(w);
    kit_clean();
}


static sym_status_t
list_name(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    char *names = ctx;

    (void) snprintf(names + strlen(names), 64 - strlen(names), "%.*s%s%.*s ",
                    (int) scope.len, scope.data, scope.len != 0 ? ":" : "",
                    (int) record->object.name.len, record->object.name.data);
    return SYM_OK;
}


/* Scopes separate modules of one name; a listing is sorted by key. */
static void
test_keys(void)
{
    static const struct {
        const char *scope, *name;
    } made[] = {
        { "", "b" }, { "t2", "a" }, { "", "ab" }, { "t1", "b" }, { "", "a" }
    };
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .reason = SYM_STR("no such file") };
    char names[64] = "", longest[SYM_NAME_MAX + 1];
    sym_snapshot_t *s;
    sym_ingest_t *ingest;
    sym_module_key_t k;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(100 * MIB);
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        k = kit_key(made[i].name);
        k.scope = sym_cstr(made[i].scope);
        (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
        (void) kit_commit(ingest, &k, &record, &kit_err);
    }
    (void) sym_snapshot_begin(w, &s, &kit_err);
    (void) sym_snapshot_each(s, list_name, names, &kit_err);
    is_str(sym_cstr(names), "a ab b t1:b t2:a ", "sorted, scopes apart");

    k = kit_key("a");
    k.scope = SYM_STR("t2");
    is_status(kit_find(s, &k, SYM_KIND_SYMCACHE, &record, &kit_err), SYM_OK,
              &kit_err, "found in its scope");
    is_str(record.reason, "no such file", "reason");
    k.scope = SYM_STR("t1");
    is_status(kit_find(s, &k, SYM_KIND_SYMCACHE, &record, &kit_err),
              SYM_NOT_FOUND, &kit_err, "not in another scope");
    sym_snapshot_end(s);

    memset(longest, 'n', sizeof(longest));
    k = kit_key("");
    k.name = sym_str(longest, SYM_NAME_MAX);
    is_status(sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err),
              SYM_OK, &kit_err, "the longest name");
    is_status(kit_commit(ingest, &k, &record, &kit_err), SYM_OK, &kit_err,
              "is stored");
    k.name.len++;
    (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
    is_status(kit_commit(ingest, &k, &record, &kit_err), SYM_MALFORMED,
              &kit_err, "a longer one is refused");
    sym_store_close(w);
    kit_clean();
}


static void
test_one_writer(void)
{
    char file[128], text[32] = "", want[32];
    sym_store_t *w;
    int status = 1, fd;
    pid_t pid;

    kit_folder();
    w = kit_writer(0);
    pid = fork();
    if (pid == 0) {
        _exit(kit_writer(0) == NULL && kit_err.status == SYM_BUSY ? 0 : 1);
    }
    (void) waitpid(pid, &status, 0);
    is_u64((uint64_t) status, 0, "a second writer is refused");

    kit_file(file, "writer.lock");
    fd = open(file, O_RDONLY);
    ok(read(fd, text, sizeof(text) - 1) > 0, "writer.lock");
    (void) close(fd);
    (void) snprintf(want, sizeof(want), "%ld\n", (long) getpid());
    is_str(sym_cstr(text), want, "the error names the first");

    sym_store_close(w);
    w = kit_writer(0);
    ok(w != NULL, "and accepted when the first has closed");
    sym_store_close(w);
    kit_clean();
}


static void
test_quota(void)
{
    uint32_t now = (uint32_t) time(NULL);
    uint64_t part = 160 * PAGE, evicted = 0;
    sym_store_stat_t stat;
    unsigned stored = 0, fit;
    sym_store_t *w;
    char name[16], last[16];

    kit_folder();
    w = kit_writer(64 * part);
    (void) sym_store_stat(w, &stat, &kit_err);
    fit = (unsigned) (stat.live_limit / (part + PAGE)); /* with their records */
    for (unsigned i = 0; i < fit; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) kit_put(w, name, 10, SYM_EXTENT_MAX);
        use(w, name, now - 100 + i);
    }
    (void) snprintf(last, sizeof(last), "m%u", fit - 1);
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(fit > 40 && stat.evicted == 0, "%u modules fit", fit);
    use(w, "m0", now + 100); /* now the second is the oldest */

    for (unsigned i = fit; i < fit + 6; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        is_status(kit_put(w, name, 10, SYM_EXTENT_MAX), SYM_OK, &kit_err, name);
    }
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.live_bytes <= stat.live_limit, "live bytes stay below their limit");
    ok(stat.evicted >= 2, "%u were evicted", (unsigned) stat.evicted);
    ok(kit_has(w, "m0", NULL), "the most recently used one stays");
    ok(!kit_has(w, "m1", NULL) && !kit_has(w, "m2", NULL),
       "the least recently used ones are evicted");
    ok(kit_has(w, last, NULL) && kit_has(w, name, NULL), "the newest stay");

    is_status(kit_put(w, "huge", 700, SYM_EXTENT_MAX), SYM_LIMIT, &kit_err,
              "a module larger than the quota is refused");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.modules > fit / 3, "and nothing is evicted for it");
    is_u64(kit_faults(w), 0, "the store verifies after that");

    kit_err = (sym_error_t){ 0 };
    is_status(sym_store_evict(w, 10 * part, &evicted, &kit_err), SYM_OK,
              &kit_err, "evicted down to a size");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.live_bytes <= 10 * part && stat.modules > 0 && evicted > 0, "done");

    /* writes ten times the quota: the file does not grow with it */
    for (unsigned i = 0; i < 640; i++) {
        (void) snprintf(name, sizeof(name), "n%u", i);
        stored += kit_put(w, name, 10, (size_t) i * 7919 % SYM_EXTENT_MAX + 1)
                  == SYM_OK;
    }
    is_u64(stored, 640, "640 modules pass through");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(kit_disk_bytes() <= stat.quota - stat.quota / 8,
       "%llu bytes on disk for a quota of %llu",
       (unsigned long long) kit_disk_bytes(), (unsigned long long) stat.quota);
    is_u64(kit_faults(w), 0, "the store verifies after that");
    sym_store_close(w);
    kit_clean();
}


/* Modules in progress at the same time share LMDB's transaction, and none is
 * harmed when another is abandoned. */
static void
test_side_by_side(void)
{
    static uint8_t data[SYM_EXTENT_MAX];
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION };
    sym_module_key_t a = kit_key("a");
    sym_ingest_t *one, *other;
    kit_lmdb_t l;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(256 * MIB);
    (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &one, &kit_err);
    (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &other, &kit_err);
    for (uint32_t i = 0; i < 700; i++) { /* some batches of each */
        (void) sym_ingest_extent(one, i, data, sizeof(data), &kit_err);
        (void) sym_ingest_extent(other, i, data, sizeof(data), &kit_err);
    }
    is_status(kit_err.status, SYM_OK, &kit_err, "extents in turn");
    ok(!kit_has(w, "a", NULL), "nothing is visible before its commit");
    sym_ingest_abort(other);
    is_status(kit_commit(one, &a, &record, &kit_err), SYM_OK, &kit_err,
              "one is committed, the other is abandoned");
    ok(kit_has(w, "a", NULL) && !kit_has(w, "b", NULL), "one is there");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);

    (void) kit_lmdb_open(&l);
    is_u64(kit_lmdb_entries(&l, l.extents), 700, "no extent of the other");
    (void) kit_lmdb_close(&l);
    kit_clean();
}


/* A writer of endless modules of 200 extents.  It kills itself at the n-th
 * extent (0: never), and writes a byte for each acknowledged module. */
static void
write_until_killed(unsigned round, uint32_t n, int done)
{
    static uint8_t data[SYM_EXTENT_MAX];
    sym_store_t *w = kit_writer(0);

    for (unsigned i = 0;; i++) {
        sym_object_record_t record = { .state = SYM_MODULE_READY,
                                       .kind_version = SYM_SYMCACHE_VERSION };
        sym_module_key_t k;
        sym_ingest_t *ingest;
        char name[32];

        /* every second round replaces existing modules */
        (void) snprintf(name, sizeof(name), "k%u_%u", round / 2, i);
        k = kit_key(name);
        (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
        for (uint32_t e = 0; e < 200; e++) {
            for (size_t at = 0; at < sizeof(data); at++) {
                data[at] = kit_byte(name, e, at);
            }
            (void) sym_ingest_extent(ingest, e, data, sizeof(data), &kit_err);
            if (n != 0 && i * 200 + e + 1 == n) {
                (void) raise(SIGKILL);
            }
        }
        if (kit_commit(ingest, &k, &record, &kit_err) == SYM_OK) {
            (void) !write(done, "x", 1);
        }
    }
}


/* The child dies at the given extent, or, if that is 0, of a signal at any time
 * after the first acknowledged modules. */
static bool
kill_writer(unsigned round, uint32_t n)
{
    unsigned done = 0;
    int ends[2];
    bool is_well;
    char name[32], byte;
    pid_t pid;

    if (pipe(ends) != 0 || (pid = fork()) == -1) {
        return false;
    }
    if (pid == 0) {
        write_until_killed(round, n, ends[1]);
    }
    (void) close(ends[1]);
    while (read(ends[0], &byte, 1) == 1) {
        if (++done == 1 + round % 4 && n == 0) {
            (void) kill(pid, SIGKILL);
        }
    }
    (void) close(ends[0]);
    (void) waitpid(pid, NULL, 0);

    sym_store_t *w = kit_writer(0);
    sym_snapshot_t *s;

    is_well = w != NULL && kit_faults(w) == 0
              && sym_snapshot_begin(w, &s, &kit_err) == SYM_OK;
    if (is_well) {
        is_well = kit_is_whole(s, "base", 20, 100);
        for (unsigned i = 0; i < done; i++) {
            (void) snprintf(name, sizeof(name), "k%u_%u", round / 2, i);
            is_well = is_well && kit_is_whole(s, name, 200, SYM_EXTENT_MAX);
        }
        sym_snapshot_end(s);
    }
    sym_store_close(w);
    return is_well;
}


static void
test_killed_writer(void)
{
    /* a batch has 512 extents: before, at and after a commit in the middle, and
     * around the ends of modules */
    static const uint32_t points[] = { 1,   199, 200, 201, 511, 512,
                                       513, 514, 777, 0,   0,   0 };
    unsigned well = 0, n = sizeof(points) / sizeof(points[0]);

    kit_folder();
    sym_store_t *w = kit_writer(1024 * MIB);
    (void) kit_put(w, "base", 20, 100);
    use(w, "base", UINT32_MAX); /* killed writers must not evict it */
    sym_store_close(w);

    for (unsigned round = 0; round < n; round++) {
        well += kill_writer(round, points[round]);
    }
    is_u64(well, n,
           "killed at many points: acknowledged modules are complete, "
           "and there are no others");
    kit_clean();
}


static void
read_module(void *arg)
{
    (void) kit_is_whole(arg, "d", 30, 100);
}


/* The file is truncated under an open reader. */
static void
test_truncated(void)
{
    unsigned survived = 0, faults = 0;
    char file[128];

    kit_folder();
    kit_file(file, "data.mdb");
    sym_store_t *w = kit_writer(100 * MIB);
    (void) kit_put(w, "d", 30, 100);
    sym_store_close(w);

    for (int pages = 480; pages >= 0; pages -= 16) {
        sym_store_t *r = kit_reader();
        sym_snapshot_t *s;
        sym_status_t status = SYM_DAMAGED;

        kit_err = (sym_error_t){ 0 };
        if (r != NULL && sym_snapshot_begin(r, &s, &kit_err) == SYM_OK) {
            (void) truncate(file, (off_t) pages * (off_t) PAGE);
            status = sym_store_guarded(r, read_module, s, &kit_err);
        }
        faults += status == SYM_DAMAGED;
        survived++;
        sym_store_close(r);
    }

    is_u64(survived, 31, "survived all of it");
    ok(faults >= 29, "and reported it (%u of 31)", faults);
    kit_clean();
}


static void
test_not_lmdb(void)
{
    static const char text[8192] = "this is no store";
    char file[128];
    int fd;

    kit_folder();
    kit_file(file, "data.mdb");
    fd = open(file, O_WRONLY | O_CREAT, 0644);
    (void) !write(fd, text, sizeof(text));
    (void) close(fd);
    ok(kit_reader() == NULL, "not an LMDB file: refused");
    is_u64(kit_err.status, SYM_DAMAGED, "and the error says so");
    ok(kit_writer(0) == NULL, "by a writer too");
    is_u64(kit_err.status, SYM_DAMAGED, "and its error says so");
    kit_clean();
}


/* A clock that was set back must not make a tombstone valid for ever. */
static void
test_clock_put_back(void)
{
    sym_object_record_t r = { .state = SYM_MODULE_MALFORMED,
                              .stored_at = 1000,
                              .expires_at = 1060 };

    ok(!sym_module_expired(&r, 1000) && !sym_module_expired(&r, 1059),
       "a tombstone is valid until it expires");
    ok(sym_module_expired(&r, 1060), "... and not longer");
    ok(!sym_module_expired(&r, 999), "a clock may be a second behind");
    ok(sym_module_expired(&r, 900), "a record from the future has expired");
    r.expires_at = 0;
    ok(!sym_module_expired(&r, 5000) && sym_module_expired(&r, 900),
       "... also one that never expires");
    r.state = SYM_MODULE_READY;
    ok(!sym_module_expired(&r, 900), "a ready module stays");
}


int
main(void)
{
    test_clock_put_back();
    test_round_trip();
    test_keys();
    test_one_writer();
    test_quota();
    test_side_by_side();
    test_killed_writer();
    test_truncated();
    test_not_lmdb();
    return done_testing();
}
