#include "store/env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symcache/format.h"

#define DATABASES 3
#define READERS_DEFAULT 1024
#define QUOTA_DEFAULT ((uint64_t) 10 << 30)

/* Addresses are free: a reader that maps far more than there is need not map
 * anew when the store grows. */
#define READER_MAP ((size_t) 64 << 30)

/* Beyond the quota: pages that readers still hold, LMDB's own tree. */
#define MAP_MARGIN ((uint64_t) 64 << 20)

static uint64_t
map_size(uint64_t quota)
{
    uint64_t size = quota + quota / 4 + MAP_MARGIN;

    return (size + 0xfffff) & ~(uint64_t) 0xfffff;
}


static void
join(char out[PATH_MAX], const char *path, const char *file)
{
    (void) snprintf(out, PATH_MAX, "%s/%s", path, file);
}


/* --- opening, both sides --- */

/* A permission is missing: says for which file. */
static sym_status_t
refuse_access(const char *path, int rc, sym_error_t *err)
{
    char file[PATH_MAX];

    if (access(path, X_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "the store's folder cannot be entered by this user",
                            errno);
    }

    join(file, path, DATA_FILE);
    if (access(file, R_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "data.mdb is not readable for this user", errno);
    }

    join(file, path, LOCK_FILE);
    if (access(file, R_OK | W_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "lock.mdb is not writable for this user", errno);
    }

    return sym_fail_sys(err, SYM_IO, "the store cannot be opened", rc);
}


static sym_status_t
open_databases(sym_store_t *store, unsigned flags, MDB_txn *txn,
               sym_error_t *err)
{
    int rc = mdb_dbi_open(txn, "meta", flags, &store->meta);

    if (rc == 0) {
        rc = mdb_dbi_open(txn, "directory", flags, &store->directory);
    }

    if (rc == 0) {
        rc = mdb_dbi_open(txn, "extents", flags | MDB_INTEGERKEY,
                          &store->extents);
    }

    if (rc == MDB_NOTFOUND) {
        return sym_fail(err, SYM_NOT_FOUND, "no store has been made there");
    }

    if (rc == MDB_INCOMPATIBLE) {
        return sym_fail(err, SYM_VERSION, "data.mdb is not a symbol store");
    }

    return rc == 0 ? SYM_OK : sym_lmdb_fail(err, "cannot open the store", rc);
}


static sym_status_t
check_version(sym_store_t *store, MDB_txn *txn, sym_error_t *err)
{
    uint64_t version;
    int rc = sym_meta_get(store, txn, "version", &version);

    if (rc == MDB_NOTFOUND) {
        return sym_fail(err, SYM_NOT_FOUND, "no store has been made there");
    }

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the store's version", rc);
    }

    if (version != SYM_STORE_VERSION) {
        return sym_fail(err, SYM_VERSION,
                        "the store was made by another version of symloader");
    }

    return SYM_OK;
}


static sym_store_t *
new_store(const char *path, sym_error_t *err)
{
    sym_store_t *store = calloc(1, sizeof(*store));
    char *copy = strdup(path);

    if (store == NULL || copy == NULL || strlen(path) > PATH_MAX - 32) {
        free(store);
        free(copy);
        (void) sym_fail(err, SYM_NOMEM, "no memory for the store's handle");
        return NULL;
    }

    store->path = copy;
    store->lock_fd = -1;
    store->clock.fd = -1;
    return store;
}


