/*
 * What was committed is there, whole, after whatever happened; what was not is
 * gone.  One writer, any readers, a quota with the least recently used going
 * first.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"
#include "symcache/format.h"
#include "tap.h"

static char path[64];
static sym_error_t err;


static void
new_folder(void)
{
    (void) snprintf(path, sizeof(path), "/tmp/symstore.XXXXXX");
    if (mkdtemp(path) == NULL) {
        perror("mkdtemp");
        exit(1);
    }
}


static void
remove_folder(void)
{
    char command[128];

    (void) snprintf(command, sizeof(command), "rm -rf '%s'", path);
    if (system(command) != 0) {
        ok(false, "temporary folder removed");
    }
}


static sym_store_t *
writer(uint64_t quota)
{
    sym_store_options_t options = { .quota = quota, .create = true };
    sym_store_t *store = NULL;

    err = (sym_error_t){ 0 };
    if (sym_store_open_write(path, &options, &store, &err) != SYM_OK) {
        return NULL;
    }
    return store;
}


static sym_store_t *
reader(void)
{
    sym_store_t *store = NULL;

    err = (sym_error_t){ 0 };
    return sym_store_open_read(path, &store, &err) == SYM_OK ? store : NULL;
}


static sym_module_key_t
key(const char *name)
{
    return (sym_module_key_t){ SYM_STR(""), sym_cstr(name),
                               SYM_STR("0123456789ABCDEF0123456789ABCDEF1") };
}


/* Extent i of a module is filled with a byte of its own. */
static uint8_t
filling(const char *name, uint32_t i)
{
    return (uint8_t) ((uint32_t) name[strlen(name) - 1] * 31 + i);
}


static sym_status_t
put(sym_store_t *store, const char *name, uint32_t extents, size_t tail)
{
    static uint8_t data[SYM_EXTENT_MAX];
    sym_module_record_t record = { .state = SYM_MODULE_READY,
                                   .format = SYM_SYMCACHE_VERSION,
                                   .quality = SYM_QUALITY_LINES,
                                   .source = SYM_STR("test") };
    sym_module_key_t k = key(name);
    sym_ingest_t *ingest;

    err = (sym_error_t){ 0 };
    if (sym_ingest_begin(store, &k, &ingest, &err) != SYM_OK) {
        return err.status;
    }

    /* the first comes last, as the symcache's writer does it */
    for (uint32_t i = extents; i-- > 0;) {
        memset(data, filling(name, i), sizeof(data));
        if (sym_ingest_extent(ingest, i, data,
                              i + 1 == extents ? tail : sizeof(data), &err)
            != SYM_OK)
        {
            sym_ingest_abort(ingest);
            return err.status;
        }
    }

    return sym_ingest_commit(ingest, &record, &err);
}


/* All of the module's bytes are as put() made them. */
static bool
is_whole(sym_snapshot_t *snapshot, const char *name, uint32_t extents)
{
    sym_module_key_t k = key(name);
    sym_module_record_t record;
    sym_error_t e = { 0 };

    if (sym_snapshot_find(snapshot, &k, &record, &e) != SYM_OK
        || record.extents != extents)
    {
        return false;
    }

    for (uint32_t i = 0; i < extents; i++) {
        const uint8_t *data;
        size_t len;

        if (sym_snapshot_extent(snapshot, record.module_id, i, &data, &len)
            != SYM_OK) {
            return false;
        }
        for (size_t at = 0; at < len; at++) {
            if (data[at] != filling(name, i)) {
                return false;
            }
        }
    }

    return true;
}


static bool
has(sym_store_t *store, const char *name)
{
    sym_module_key_t k = key(name);
    sym_module_record_t record;
    sym_snapshot_t *snapshot;
    sym_error_t e = { 0 };
    sym_status_t rc;

    if (sym_snapshot_begin(store, &snapshot, &e) != SYM_OK) {
        return false;
    }
    rc = sym_snapshot_find(snapshot, &k, &record, &e);
    sym_snapshot_end(snapshot);
    return rc == SYM_OK;
}


static void
use(sym_store_t *store, const char *name, uint32_t now_s)
{
    sym_module_key_t k = key(name);
    sym_module_record_t record;
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, &err) == SYM_OK) {
        if (sym_snapshot_find(snapshot, &k, &record, &err) == SYM_OK) {
            sym_store_touch(store, record.slot, now_s);
        }
        sym_snapshot_end(snapshot);
    }
}


