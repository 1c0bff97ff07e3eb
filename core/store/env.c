#include "store/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASES 7

/* Address space costs nothing.  A reader maps far more than the store's size,
 * so it need not map again when the store grows. */
#define READER_MAP                                                             \
    ((size_t) (sizeof(size_t) > 4 ? (uint64_t) 64 << 30 : (uint64_t) 1 << 30))

void
sym_env_file(char out[PATH_MAX], const char *path, const char *file)
{
    (void) snprintf(out, PATH_MAX, "%s/%s", path, file);
}


/* --- opening, both sides --- */

/* Reports the file that this user may not access. */
static sym_status_t
refuse_access(const char *path, int rc, sym_error_t *err)
{
    char file[PATH_MAX];

    if (access(path, X_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "the store's folder cannot be entered by this user",
                            errno);
    }

    sym_env_file(file, path, DATA_FILE);
    if (access(file, R_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "data.mdb is not readable for this user", errno);
    }

    sym_env_file(file, path, LOCK_FILE);
    if (access(file, R_OK | W_OK) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "lock.mdb is not writable for this user", errno);
    }

    return sym_fail_sys(err, SYM_IO, "the store cannot be opened", rc);
}


/* MDB_NOTFOUND: the store has no version yet. */
static int
read_version(sym_store_t *store, MDB_txn *txn, bool *is_ours)
{
    uint64_t version;
    int rc = sym_meta_get(store, txn, "version", &version);

    *is_ours = rc == 0 && version == SYM_STORE_VERSION;
    return rc;
}


static int
open_tables(sym_store_t *store, unsigned flags, MDB_txn *txn)
{
    const struct {
        const char *name;
        MDB_dbi *table;
        unsigned flags;
    } tables[] = { { "objects", &store->objects, 0 },
                   { "names", &store->names, 0 },
                   { "paths", &store->paths, 0 },
                   { "extents", &store->extents, MDB_INTEGERKEY } };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
        rc = mdb_dbi_open(txn, tables[i].name, flags | tables[i].flags,
                          tables[i].table);
    }

    return rc;
}


sym_status_t
sym_env_databases(sym_store_t *store, unsigned flags, MDB_txn *txn,
                  sym_error_t *err)
{
    bool is_ours = false;
    int rc = mdb_dbi_open(txn, "meta", flags, &store->meta);

    /* other versions have other tables */
    if (rc == 0) {
        rc = read_version(store, txn, &is_ours);
        if (rc == 0 && !is_ours) {
            return sym_fail(
                err, SYM_VERSION,
                "the store was made by another version of symloader");
        }
        if (rc == MDB_NOTFOUND && (flags & MDB_CREATE) != 0) {
            rc = 0;
        }
    }

    if (rc == 0) {
        rc = open_tables(store, flags, txn);
    }

    if (rc == MDB_NOTFOUND) {
        return sym_fail(err, SYM_NOT_FOUND, "no store has been made there");
    }

    if (rc == MDB_INCOMPATIBLE) {
        return sym_fail(err, SYM_VERSION, "data.mdb is not a symbol store");
    }

    return rc == 0 ? SYM_OK : sym_lmdb_fail(err, "cannot open the store", rc);
}


sym_store_t *
sym_env_new(const char *path, sym_error_t *err)
{
    sym_store_t *store = calloc(1, sizeof(*store));
    char *copy = strdup(path);

    if (store == NULL || copy == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for the store's handle");
    } else if (strlen(path) > PATH_MAX - 32) {
        (void) sym_fail(err, SYM_LIMIT, "the store's path is too long");
    }

    if (err->status != SYM_OK) {
        free(store);
        free(copy);
        return NULL;
    }

    store->path = copy;
    store->lock_fd = -1;
    store->clock.fd = -1;
    return store;
}


/* Number of reader slots in lock.mdb.  Only a new file gets its length here.
 * If more slots are requested, LMDB extends the file unless another process has
 * the store open. */
static unsigned
count_places(const char *path)
{
    char file[PATH_MAX];
    struct stat st;

    sym_env_file(file, path, LOCK_FILE);
    return stat(file, &st) == 0 && (uint64_t) st.st_size >= SYM_LOCK_BYTES(1)
                   && (uint64_t) st.st_size <= SYM_LOCK_BYTES(UINT_MAX)
               ? (unsigned) (((uint64_t) st.st_size - SYM_LOCK_BYTES(0)) / 64)
               : READERS_DEFAULT;
}


