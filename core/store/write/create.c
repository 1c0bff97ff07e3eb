#include "store/write/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Default maximum wait for a reader whose pages are needed. */
#define READER_WAIT_MS 2000

/* Maximum wait for a lock: a second. */
#define LOCK_PAUSE_NS 10000000
#define LOCK_PAUSES 100

#define QUOTA_DEFAULT ((uint64_t) 10 << 30)

/*
 * The map limits the size of the file.  If the file is larger because the quota
 * was lowered, the map gets extra room until the excess is deleted: LMDB copies
 * the pages that it changes.
 */
#define DELETE_ROOM ((uint64_t) 4 << 20)

static size_t
map_size(const sym_store_t *store)
{
    uint64_t size = store->budget.file_bytes;
    char file[PATH_MAX];
    struct stat st;

    sym_env_file(file, store->path, DATA_FILE);
    if (stat(file, &st) == 0 && (uint64_t) st.st_size > size) {
        size = (uint64_t) st.st_size / STORE_PAGE * STORE_PAGE;
        size += size / 64 / STORE_PAGE * STORE_PAGE + DELETE_ROOM;
    }

    return (size_t) size;
}


/*
 * After a writer was killed, its child may hold the lock until it notices.  So
 * waits a moment before refusing.
 */
static int
lock_file(int fd, int pauses)
{
    const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
    int rc = flock(fd, LOCK_EX | LOCK_NB);

    for (int i = 0; i < pauses && rc != 0 && errno == EWOULDBLOCK; i++) {
        (void) nanosleep(&pause, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }

    return rc;
}


static sym_status_t
take_lock(sym_store_t *store, bool is_hasty, sym_error_t *err)
{
    char file[PATH_MAX], pid[32];
    int n;

    sym_env_file(file, store->path, WRITER_FILE);
    store->lock_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (store->lock_fd == -1) {
        return sym_fail_sys(err, SYM_IO,
                            "the store's folder is not writable for this user",
                            errno);
    }

    if (lock_file(store->lock_fd, is_hasty ? 0 : LOCK_PAUSES) != 0) {
        return errno == EWOULDBLOCK
                   ? sym_fail(err, SYM_BUSY,
                              "another symloader is writing to the store (its "
                              "process id is in writer.lock)")
                   : sym_fail_sys(err, SYM_IO, "cannot lock writer.lock",
                                  errno);
    }

    n = snprintf(pid, sizeof(pid), "%ld\n", (long) getpid());
    if (ftruncate(store->lock_fd, 0) != 0
        || write(store->lock_fd, pid, (size_t) n) != n)
    {
        return sym_fail_sys(err, SYM_IO, "cannot write to writer.lock", errno);
    }

    return SYM_OK;
}


static sym_status_t
make_folder(const char *path, sym_error_t *err)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST) {
        return SYM_OK;
    }

    return sym_fail_sys(err, SYM_IO, "cannot make the store's folder", errno);
}


/*
 * Readers that run as another user must write to the lock and the clock.  A
 * mode that is already correct is not set again: the service may not set the
 * folder's set-group-ID bit (systemd's RestrictSUIDSGID=), so tmpfiles.d does
 * that.
 */
static sym_status_t
set_group(sym_store_t *store, const sym_store_options_t *options,
          sym_error_t *err)
{
    static const struct {
        const char *file;
        mode_t mode;
    } files[] = { { "", 02755 },
                  { "/" DATA_FILE, 0644 },
                  { "/" LOCK_FILE, 0664 },
                  { "/" CLOCK_FILE, 0664 } };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char file[PATH_MAX];
        struct stat st;

        (void) snprintf(file, sizeof(file), "%s%s", store->path, files[i].file);
        if (chown(file, (uid_t) -1, (gid_t) options->gid) != 0
            || stat(file, &st) != 0
            || ((st.st_mode & 07777) != files[i].mode
                && chmod(file, files[i].mode) != 0))
        {
            return sym_fail_sys(err, SYM_IO,
                                "cannot give the store's files to the group",
                                errno);
        }
    }

    return SYM_OK;
}


static int
make_meta(sym_store_t *store, MDB_txn *txn, uint64_t quota)
{
    int rc = sym_meta_put(store, txn, "version", SYM_STORE_VERSION);

    rc = rc != 0 ? rc : sym_meta_put(store, txn, "next", 1);
    rc = rc != 0 ? rc : sym_meta_put(store, txn, "evicted", 0);
    return rc != 0 ? rc : sym_meta_put(store, txn, "quota", quota);
}


