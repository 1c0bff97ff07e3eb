/*
 * The store outgrows a reader's map, changes its quota, is written by other
 * versions, or is on a full disk.  Each gives an error that an operator or a
 * caller can act on, and nothing is lost.
 */
#include <sys/mount.h>
#include <sys/resource.h>

#include "store/env.h"
#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)

/* Like a loader in one process, which opens a store only once. */
static void
put_elsewhere(const char *name, uint32_t extents, size_t tail)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0) {
        sym_store_t *w = kit_writer(512 * MIB);

        _exit(w != NULL && kit_put(w, name, extents, tail) == SYM_OK ? 0 : 1);
    }
    (void) waitpid(pid, &status, 0);
    is_u64((uint64_t) status, 0, name);
}


/* Readers map far more than any test can fill, so this reader maps less. */
static void
test_outgrown_map(void)
{
    sym_snapshot_t *old, *fresh;
    sym_store_t *r;

    kit_folder();
    put_elsewhere("a", 2, 100);
    r = kit_reader();
    is_u64((uint64_t) mdb_env_set_mapsize(r->env, MIB), 0, "a map of 1 MiB");
    (void) sym_snapshot_begin(r, &old, &kit_err);

    put_elsewhere("b", 64, 100); /* 4 MiB */
    kit_err = (sym_error_t){ 0 };
    is_status(sym_snapshot_begin(r, &fresh, &kit_err), SYM_BUSY, &kit_err,
              "outgrown while a snapshot is open: busy");
    ok(kit_is_whole(old, "a", 2, 100), "that snapshot goes on");
    sym_snapshot_end(old);

    kit_err = (sym_error_t){ 0 };
    is_status(sym_snapshot_begin(r, &fresh, &kit_err), SYM_OK, &kit_err,
              "then the store is mapped again");
    ok(kit_is_whole(fresh, "a", 2, 100) && kit_is_whole(fresh, "b", 64, 100),
       "and complete");

    put_elsewhere("c", 640, 100); /* 40 MiB: as much as the writer mapped */
    sym_snapshot_end(fresh);
    kit_err = (sym_error_t){ 0 };
    (void) sym_snapshot_begin(r, &fresh, &kit_err);
    ok(kit_is_whole(fresh, "c", 640, 100), "and the later modules");
    sym_snapshot_end(fresh);
    sym_store_close(r);
    kit_clean();
}


/* A snapshot pins the pages that it sees, even if all its modules are evicted
 * and the pages are needed. */
static void
test_pinned(void)
{
    sym_snapshot_t *old;
    sym_store_t *w;
    sym_store_stat_t stat;
    unsigned stored = 0;
    char name[16];

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "first", 100, 1000);
    (void) sym_snapshot_begin(w, &old, &kit_err);

    for (unsigned i = 0; i < 20; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        stored += kit_put(w, name, 100, 1000) == SYM_OK;
    }

    ok(stored > 5 && stored < 20, "%u of 20 found room", stored);
    ok(kit_disk_bytes() <= 56 * MIB, "the quota is not exceeded because of it");
    is_status(kit_err.status, SYM_FULL, &kit_err, "the others: store full");
    ok(!kit_has(w, "first", NULL), "its module is gone for others");
    ok(kit_is_whole(old, "first", 100, 1000), "and complete in the snapshot");

    sym_snapshot_end(old);
    stored = 0;
    for (unsigned i = 0; i < 20; i++) {
        (void) snprintf(name, sizeof(name), "n%u", i);
        stored += kit_put(w, name, 100, 1000) == SYM_OK;
    }
    is_u64(stored, 20, "without a reader all find room again");
    is_u64(kit_faults(w), 0, "verifies");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.live_bytes <= stat.live_limit && kit_disk_bytes() <= 56 * MIB,
       "the store is below the quota");
    sym_store_close(w);
    kit_clean();
}


/* A dead reader must not pin pages for ever. */
static void
test_dead_reader(void)
{
    sym_store_t *w;
    unsigned dead = 0, stored = 0;
    int status = 1;
    char name[16];

    kit_folder();
    w = kit_writer(32 * MIB);
    (void) kit_put(w, "first", 100, 1000);
    sym_store_close(w);

    pid_t pid = fork();
    if (pid == 0) {
        sym_snapshot_t *s;
        sym_store_t *r = kit_reader();

        _exit(r != NULL && sym_snapshot_begin(r, &s, &kit_err) == SYM_OK ? 0
                                                                         : 1);
    }
    (void) waitpid(pid, &status, 0);
    is_u64((uint64_t) status, 0, "a reader dies within its snapshot");

    /* the check when opening would not have seen it */
    w = kit_writer(0);
    pid = fork();
    if (pid == 0) {
        sym_snapshot_t *s;
        sym_store_t *r = kit_reader();

        _exit(r != NULL && sym_snapshot_begin(r, &s, &kit_err) == SYM_OK ? 0
                                                                         : 1);
    }
    (void) waitpid(pid, &status, 0);
    is_status(sym_store_reader_check(w, &dead, &kit_err), SYM_OK, &kit_err,
              "reader check");
    is_u64(dead, 1, "finds the reader that has died since");

    pid = fork();
    if (pid == 0) {
        sym_snapshot_t *s;
        sym_store_t *r = kit_reader();

        _exit(r != NULL && sym_snapshot_begin(r, &s, &kit_err) == SYM_OK ? 0
                                                                         : 1);
    }
    (void) waitpid(pid, &status, 0);
    for (unsigned i = 0; i < 20; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        stored += kit_put(w, name, 100, 1000) == SYM_OK;
    }
    is_u64(stored, 20, "a dead reader is removed before pages run out");
    sym_store_close(w);
    kit_clean();
}