static sym_status_t
open_env(sym_store_t *store, unsigned flags, size_t map, unsigned readers,
         sym_error_t *err)
{
    char file[PATH_MAX];
    struct stat st;
    int rc = mdb_env_create(&store->env);

    if (rc != 0) {
        store->env = NULL;
        return sym_lmdb_fail(err, "cannot make an LMDB handle", rc);
    }

    (void) mdb_env_set_maxdbs(store->env, DATABASES);
    (void) mdb_env_set_maxreaders(store->env, readers);
    rc = mdb_env_set_mapsize(store->env, map);
    if (rc == 0) {
        rc = mdb_env_open(store->env, store->path,
                          flags | MDB_NORDAHEAD | MDB_NOTLS, 0664);
    }

    if (rc == ENOENT) {
        return sym_fail_sys(err, SYM_NOT_FOUND, "no store has been made there",
                            rc);
    }

    if (rc == EACCES || rc == EPERM || rc == EROFS) {
        return refuse_access(store->path, rc, err);
    }

    if (rc != 0) {
        return sym_lmdb_fail(err, "the store cannot be opened", rc);
    }

    join(file, store->path, DATA_FILE);
    if (stat(file, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat data.mdb", errno);
    }

    store->dev = st.st_dev;
    store->ino = st.st_ino;
    sym_guard_store(store);
    return SYM_OK;
}


static sym_status_t
open_clock(sym_store_t *store, sym_error_t *err)
{
    char file[PATH_MAX];

    join(file, store->path, CLOCK_FILE);
    return sym_clock_open(&store->clock, file, store->is_writer, err);
}


typedef struct {
    sym_store_t *store;
    sym_error_t *err;
} open_t;

static void
open_for_reading(void *arg)
{
    open_t *o = arg;
    sym_store_t *store = o->store;
    MDB_txn *txn;
    int rc;

    if (open_env(store, MDB_RDONLY, READER_MAP, READERS_DEFAULT, o->err)
        != SYM_OK) {
        return;
    }

    rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (rc != 0) {
        (void) sym_lmdb_fail(o->err, "cannot begin to read the store", rc);
        return;
    }

    if (open_databases(store, 0, txn, o->err) == SYM_OK) {
        (void) check_version(store, txn, o->err);
    }

    /* a commit, or LMDB would close the databases again */
    rc = mdb_txn_commit(txn);
    if (rc != 0) {
        (void) sym_lmdb_fail(o->err, "cannot read the store", rc);
    }
}


sym_status_t
sym_store_open_read(const char *path, sym_store_t **out, sym_error_t *err)
{
    sym_store_t *store = new_store(path, err);
    open_t o = { store, err };
    sym_error_t fault = { 0 };

    if (store == NULL) {
        return err->status;
    }

    if (sym_store_guarded(store, open_for_reading, &o, &fault) != SYM_OK) {
        sym_store_abandon(store);
        *err = fault;
        return err->status;
    }

    if (err->status != SYM_OK || open_clock(store, err) != SYM_OK) {
        sym_store_close(store);
        return err->status;
    }

    *out = store;
    return SYM_OK;
}


static void
free_store(sym_store_t *store)
{
    sym_clock_close(&store->clock);

    if (store->lock_fd != -1) {
        (void) close(store->lock_fd); /* and so gives the lock back */
    }

    free(store->path);
    free(store);
}


static void
end_transactions(sym_store_t *store)
{
    sym_snapshot_t *s = store->all;

    while (s != NULL) {
        sym_snapshot_t *next = s->all;

        if (s->txn != NULL) {
            mdb_txn_abort(s->txn);
        }
        free(s);
        s = next;
    }

    if (store->txn != NULL) {
        mdb_txn_abort(store->txn);
    }
}


void
sym_store_close(sym_store_t *store)
{
    if (store == NULL) {
        return;
    }

    if (store->is_damaged) {
        sym_store_abandon(store);
        return;
    }

    end_transactions(store);
    if (store->env != NULL) {
        mdb_env_close(store->env);
    }
    free_store(store);
}


void
sym_store_abandon(sym_store_t *store)
{
    /*
     * The environment stays open: closing a descriptor of the lock file would
     * drop the locks that this process has on it through other handles, and
     * with them the claim that its readers are alive.  Ending the transactions
     * frees their reader slots, so no old page is held for ever.
     */
    end_transactions(store);
    free_store(store);
}


bool
sym_store_is_stale(const sym_store_t *store)
{
    char file[PATH_MAX];
    struct stat st;

    join(file, store->path, DATA_FILE);
    return stat(file, &st) != 0 || st.st_dev != store->dev
           || st.st_ino != store->ino;
}


void
sym_store_touch(sym_store_t *store, uint32_t slot, uint32_t now_s)
{
    sym_clock_mark(&store->clock, slot, now_s);
}


/* --- opening for writing --- */

static sym_status_t
take_lock(sym_store_t *store, sym_error_t *err)
{
    char file[PATH_MAX], pid[32];
    int n;

    join(file, store->path, WRITER_FILE);
    store->lock_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (store->lock_fd == -1) {
        return sym_fail_sys(err, SYM_IO,
                            "the store's folder is not writable for this user",
                            errno);
    }

    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0) {
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


/* Readers of another user must write to the lock and the clock. */
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

        (void) snprintf(file, sizeof(file), "%s%s", store->path, files[i].file);
        if (chown(file, (uid_t) -1, (gid_t) options->gid) != 0
            || chmod(file, files[i].mode) != 0)
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


/* Opens or makes the databases, drops what a killed writer left behind. */
static sym_status_t
prepare(sym_store_t *store, const sym_store_options_t *options,
        sym_error_t *err)
{
    uint64_t quota = options->quota, kept;
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot begin to write to the store", rc);
    }

    if (open_databases(store, options->create ? MDB_CREATE : 0, txn, err)
        != SYM_OK) {
        mdb_txn_abort(txn);
        return err->status;
    }

    rc = sym_meta_get(store, txn, "version", &kept);
    if (rc == MDB_NOTFOUND && options->create) {
        rc = make_meta(store, txn, quota != 0 ? quota : QUOTA_DEFAULT);
    }

    if (rc == 0 && check_version(store, txn, err) != SYM_OK) {
        mdb_txn_abort(txn);
        return err->status;
    }

    rc = rc != 0 ? rc : sym_meta_get(store, txn, "quota", &store->quota);
    if (rc == 0 && quota != 0 && quota != store->quota) {
        store->quota = quota;
        rc = sym_meta_put(store, txn, "quota", quota);
    }

    rc = rc != 0 ? rc : sym_pending_drop_all(store, txn);
    if (rc != 0) {
        mdb_txn_abort(txn);
    } else {
        rc = mdb_txn_commit(txn);
    }

    if (rc == 0) {
        rc = mdb_env_set_mapsize(store->env, map_size(store->quota));
    }

    return rc == 0 ? SYM_OK
                   : sym_lmdb_fail(err, "cannot prepare the store", rc);
}


static sym_status_t
count_module(void *ctx, const sym_module_key_t *key,
             const sym_module_record_t *record)
{
    sym_store_t *store = ctx;

    (void) key;
    store->n_modules++;
    store->live_pages += record->pages;
    if (record->slot != SYM_NO_SLOT) {
        sym_clock_claim(&store->clock, record->slot);
    }

    return SYM_OK;
}


static sym_status_t
count_modules(sym_store_t *store, sym_error_t *err)
{
    sym_snapshot_t *snapshot;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    (void) sym_snapshot_each(snapshot, count_module, store, err);
    sym_snapshot_end(snapshot);
    return err->status;
}


/* To begin with: LMDB would map just what the file has, and to drop what a
 * killed writer left takes new pages. */
static size_t
first_map_size(const char *file, uint64_t quota)
{
    struct stat st;
    uint64_t size = stat(file, &st) == 0 ? (uint64_t) st.st_size : 0;

    return map_size(size > quota ? size : quota);
}


sym_status_t
sym_store_open_write(const char *path, const sym_store_options_t *options,
                     sym_store_t **out, sym_error_t *err)
{
    sym_store_t *store = new_store(path, err);
    unsigned readers =
        options->max_readers != 0 ? options->max_readers : READERS_DEFAULT;
    char file[PATH_MAX];

    if (store == NULL) {
        return err->status;
    }

    store->is_writer = true;
    join(file, path, DATA_FILE);

    if ((options->create && make_folder(path, err) != SYM_OK)
        || (!options->create && access(file, F_OK) != 0
            && sym_fail_sys(err, SYM_NOT_FOUND, "no store has been made there",
                            errno)
                   != SYM_OK)
        || take_lock(store, err) != SYM_OK
        || open_env(store, 0, first_map_size(file, options->quota), readers,
                    err)
               != SYM_OK
        || open_clock(store, err) != SYM_OK
        || prepare(store, options, err) != SYM_OK
        || count_modules(store, err) != SYM_OK
        || sym_store_reader_check(store, NULL, err) != SYM_OK
        || (options->has_gid && set_group(store, options, err) != SYM_OK))
    {
        sym_store_close(store);
        return err->status;
    }

    *out = store;
    return SYM_OK;
}


/* --- asking --- */

static sym_status_t
count_state(void *ctx, const sym_module_key_t *key,
            const sym_module_record_t *record)
{
    sym_store_stat_t *stat = ctx;

    (void) key;
    stat->modules++;
    stat->extents += record->extents;
    stat->live_bytes += record->pages * SYM_PAGE;
    stat->ready += record->state == SYM_MODULE_READY;
    stat->absent += record->state == SYM_MODULE_ABSENT;
    stat->failed += record->state == SYM_MODULE_FAILED;
    stat->malformed += record->state == SYM_MODULE_MALFORMED;
    return SYM_OK;
}


/* One line a slot in use, after a headline. */
static int
count_reader(const char *line, void *ctx)
{
    unsigned *n = ctx;

    line += strspn(line, " ");
    *n += *line >= '0' && *line <= '9';
    return 0;
}


static sym_status_t
read_meta(sym_snapshot_t *snapshot, sym_store_stat_t *stat, sym_error_t *err)
{
    sym_store_t *store = snapshot->store;
    int rc = sym_meta_get(store, snapshot->txn, "quota", &stat->quota);

    if (rc == 0) {
        rc = sym_meta_get(store, snapshot->txn, "evicted", &stat->evicted);
    }

    return rc == 0 ? SYM_OK : sym_lmdb_fail(err, "cannot read the store", rc);
}


sym_status_t
sym_store_stat(sym_store_t *store, sym_store_stat_t *out, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    MDB_envinfo info;
    char file[PATH_MAX];
    struct stat st;

    *out = (sym_store_stat_t){ 0 };
    join(file, store->path, DATA_FILE);

    if (stat(file, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat data.mdb", errno);
    }

    (void) mdb_env_info(store->env, &info);
    (void) mdb_reader_list(store->env, count_reader, &out->readers);
    out->file_bytes = (uint64_t) st.st_size;
    out->map_bytes = info.me_mapsize;
    out->max_readers = info.me_maxreaders;
    out->last_txn = info.me_last_txnid;

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    if (read_meta(snapshot, out, err) == SYM_OK) {
        (void) sym_snapshot_each(snapshot, count_state, out, err);
    }

    sym_snapshot_end(snapshot);
    out->free_bytes = out->file_bytes > out->live_bytes
                          ? out->file_bytes - out->live_bytes
                          : 0;
    return err->status;
}


sym_status_t
sym_store_reader_check(sym_store_t *store, unsigned *dead, sym_error_t *err)
{
    int n = 0, rc = mdb_reader_check(store->env, &n);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot check the reader table", rc);
    }

    if (dead != NULL) {
        *dead = (unsigned) n;
    }

    return SYM_OK;
}