/* Stores the desired number of slots in lock.mdb.  LMDB derives its number only
 * from that file's length, which cannot change while a process has the store
 * open. */
static int
note_readers(sym_store_t *store, MDB_txn *txn, unsigned readers)
{
    uint64_t noted = 0;
    int rc = sym_meta_get(store, txn, "readers", &noted);

    rc = rc == MDB_NOTFOUND ? 0 : rc;
    if (rc == 0 && readers != 0 && readers != noted) {
        noted = readers;
        rc = sym_meta_put(store, txn, "readers", noted);
    }

    store->max_readers = noted <= UINT_MAX ? (unsigned) noted : 0;
    return rc;
}


/* Opens the databases, and creates missing ones. */
static sym_status_t
prepare(sym_store_t *store, const sym_store_options_t *options, MDB_txn *txn,
        sym_error_t *err)
{
    uint64_t quota = options->quota, kept;
    int rc;

    if (sym_env_databases(store, options->create ? MDB_CREATE : 0, txn, err)
        != SYM_OK)
    {
        return err->status;
    }

    rc = sym_meta_get(store, txn, "version", &kept);
    if (rc == MDB_NOTFOUND && options->create) {
        rc = make_meta(store, txn, quota != 0 ? quota : QUOTA_DEFAULT);
    }

    rc = rc != 0 ? rc : sym_meta_get(store, txn, "quota", &store->quota);
    if (rc == 0 && quota != 0 && quota != store->quota) {
        store->quota = quota;
        rc = sym_meta_put(store, txn, "quota", quota);
    }

    rc = rc != 0 ? rc : note_readers(store, txn, options->max_readers);
    return rc == 0 ? sym_budget(store->path, store->quota,
                                SYM_LOCK_BYTES(store->max_readers),
                                &store->budget, err)
                   : sym_lmdb_fail(err, "cannot prepare the store", rc);
}


/* Drops the unfinished modules of a killed writer. */
static sym_status_t
drop_pending(sym_store_t *store, sym_error_t *err)
{
    MDB_txn *txn;
    int rc;

    if (sym_batch(store, &txn, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_pending_drop(store, txn);
    return rc == 0 ? sym_batch_commit(store, err)
                   : sym_batch_failed(store, "cannot tidy the store", rc, err);
}


/* Counts the entries of the tables; *is_whole: the tables are complete. */
static sym_status_t
count_all(sym_store_t *store, bool *is_whole, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    MDB_stat stat = { 0 };
    uint64_t extents = 0;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    store->live_pages = 0;
    store->negatives = 0;
    (void) sym_tables_count(store, snapshot->txn, &extents, is_whole, err);
    (void) mdb_stat(snapshot->txn, store->extents, &stat);
    sym_snapshot_end(snapshot);

    *is_whole = *is_whole && (uint64_t) stat.ms_entries == extents;
    return err->status;
}


static sym_status_t
count_modules(sym_store_t *store, sym_error_t *err)
{
    bool is_whole = true;

    if (count_all(store, &is_whole, err) != SYM_OK || is_whole
        || sym_store_repair(store, err) != SYM_OK)
    {
        return err->status;
    }

    return count_all(store, &is_whole, err);
}


/* Allocates disk space for LMDB's table of readers, because every reader writes
 * to it. */
static void
reserve_lock(const sym_store_t *store)
{
    char file[PATH_MAX];
    struct stat st;
    int fd;

    sym_env_file(file, store->path, LOCK_FILE);
    fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0664);
    if (fd == -1) {
        return; /* LMDB will report the error */
    }

    if (fstat(fd, &st) == 0) {
        sym_reserve_file(fd, st.st_size != 0 ? (uint64_t) st.st_size
                                             : SYM_LOCK_BYTES(READERS_DEFAULT));
    }

    /* closing the file would release LMDB's own locks, but LMDB has none yet */
    (void) close(fd);
}


/*
 * Sets the length of lock.mdb for this number of readers, if no process has the
 * store open.  LMDB itself can extend the file, but not shorten it.  A process
 * that has the store open holds a lock on the first byte of lock.mdb.
 */
static void
resize_lock(const sym_store_t *store, unsigned readers)
{
    struct flock alone = { .l_type = F_WRLCK,
                           .l_whence = SEEK_SET,
                           .l_len = 1 };
    char file[PATH_MAX];
    int fd;

    sym_env_file(file, store->path, LOCK_FILE);
    fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd == -1) {
        return;
    }

    if (fcntl(fd, F_SETLK, &alone) == 0
        && ftruncate(fd, (off_t) SYM_LOCK_BYTES(readers)) == 0)
    {
        sym_reserve_file(fd, SYM_LOCK_BYTES(readers));
    }

    (void) close(fd);
}


