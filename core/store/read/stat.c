#include "store/tables.h"

#include <errno.h>
#include <sys/stat.h>

typedef struct {
    sym_store_stat_t *stat;
    sym_snapshot_t *snapshot;
} count_t;

static sym_status_t
count_object(void *ctx, const MDB_val *key, const MDB_val *val)
{
    const count_t *c = ctx;
    sym_store_stat_t *stat = c->stat;
    sym_object_record_t record;

    /* entries for other ids are not records */
    if (sym_object_check(key, val, &record) == SYM_OK) {
        stat->modules++;
        stat->ready += record.state == SYM_MODULE_READY;
        stat->malformed += record.state == SYM_MODULE_MALFORMED;
        stat->extents += record.extents;
        stat->live_bytes += record.pages * STORE_PAGE;
    }

    return SYM_OK;
}


static sym_status_t
count_path(void *ctx, const MDB_val *key, const MDB_val *val)
{
    const count_t *c = ctx;
    sym_path_record_t record;

    if (sym_path_record_check(key, val, &record) == SYM_OK) {
        c->stat->paths++;
        c->stat->absent += record.outcome == SYM_PATH_ABSENT;
        c->stat->failed += record.outcome == SYM_PATH_FAILED;
        c->stat->malformed += record.outcome == SYM_PATH_MALFORMED;
        c->stat->live_bytes += sym_path_record_bytes(key, val, &record);
    }

    return SYM_OK;
}


/* Counts the objects, then the paths, within the remaining number of
 * records. */
static sym_status_t
count_tables(count_t *c, sym_store_mark_t *mark, uint64_t records,
             sym_error_t *err)
{
    enum { OBJECTS, PATHS, END };
    const sym_store_t *store = c->snapshot->store;
    sym_status_t status = SYM_OK;

    while (status == SYM_OK && mark->table != END) {
        bool is_path = mark->table == PATHS;
        uint64_t left = records;

        status = sym_table_part(
            c->snapshot->txn, is_path ? store->paths : store->objects, NULL,
            mark, &left, is_path ? count_path : count_object, c, err);
        if (status == SYM_OK) {
            mark->table++;
            mark->len = 0;
        }
    }

    return status;
}


/* After a headline, one line for each used slot: pid, thread, and the
 * transaction being read, or "-". */
static int
count_reader(const char *line, void *ctx)
{
    sym_store_stat_t *stat = ctx;

    line += strspn(line, " ");
    if (*line >= '0' && *line <= '9') {
        stat->readers++;
        stat->reading += strchr(line, '-') == NULL;
    }

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


static sym_status_t
read_shares(const sym_store_t *store, sym_store_stat_t *stat, sym_error_t *err)
{
    sym_budget_t budget;
    sym_status_t rc = sym_budget(store->path, stat->quota, 0, &budget, err);

    if (rc == SYM_OK) {
        stat->temp_limit = budget.temp_bytes;
        stat->file_limit = budget.file_bytes;
        stat->live_limit = budget.live_pages * STORE_PAGE;
    }

    return rc;
}


/* Fills the numbers that come from the file and from LMDB. */
static sym_status_t
read_file(sym_store_t *store, sym_store_stat_t *out, sym_error_t *err)
{
    MDB_envinfo info;
    char file[PATH_MAX];
    struct stat st;

    sym_env_file(file, store->path, DATA_FILE);

    if (stat(file, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat data.mdb", errno);
    }

    (void) mdb_env_info(store->env, &info);
    out->file_bytes = (uint64_t) st.st_size;
    out->map_bytes = info.me_mapsize;
    out->max_readers = info.me_maxreaders;
    out->last_txn = info.me_last_txnid;
    out->free_bytes = out->file_bytes > out->live_bytes
                          ? out->file_bytes - out->live_bytes
                          : 0;
    return SYM_OK;
}


sym_status_t
sym_store_stat_part(sym_store_t *store, sym_store_mark_t *mark,
                    uint64_t records, sym_store_stat_t *out, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_status_t status;
    count_t c = { .stat = out };

    /* lists the readers before its own snapshot begins, because a snapshot
     * keeps its slot when it ends */
    if (mark->len == 0 && mark->table == 0) {
        *out = (sym_store_stat_t){ 0 };
        (void) mdb_reader_list(store->env, count_reader, out);
    }

    if (sym_snapshot_begin(store, &snapshot, err) != SYM_OK) {
        return err->status;
    }

    c.snapshot = snapshot;
    status = count_tables(&c, mark, records, err);
    if (status == SYM_OK) {
        status = read_meta(snapshot, out, err);
    }

    sym_snapshot_end(snapshot);

    if (status == SYM_OK) {
        status = read_shares(store, out, err);
    }

    return status == SYM_OK ? read_file(store, out, err) : status;
}


sym_status_t
sym_store_stat(sym_store_t *store, sym_store_stat_t *out, sym_error_t *err)
{
    sym_store_mark_t mark = { .len = 0 };

    return sym_store_stat_part(store, &mark, UINT64_MAX, out, err);
}