static void
note_fault(void *ctx, const sym_module_key_t *k, uint32_t extent,
           const char *what)
{
    (void) ctx;
    printf("# fault: %.*s extent %u: %s\n", (int) k->name.len, k->name.data,
           extent, what);
}


static uint64_t
faults(sym_store_t *store)
{
    uint64_t n = 0;

    err = (sym_error_t){ 0 };
    if (sym_store_verify(store, note_fault, NULL, &n, &err) != SYM_OK) {
        return UINT64_MAX;
    }
    return n;
}


static void
test_round_trip(void)
{
    sym_store_t *w, *r;
    sym_snapshot_t *old, *fresh;
    sym_module_record_t record;
    sym_store_stat_t stat;
    sym_module_key_t k = key("b");

    new_folder();
    is_u64((uint64_t) (uintptr_t) reader(), 0, "no store: no reader");
    is_u64(err.status, SYM_NOT_FOUND, "and it says so");

    w = writer((uint64_t) 100 << 20);
    r = reader();
    ok(w != NULL && r != NULL, "writer and reader");
    is_status(put(w, "a", 1, 100), SYM_OK, &err, "small module");
    is_status(put(w, "b", 40, 5000), SYM_OK, &err, "module of 40 extents");

    (void) sym_snapshot_begin(r, &old, &err);
    ok(is_whole(old, "a", 1) && is_whole(old, "b", 40), "both are whole");
    is_status(sym_snapshot_find(old, &k, &record, &err), SYM_OK, &err, "find");
    is_u64(record.bytes, 39 * SYM_EXTENT_MAX + 5000, "size");
    is_u64(record.quality, SYM_QUALITY_LINES, "quality");
    is_str(record.source, "test", "source");
    ok(record.used_at != 0, "stored counts as used");
    sym_store_touch(r, record.slot, 12345);

    is_status(put(w, "b", 3, 700), SYM_OK, &err, "replaced");
    is_status(sym_store_remove(w,
                               &(sym_module_key_t){
                                   key("a").scope, key("a").name, key("a").id },
                               &err),
              SYM_OK, &err, "removed");
    ok(is_whole(old, "a", 1) && is_whole(old, "b", 40),
       "the snapshot still sees what was");
    (void) sym_snapshot_begin(r, &fresh, &err);
    ok(is_whole(fresh, "b", 3) && !is_whole(fresh, "a", 1),
       "a new one what is");
    sym_snapshot_end(old);
    sym_snapshot_end(fresh);

    is_u64(faults(r), 0, "verifies");
    (void) sym_store_stat(r, &stat, &err);
    is_u64(stat.modules, 1, "one module");
    is_u64(stat.ready, 1, "ready");
    is_u64(stat.extents, 3, "three extents");
    is_u64(stat.quota, (uint64_t) 100 << 20, "quota");
    is_u64(stat.live_bytes, (2 * 16 + 1 + 1) * 4096, "live bytes");

    k = key("no/slash");
    sym_ingest_t *ingest;
    is_status(sym_ingest_begin(w, &k, &ingest, &err), SYM_MALFORMED, &err,
              "a name with a slash is refused");
    sym_store_close(r);
    sym_store_close(w);
    remove_folder();
}


static void
test_one_writer(void)
{
    sym_store_t *w;
    int status;
    pid_t pid;

    new_folder();
    w = writer(0);
    pid = fork();
    if (pid == 0) {
        _exit(writer(0) == NULL && err.status == SYM_BUSY ? 0 : 1);
    }
    (void) waitpid(pid, &status, 0);
    is_u64((uint64_t) status, 0, "a second writer is refused");
    sym_store_close(w);
    w = writer(0);
    ok(w != NULL, "and let in when the first is gone");
    sym_store_close(w);
    remove_folder();
}