/*
 * Evicts down to the quota, then sets the map's final size.  If readers hold
 * the pages or the disk is full, the next ingest does it.
 */
static sym_status_t
settle(sym_store_t *store, sym_error_t *err)
{
    sym_error_t full = { 0 };
    int rc;

    if (sym_keep_quota(store, &full) != SYM_OK && full.status != SYM_FULL) {
        *err = full;
        return err->status;
    }

    /* LMDB refuses less than the file's size */
    rc = mdb_env_set_mapsize(store->env, (size_t) store->budget.file_bytes);
    return rc == 0 ? SYM_OK : sym_lmdb_fail(err, "cannot map the store", rc);
}


typedef struct {
    sym_store_t *store;
    const sym_store_options_t *options;
    sym_error_t *err;
} create_t;

static sym_status_t
open_prepared(create_t *c)
{
    MDB_txn *txn;

    reserve_lock(c->store);
    if (sym_env_open(c->store, 0, map_size(c->store), c->err) != SYM_OK
        || sym_batch(c->store, &txn, c->err) != SYM_OK
        || prepare(c->store, c->options, txn, c->err) != SYM_OK)
    {
        return c->err->status;
    }

    return sym_batch_commit(c->store, c->err);
}


static void
open_for_writing(void *arg)
{
    create_t *c = arg;
    sym_store_t *store = c->store;
    sym_error_t *err = c->err;
    MDB_envinfo info;
    int rc;

    if (open_prepared(c) != SYM_OK) {
        return;
    }

    (void) mdb_env_info(store->env, &info);
    if (store->max_readers != 0 && info.me_maxreaders != store->max_readers) {
        mdb_env_close(store->env);
        store->env = NULL;
        resize_lock(store, store->max_readers);
        if (open_prepared(c) != SYM_OK) {
            return;
        }
    }

    rc = mdb_env_set_mapsize(store->env, map_size(store));
    if (rc != 0) {
        (void) sym_lmdb_fail(err, "cannot map the store", rc);
        return;
    }

    if (sym_env_clock(store, err) == SYM_OK
        && sym_store_reader_check(store, NULL, err) == SYM_OK
        && drop_pending(store, err) == SYM_OK
        && count_modules(store, err) == SYM_OK)
    {
        (void) settle(store, err);
    }
}


sym_status_t
sym_store_open_write(const char *path, const sym_store_options_t *options,
                     sym_store_t **out, sym_error_t *err)
{
    sym_store_t *store = sym_env_new(path, err);
    create_t c = { store, options, err };
    char file[PATH_MAX];

    if (store == NULL) {
        return err->status;
    }

    /* checked before any file is created */
    if (options->quota != 0 && options->quota < SYM_QUOTA_MIN) {
        (void) sym_quota_too_small(err);
    }

    store->is_writer = true;
    store->reader_wait_ms =
        options->reader_wait_ms != 0 ? options->reader_wait_ms : READER_WAIT_MS;
    store->never_blocks = options->never_blocks;
    sym_env_file(file, path, DATA_FILE);

    if (!options->create && access(file, F_OK) != 0) {
        (void) sym_fail_sys(err, SYM_NOT_FOUND, "no store has been made there",
                            errno);
    }

    if (err->status != SYM_OK
        || (options->create && make_folder(path, err) != SYM_OK)
        || take_lock(store, options->is_hasty, err) != SYM_OK)
    {
        sym_store_close(store);
        return err->status;
    }

    if (sym_env_open_guarded(store, open_for_writing, &c, out, err) == SYM_OK
        && options->has_gid && set_group(store, options, err) != SYM_OK)
    {
        sym_store_close(store);
    }

    return err->status;
}


uint64_t
sym_store_temp_bytes(const sym_store_t *store)
{
    return store->budget.temp_bytes;
}


uint64_t
sym_store_surplus(const sym_store_t *store)
{
    char file[PATH_MAX];
    struct stat st;

    sym_env_file(file, store->path, DATA_FILE);
    return stat(file, &st) == 0
                   && (uint64_t) st.st_size > store->budget.file_bytes
               ? (uint64_t) st.st_size - store->budget.file_bytes
               : 0;
}