sym_status_t
sym_env_open(sym_store_t *store, unsigned flags, size_t map, sym_error_t *err)
{
    char file[PATH_MAX];
    struct stat st;
    int rc = mdb_env_create(&store->env);

    if (rc != 0) {
        store->env = NULL;
        return sym_lmdb_fail(err, "cannot make an LMDB handle", rc);
    }

    (void) mdb_env_set_maxdbs(store->env, DATABASES);
    (void) mdb_env_set_maxreaders(store->env, count_places(store->path));
    rc = mdb_env_set_mapsize(store->env, map);
    if (rc == 0) {
        /* used by a reader on a read-only file system: there LMDB uses no
         * locks */
        rc = mdb_env_open(store->env, store->path,
                          flags | MDB_NORDAHEAD | MDB_NOTLS, 0664);
    }

    if ((rc == ENOMEM || rc == EINVAL) && map != 0) {
        /* not enough address space (ulimit -v; valgrind: EINVAL), so map only
         * as much as the writer */
        mdb_env_close(store->env);
        store->env = NULL;
        return sym_env_open(store, flags, 0, err);
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

    sym_env_file(file, store->path, DATA_FILE);
    if (stat(file, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat data.mdb", errno);
    }

    store->dev = st.st_dev;
    store->ino = st.st_ino;
    sym_guard_store(store);
    return SYM_OK;
}


sym_status_t
sym_env_clock(sym_store_t *store, sym_error_t *err)
{
    char file[PATH_MAX];

    sym_env_file(file, store->path, CLOCK_FILE);
    return sym_clock_open(&store->clock, file, store->is_writer, err);
}


sym_status_t
sym_env_open_guarded(sym_store_t *store, void (*fn)(void *), void *arg,
                     sym_store_t **out, sym_error_t *err)
{
    sym_error_t fault = { 0 };

    if (sym_store_guarded(store, fn, arg, &fault) != SYM_OK) {
        *err = fault;
    }

    if (err->status != SYM_OK) {
        sym_store_close(store);
        return err->status;
    }

    *out = store;
    return SYM_OK;
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

    if (sym_env_open(store, MDB_RDONLY, READER_MAP, o->err) != SYM_OK) {
        return;
    }

    rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (rc != 0) {
        (void) sym_lmdb_fail(o->err, "cannot begin to read the store", rc);
        return;
    }

    (void) sym_env_databases(store, 0, txn, o->err);

    /* without a commit, LMDB would close the databases again */
    rc = mdb_txn_commit(txn);
    if (rc != 0) {
        (void) sym_lmdb_fail(o->err, "cannot read the store", rc);
    }

    if (o->err->status == SYM_OK) {
        (void) sym_env_clock(store, o->err);
    }
}


sym_status_t
sym_store_open_read(const char *path, sym_store_t **out, sym_error_t *err)
{
    sym_store_t *store = sym_env_new(path, err);
    open_t o = { store, err };

    if (store == NULL) {
        return err->status;
    }

    return sym_env_open_guarded(store, open_for_reading, &o, out, err);
}


static void
end_snapshots(sym_store_t *store)
{
    sym_snapshot_t *s = store->all;

    while (s != NULL) {
        sym_snapshot_t *next = s->all;

        if (s->objects != NULL) {
            mdb_cursor_close(s->objects);
        }
        if (s->paths != NULL) {
            mdb_cursor_close(s->paths);
        }
        if (s->txn != NULL) {
            mdb_txn_abort(s->txn);
        }
        free(s);
        s = next;
    }
}


void
sym_store_close(sym_store_t *store)
{
    if (store == NULL) {
        return;
    }

    end_snapshots(store);

    if (store->is_damaged && store->txn != NULL) {
        /*
         * The fault happened while LMDB was writing.  LMDB's list of cursors
         * may contain a cursor in a stack frame that no longer exists, and
         * ending the transaction would free it.  So the transaction stays open,
         * and LMDB's lock and ours stay taken, until the process ends.  Another
         * writer is refused until then.
         */
        store->lock_fd = -1;
    } else {
        if (store->txn != NULL) {
            mdb_txn_abort(store->txn);
        }

        if (store->env != NULL) {
            mdb_env_close(store->env);
        }
    }

    sym_clock_close(&store->clock);
    if (store->lock_fd != -1) {
        (void) close(store->lock_fd); /* this also releases the lock */
    }

    free(store->sound);
    free(store->path);
    free(store);
}


void
sym_store_abandon(sym_store_t *store)
{
    /*
     * A fault while reading leaves no inconsistent state: a read transaction
     * changes only its own memory.  So everything is released except a writer's
     * unfinished work, and a worker that repeatedly reads a bad page has no
     * leak.
     */
    store->is_damaged = true;
    sym_store_close(store);
}


bool
sym_store_is_stale(const sym_store_t *store)
{
    char file[PATH_MAX];
    struct stat st;

    sym_env_file(file, store->path, DATA_FILE);
    return stat(file, &st) != 0 || st.st_dev != store->dev
           || st.st_ino != store->ino;
}


void
sym_store_touch(sym_store_t *store, uint32_t slot, uint32_t now_s)
{
    sym_clock_mark(&store->clock, slot, now_s);
}