static void
test_quota(void)
{
    sym_store_t *w, *r;
    sym_store_stat_t stat;
    uint32_t now = (uint32_t) time(NULL);
    char name[16];

    new_folder();
    w = writer(64 * 10 * 65536);
    r = reader();

    for (unsigned i = 0; i < 60; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) put(w, name, 10, SYM_EXTENT_MAX);
        use(r, name, now - 100 + i);
    }

    /* the oldest is used again: now the second is the oldest */
    use(r, "m0", now + 100);

    for (unsigned i = 60; i < 66; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        is_status(put(w, name, 10, SYM_EXTENT_MAX), SYM_OK, &err, name);
    }

    (void) sym_store_stat(r, &stat, &err);
    ok(stat.live_bytes <= stat.quota, "live bytes stay below the quota");
    ok(stat.evicted >= 2, "%u were evicted", (unsigned) stat.evicted);
    ok(has(r, "m0"), "the one used last stays");
    ok(!has(r, "m1") && !has(r, "m2"), "those used first go");
    ok(has(r, "m59") && has(r, "m65"), "the newest stay");

    is_status(put(w, "huge", 700, SYM_EXTENT_MAX), SYM_FULL, &err,
              "larger than half the quota is refused");
    is_u64(faults(r), 0, "verifies after that");

    uint64_t evicted;
    err = (sym_error_t){ 0 };
    is_status(sym_store_evict(w, 100 * 65536, &evicted, &err), SYM_OK, &err,
              "evict to a size");
    (void) sym_store_stat(r, &stat, &err);
    ok(stat.live_bytes <= 100 * 65536 && stat.modules > 0, "done");
    is_u64(faults(r), 0, "verifies after that");

    /* ten times the quota through a store: the file does not grow with it */
    for (unsigned i = 0; i < 640; i++) {
        (void) snprintf(name, sizeof(name), "n%u", i);
        if (put(w, name, 10, (i * 7919) % SYM_EXTENT_MAX + 1) != SYM_OK) {
            is_status(err.status, SYM_OK, &err, name);
        }
    }
    (void) sym_store_stat(r, &stat, &err);
    ok(stat.file_bytes < stat.quota + stat.quota / 4,
       "file of %llu bytes for a quota of %llu",
       (unsigned long long) stat.file_bytes, (unsigned long long) stat.quota);
    is_u64(faults(r), 0, "verifies after that");
    sym_store_close(r);
    sym_store_close(w);
    remove_folder();
}


static void
test_killed_writer(void)
{
    unsigned whole = 0;

    new_folder();
    sym_store_t *w = writer((uint64_t) 1 << 30);
    (void) put(w, "base", 20, 100);
    use(w, "base", UINT32_MAX); /* what is killed must not evict it */
    sym_store_close(w);

    for (unsigned round = 0; round < 12; round++) {
        int pipe_fd[2], status;
        char byte;
        pid_t pid;

        if (pipe(pipe_fd) != 0 || (pid = fork()) < 0) {
            ok(false, "pipe and fork");
            return;
        }
        if (pid == 0) {
            w = writer(0);
            /* each module spans several batches */
            for (unsigned i = 0;; i++) {
                char name[16];

                (void) snprintf(name, sizeof(name), "k%u_%u", round, i);
                (void) put(w, name, 700, 100);
                (void) !write(pipe_fd[1], "x", 1);
            }
        }

        (void) close(pipe_fd[1]);
        if (round % 2) {
            (void) !read(pipe_fd[0], &byte, 1); /* after a first module */
        }
        struct timespec t = { 0, 7000000L * (long) (round + 1) };
        (void) nanosleep(&t, NULL);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, &status, 0);
        (void) close(pipe_fd[0]);

        w = writer(0);
        sym_store_t *r = reader();
        sym_snapshot_t *s;

        whole += w != NULL && r != NULL && faults(r) == 0;
        if (err.status != SYM_OK) {
            is_status(err.status, SYM_OK, &err, "after a kill");
        }
        if (r != NULL && sym_snapshot_begin(r, &s, &err) == SYM_OK) {
            whole -= !is_whole(s, "base", 20);
            sym_snapshot_end(s);
        }
        sym_store_close(r);
        sym_store_close(w);
    }
    is_u64(whole, 12, "killed 12 times: all verifies, nothing half there");
    remove_folder();
}


static void
read_all(void *arg)
{
    sym_snapshot_t *s = arg;
    char name[16];

    for (unsigned i = 0; i < 30; i++) {
        (void) snprintf(name, sizeof(name), "d%u", i);
        (void) is_whole(s, name, 3);
    }
}