static void
test_lower_quota(void)
{
    sym_store_stat_t stat;
    uint64_t file_bytes;
    sym_store_t *w;
    char name[16];

    kit_folder();
    w = kit_writer(64 * MIB);
    for (unsigned i = 0; i < 12; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) kit_put(w, name, 80, 1000);
    }
    sym_store_close(w);

    /* the file has no free page, and even deleting needs room in the map */
    w = kit_writer(16 * MIB);
    ok(w != NULL, "a lower quota");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.live_bytes <= stat.live_limit && stat.modules >= 1,
       "the excess is evicted at once");
    file_bytes = stat.file_bytes;
    is_status(kit_put(w, "new", 20, 10), SYM_OK, &kit_err, "stores");
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.quota, 16 * MIB, "the given quota");
    ok(stat.live_bytes <= stat.live_limit && stat.live_limit < 16 * MIB,
       "is kept");
    for (unsigned i = 0; i < 60; i++) {
        (void) snprintf(name, sizeof(name), "n%u", i);
        (void) kit_put(w, name, 30, 1000);
    }
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.file_bytes > 16 * MIB && stat.file_bytes == file_bytes,
       "the file does not shrink, nor does it grow");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);

    w = kit_writer(0);
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.quota, 16 * MIB, "and kept in the store");
    sym_store_close(w);
    kit_clean();
}


/* Changes a number in the meta record, with a matching checksum. */
static void
set_version(const char *name, uint64_t version)
{
    size_t len = strlen(name);
    uint8_t buf[12];
    MDB_val k = { len, (void *) (uintptr_t) name }, v = { 12, buf };
    kit_lmdb_t l;

    memcpy(buf, &version, 8);
    sym_crc_put(buf + 8, sym_crc(name, len, &version, 8));
    ok(kit_lmdb_open(&l) && mdb_put(l.txn, l.meta, &k, &v, 0) == 0
           && kit_lmdb_close(&l),
       "another store version");
}


static void
test_versions(void)
{
    sym_store_t *w, *r;
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION + 1,
                                   .path = SYM_STR("newer") };
    sym_module_key_t k = kit_key("newer");
    sym_ingest_t *ingest;
    const uint8_t copy[1] = { 0 };

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "a", 1, 10);
    (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
    (void) sym_ingest_extent(ingest, 0, copy, 0, &kit_err);
    (void) kit_commit(ingest, &k, &record, &kit_err);
    ok(!kit_has(w, "newer", NULL), "another symcache format: not found");
    is_status(kit_put(w, "newer", 3, 10), SYM_OK, &kit_err, "it is replaced");
    ok(kit_has(w, "newer", NULL), "by any readable one");
    sym_store_close(w);

    for (unsigned version = SYM_STORE_VERSION - 1;
         version <= SYM_STORE_VERSION + 1; version += 2)
    {
        set_version("version", version);
        r = kit_reader();
        ok(r == NULL && kit_err.status == SYM_VERSION, "a reader refuses it");
        w = kit_writer(0);
        ok(w == NULL && kit_err.status == SYM_VERSION, "so does a writer");
    }
    set_version("version", SYM_STORE_VERSION);
    r = kit_reader();
    ok(r != NULL && kit_has(r, "a", NULL), "and it was not changed");
    sym_store_close(r);
    kit_clean();
}


/* A folder that was removed and created again under an open reader. */
static void
test_stale(void)
{
    char file[128];
    sym_store_t *w, *r;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "a", 1, 10);
    sym_store_close(w);
    r = kit_reader();
    ok(!sym_store_is_stale(r), "not stale");
    kit_file(file, "data.mdb");
    (void) unlink(file);
    ok(sym_store_is_stale(r), "removed: stale");
    kit_file(file, "lock.mdb");
    (void) unlink(file);
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "b", 1, 10);
    sym_store_close(w);
    ok(sym_store_is_stale(r), "created again: stale");
    ok(kit_has(r, "a", NULL) && !kit_has(r, "b", NULL),
       "the old one is still read");
    sym_store_close(r);
    r = kit_reader();
    ok(!sym_store_is_stale(r) && kit_has(r, "b", NULL), "then the new one");
    sym_store_close(r);
    kit_clean();
}


/* Exactly the least recently used are evicted, by the clock; the oldest of
 * equals first. */
