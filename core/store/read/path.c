/*
 * Records of paths in a snapshot.
 */
#include "store/tables.h"

/* An unreadable record leaves the place open. */
static void
read_value(const MDB_val *val, sym_path_record_t *record)
{
    if (sym_path_record_read(val, record) != SYM_OK) {
        record->outcome = 0;
    }
}


sym_status_t
sym_snapshot_path(sym_snapshot_t *s, const sym_path_key_t *key,
                  sym_path_record_t *record, sym_error_t *err)
{
    char buf[PATH_KEY_MAX];
    MDB_val k = { sym_path_record_key(key, buf), buf }, v;
    int rc;

    if (k.mv_size == 0) {
        return SYM_NOT_FOUND;
    }

    rc = mdb_get(s->txn, s->store->paths, &k, &v);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return sym_lmdb_fail(err, "cannot read the paths", rc);
    }

    return rc == 0 ? sym_path_record_read(&v, record) : SYM_NOT_FOUND;
}


bool
sym_object_file(sym_snapshot_t *s, sym_str_t scope,
                const sym_object_record_t *record, sym_path_record_t *file)
{
    char buf[PATH_KEY_MAX];
    MDB_val k = { sym_object_path_key(scope, record, buf), buf }, v;

    return k.mv_size != 0 && mdb_get(s->txn, s->store->paths, &k, &v) == 0
           && sym_path_record_read(&v, file) == SYM_OK;
}


sym_str_t
sym_snapshot_source(sym_snapshot_t *s, sym_str_t scope,
                    const sym_object_record_t *record)
{
    sym_path_record_t file;

    return sym_object_file(s, scope, record, &file) && file.url.len != 0
               ? file.url
               : record->path;
}


bool
sym_object_is_from(const sym_object_record_t *record,
                   const sym_path_key_t *path)
{
    char buf[PATH_KEY_MAX];
    size_t len = sym_path_record_key(path, buf);

    return record->has_path && len != 0
           && sym_str_eq(record->path, sym_str(buf + path->scope.len + 1,
                                               len - path->scope.len - 1));
}


sym_status_t
sym_snapshot_settle(sym_snapshot_t *s, const sym_places_t *places,
                    const sym_asking_t *asking, sym_settled_t *settled,
                    sym_error_t *err)
{
    sym_settling_t settling = { .n = 0 };
    sym_path_record_t record;
    MDB_cursor *cursor;
    int rc = sym_snapshot_paths_cursor(s, &cursor);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the paths", rc);
    }

    /* uses one cursor, because an object's places are mostly on one page */
    for (unsigned i = 0; i < places->n && rc == 0; i++) {
        sym_path_key_t key = { places->scope, places->paths[i],
                               places->checksum };
        char buf[PATH_KEY_MAX];
        MDB_val k = { sym_path_record_key(&key, buf), buf }, v;

        record.outcome = 0;
        if (k.mv_size != 0) {
            rc = mdb_cursor_get(cursor, &k, &v, MDB_SET);
            if (rc == 0) {
                read_value(&v, &record);
            }
            rc = rc == MDB_NOTFOUND ? 0 : rc;
        }
        sym_settling_add(&settling, &record, asking);
    }

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the paths", rc);
    }

    *settled = sym_settling_end(&settling);
    return SYM_OK;
}


typedef struct {
    sym_path_each_pt fn;
    void *ctx;
    const sym_path_match_t *match; /* NULL: all */
} each_t;

static sym_status_t
show(void *ctx, const MDB_val *k, const MDB_val *v)
{
    const each_t *e = ctx;
    sym_path_record_t record;
    sym_path_shown_t shown;

    return sym_path_record_check(k, v, &record) == SYM_OK
                   && sym_path_record_key_read(k, &shown)
                   && (e->match == NULL
                       || sym_path_matches(e->match, shown.path, &record))
               ? e->fn(e->ctx, &shown, &record)
               : SYM_OK;
}


sym_status_t
sym_snapshot_paths(sym_snapshot_t *s, sym_str_t scope, sym_store_mark_t *mark,
                   uint64_t *records, sym_path_each_pt fn, void *ctx,
                   sym_error_t *err)
{
    each_t e = { fn, ctx, NULL };

    return sym_table_part(s->txn, s->store->paths, &scope, mark, records, show,
                          &e, err);
}


sym_status_t
sym_snapshot_paths_of(sym_snapshot_t *s, sym_str_t scope,
                      const sym_object_ref_t *ref, sym_path_each_pt fn,
                      void *ctx, sym_error_t *err)
{
    sym_store_mark_t mark = { .len = 0 };
    uint64_t records = UINT64_MAX;
    sym_path_match_t match;
    each_t e = { fn, ctx, &match };

    sym_path_match_init(&match, ref);
    return sym_table_part(s->txn, s->store->paths, &scope, &mark, &records,
                          show, &e, err);
}