/* Flips bytes in the file's pages; a worker's reads must survive all of it. */
static int
damage_child(unsigned seed, bool truncate_it)
{
    char file[128];
    sym_snapshot_t *s;
    sym_store_t *r = reader();
    struct stat st;
    int fd;

    (void) snprintf(file, sizeof(file), "%s/data.mdb", path);
    fd = open(file, O_RDWR);
    if (r == NULL || fd == -1 || fstat(fd, &st) != 0) {
        return 1;
    }

    if (truncate_it) {
        if (ftruncate(fd, st.st_size / (1 + (off_t) (seed % 50)) / 4096 * 4096)
            != 0) {
            return 1;
        }
    } else {
        srand(seed);
        for (unsigned i = 0; i < 400; i++) {
            uint8_t byte = (uint8_t) rand();
            /* the tree's pages rather than the extents': they are at the end */
            off_t at = (off_t) rand() % st.st_size;

            at = i % 2 ? at / 4096 * 4096 + rand() % 128 : at;
            (void) !pwrite(fd, &byte, 1, at);
        }
    }

    for (unsigned i = 0; i < 3; i++) {
        sym_error_t e = { 0 };
        uint64_t n;

        if (r != NULL && sym_snapshot_begin(r, &s, &e) == SYM_OK) {
            if (sym_store_guarded(r, read_all, s, &e) != SYM_OK) {
                sym_store_abandon(r);
                r = reader();
                continue;
            }
            sym_snapshot_end(s);
            (void) sym_store_verify(r, note_fault, NULL, &n, &e);
        }
    }

    return 0;
}


static void
test_damage(void)
{
    unsigned survived = 0, n = 40;
    char file[128], copy[128], command[300];

    new_folder();
    sym_store_t *w = writer((uint64_t) 100 << 20);
    for (unsigned i = 0; i < 30; i++) {
        char name[16];

        (void) snprintf(name, sizeof(name), "d%u", i);
        (void) put(w, name, 3, 100);
    }
    sym_store_close(w);

    (void) snprintf(file, sizeof(file), "%s/data.mdb", path);
    (void) snprintf(copy, sizeof(copy), "%s/copy", path);
    (void) snprintf(command, sizeof(command), "cp '%s' '%s'", file, copy);
    if (system(command) != 0) {
        ok(false, "copy");
    }
    (void) snprintf(command, sizeof(command), "cp '%s' '%s'", copy, file);

    for (unsigned i = 0; i < n; i++) {
        int status = 1;
        pid_t pid;

        if (system(command) != 0) {
            ok(false, "copy back");
        }
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            if (freopen("/dev/null", "w", stdout) == NULL) {
                _exit(1);
            }
            (void) alarm(60);
            _exit(damage_child(i, i % 4 == 3));
        }
        (void) waitpid(pid, &status, 0);
        survived += status == 0;
        if (status != 0) {
            printf("# seed %u: wait status 0x%x\n", i, (unsigned) status);
        }
    }
    is_u64(survived, n, "reading damaged stores ends no process");
    remove_folder();
}


static void
test_versions(void)
{
    char file[128];
    int fd;

    new_folder();
    (void) snprintf(file, sizeof(file), "%s/data.mdb", path);
    fd = open(file, O_WRONLY | O_CREAT, 0644);
    (void) !write(fd, file, sizeof(file));
    (void) close(fd);
    (void) snprintf(file, sizeof(file), "%s/lock.mdb", path);
    (void) close(open(file, O_WRONLY | O_CREAT, 0644));
    is_u64((uint64_t) (uintptr_t) reader(), 0, "not an LMDB file: refused");
    is_u64(err.status, SYM_DAMAGED, "and it says so");
    remove_folder();
}


static void
test_full_disk(void)
{
    struct rlimit limit = { 3 << 20, RLIM_INFINITY }, before;
    sym_store_t *w;

    new_folder();
    w = writer((uint64_t) 100 << 20);
    (void) put(w, "a", 4, 10);

    (void) signal(SIGXFSZ, SIG_IGN);
    (void) getrlimit(RLIMIT_FSIZE, &before);
    (void) setrlimit(RLIMIT_FSIZE, &limit);
    is_status(put(w, "big", 300, 10), SYM_FULL, &err, "no room on the disk");
    (void) setrlimit(RLIMIT_FSIZE, &before);

    is_status(put(w, "b", 4, 10), SYM_OK, &err, "room again: goes on");
    ok(has(w, "a") && has(w, "b") && !has(w, "big"), "nothing lost");
    sym_store_close(w);

    sym_store_t *r = reader();
    is_u64(faults(r), 0, "verifies");
    sym_store_close(r);
    remove_folder();
}


int
main(void)
{
    test_round_trip();
    test_one_writer();
    test_quota();
    test_killed_writer();
    test_damage();
    test_versions();
    test_full_disk();
    return done_testing();
}