static void
test_order(void)
{
    sym_object_record_t record;
    sym_store_t *w;
    sym_store_stat_t stat;
    unsigned wrong = 0;
    uint64_t evicted = 0;
    char name[16];

    kit_folder();
    w = kit_writer(64 * MIB);
    for (unsigned i = 0; i < 50; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) kit_put(w, name, 1 + i % 3, 1000);
        (void) kit_has(w, name, &record);
        /* 0, 17, 34, 1, 18 ..: neither by name nor by age */
        sym_store_touch(w, record.slot, 1000 + i * 17 % 50 / 5);
    }
    (void) sym_store_stat(w, &stat, &kit_err);
    is_status(sym_store_evict(w, stat.live_bytes / 2, &evicted, &kit_err),
              SYM_OK, &kit_err, "evict half");

    /* rank of each in the order, without a heap: the number before it */
    uint64_t pages[50], before;
    for (unsigned i = 0; i < 50; i++) {
        pages[i] = 1 + i % 3 * 16 + 1;
    }
    for (unsigned i = 0; i < 50; i++) {
        before = 0;
        for (unsigned j = 0; j < 50; j++) {
            unsigned a = i * 17 % 50 / 5, b = j * 17 % 50 / 5;

            before += b < a || (b == a && j < i) ? pages[j] : 0;
        }
        (void) snprintf(name, sizeof(name), "m%u", i);
        wrong += kit_has(w, name, NULL)
                 != (before * 4096 >= stat.live_bytes - stat.live_bytes / 2);
    }
    is_u64(wrong, 0, "exactly these were evicted");
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.modules + evicted, 50, "and they are counted");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


static void
fill_disk(const char *what)
{
    sym_store_t *w = kit_writer(256 * MIB);

    is_status(kit_put(w, "a", 4, 10), SYM_OK, &kit_err, what);
    is_status(kit_put(w, "big", 900, 10), SYM_FULL, &kit_err,
              "no room on the disk: store full");
    is_status(kit_put(w, "b", 4, 10), SYM_OK, &kit_err,
              "a small module is stored");
    ok(kit_has(w, "a", NULL) && kit_has(w, "b", NULL)
           && !kit_has(w, "big", NULL),
       "nothing is lost");
    sym_store_close(w);
    w = kit_writer(0);
    ok(w != NULL && kit_faults(w) == 0, "verifies after reopening");
    sym_store_close(w);
}


static void
test_full_disk(void)
{
    struct rlimit limit = { 20 * MIB, RLIM_INFINITY }, before;

    kit_folder();
    if (mount("none", kit_path, "tmpfs", 0, "size=20m") == 0) {
        fill_disk("a disk of 20 MiB");
        ok(umount(kit_path) == 0, "unmounted");
    } else {
        /* not root: a file size limit is the next best */
        (void) signal(SIGXFSZ, SIG_IGN);
        (void) getrlimit(RLIMIT_FSIZE, &before);
        limit.rlim_max = before.rlim_max;
        (void) setrlimit(RLIMIT_FSIZE, &limit);
        fill_disk("a file of 20 MiB at most");
        ok(setrlimit(RLIMIT_FSIZE, &before) == 0, "limit lifted");
    }
    kit_clean();
}


/* Errors that an operator must understand. */
static void
test_rights(void)
{
    char file[128], text[256];
    int status = 1;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "a", 1, 10);
    sym_store_close(w);

    if (geteuid() != 0) {
        ok(true, "only root can try as another user # SKIP not root");
        kit_clean();
        return;
    }

    static const struct {
        const char *file, *says;
        mode_t mode;
    } cases[] = {
        { "lock.mdb", "lock.mdb is not writable", 0644 },
        { "data.mdb", "data.mdb is not readable", 0600 },
        { "clock", "use clock cannot be opened for writing", 0644 },
        { "", "folder cannot be entered", 0700 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stat st;

        (void) chmod(kit_path, 0755);
        kit_file(file, "lock.mdb");
        (void) chmod(file, 0666);
        kit_file(file, "clock");
        (void) chmod(file, 0666);
        kit_file(file, cases[i].file);
        (void) stat(file, &st);
        (void) chmod(file, cases[i].mode);

        pid_t pid = fork();
        if (pid == 0) {
            if (setgid(65534) != 0 || setuid(65534) != 0) {
                _exit(2);
            }
            _exit(
                kit_reader() == NULL && kit_err.status == SYM_IO
                        && strstr(sym_error_text(&kit_err, text, sizeof(text)),
                                  cases[i].says)
                               != NULL
                    ? 0
                    : 1);
        }
        (void) waitpid(pid, &status, 0);
        is_u64((uint64_t) status, 0, cases[i].says);
        (void) chmod(file, st.st_mode);
    }
    kit_clean();
}


int
main(void)
{
    test_outgrown_map();
    test_pinned();
    test_dead_reader();
    test_lower_quota();
    test_versions();
    test_stale();
    test_order();
    test_full_disk();
    test_rights();
    return done_testing();
}
