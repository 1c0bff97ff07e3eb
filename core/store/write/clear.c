/*
 * Removes objects and paths, by a path or a reference.
 */
#include "store/write/tables.h"

#include <errno.h>

/* --- collecting --- */

typedef struct {
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    sym_victims_t victims;
    sym_kind_t kind; /* SYM_KIND_ALL: all */
    sym_str_t path;  /* path of the artifacts' file, as in keys; "": any */
    const sym_store_id_t *id; /* of the artifacts */
    bool has_no_room;         /* out of memory */
} collect_t;

static bool
has_victim(const sym_victims_t *v, const MDB_val *key)
{
    for (size_t i = 0; i < v->n; i++) {
        if (v->list[i].key_len == key->mv_size
            && memcmp(v->list[i].key, key->mv_data, key->mv_size) == 0)
        {
            return true;
        }
    }

    return false;
}


static sym_status_t
add(collect_t *c, const sym_victim_t *victim, const MDB_val *key)
{
    if (sym_victims_add(&c->victims, victim, key)) {
        return SYM_OK;
    }

    c->has_no_room = true;
    return SYM_NOMEM;
}


static sym_status_t
add_object(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    collect_t *c = ctx;
    char buf[OBJECT_KEY_MAX];
    MDB_val key = {
        sym_object_key_write(scope, &record->object, record->kind, 0, buf), buf
    };
    sym_victim_t victim = sym_victim_of_object(record);

    /* several ids may lead to the same object */
    return (c->kind == SYM_KIND_ALL || c->kind == record->kind)
                   && !has_victim(&c->victims, &key)
               ? add(c, &victim, &key)
               : SYM_OK;
}


/* Removes the collected records; no snapshot may be open. */
static sym_status_t
remove_all(collect_t *c, uint64_t *removed, sym_error_t *err)
{
    if (c->has_no_room) {
        (void) sym_fail(err, SYM_NOMEM, "no memory to choose what to remove");
    }

    if (err->status == SYM_OK) {
        (void) sym_victims_remove(c->store, &c->victims, false, removed, err);
    }

    sym_victims_free(&c->victims);
    return err->status;
}


/* Commits first, so other artifacts in the batch are not lost. */
static sym_status_t
begin(collect_t *c, sym_error_t *err)
{
    return sym_batch_commit(c->store, err) == SYM_OK
               ? sym_snapshot_begin(c->store, &c->snapshot, err)
               : err->status;
}


/* rc: result of reading the paths. */
static sym_status_t
end(collect_t *c, int rc, uint64_t *removed, sym_error_t *err)
{
    sym_snapshot_end(c->snapshot);
    if (rc != 0 && !c->has_no_room) {
        (void) sym_lmdb_fail(err, "cannot read the paths", rc);
    }

    return remove_all(c, removed, err);
}


/* --- a changed file --- */

/* Whether the artifact was made from the file; without a path: whether the file
 * is one of its companions.  Only symcaches have any; a module that was loaded by
 * hand cannot be fetched again. */
static bool
is_made_of(const collect_t *c, const sym_object_record_t *record)
{
    return record->has_path
           && (c->path.len != 0 ? sym_str_eq(record->path, c->path)
                                : record->kind == SYM_KIND_SYMCACHE);
}


/* Collects the artifacts with this id that were made from the file. */
static int
add_artifacts(collect_t *c, sym_str_t scope, const sym_store_id_t *id)
{
    char prefix[OBJECT_KEY_MAX];
    sym_store_mark_t mark = { .len = 0 };
    size_t len = sym_object_file_prefix(scope, id, prefix);
    MDB_val k = { len, prefix }, v;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(c->snapshot->txn, c->store->objects, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    while (rc == 0 && k.mv_size > len && memcmp(k.mv_data, prefix, len) == 0) {
        sym_object_record_t record;

        if (!sym_mark_move(&mark, &k)) {
            rc = MDB_CORRUPTED;
            break;
        }

        if (v.mv_size != 0 && sym_object_check(&k, &v, &record) == SYM_OK
            && is_made_of(c, &record)
            && add_object(c, scope, &record) != SYM_OK)
        {
            rc = ENOMEM;
            break;
        }
        rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


static sym_status_t
add_users(void *ctx, sym_str_t scope)
{
    collect_t *c = ctx;

    return add_artifacts(c, scope, c->id) == 0 ? SYM_OK : SYM_NOMEM;
}


/* Collects the modules, of all sources, that were made with this companion or
 * without it. */
static int
add_all_users(collect_t *c, const sym_path_record_t *record)
{
    sym_error_t err = { 0 };

    c->path = SYM_STR("");
    for (unsigned i = 0; i < record->n_ids; i++) {
        c->id = &record->ids[i];
        if (sym_snapshot_scopes(c->snapshot, add_users, c, &err) != SYM_OK) {
            return ENOMEM;
        }
    }

    return 0;
}


/* Collects the artifacts, then the record: removing the last artifact may
   already remove the record. */
static int
add_file(collect_t *c, const MDB_val *key, const MDB_val *val)
{
    sym_str_t scope = sym_scope_in(key);
    sym_path_record_t record;
    sym_victim_t victim;
    int rc = 0;

    if (sym_path_record_check(key, val, &record) != SYM_OK) {
        return 0;
    }

    c->path = sym_str((const char *) key->mv_data + scope.len + 1,
                      key->mv_size - scope.len - 1);
    for (unsigned i = 0; rc == 0 && record.artifacts != 0 && i < record.n_ids;
         i++) {
        rc = add_artifacts(c, scope, &record.ids[i]);
    }

    if (rc == 0 && sym_path_is_companion(&record)) {
        rc = add_all_users(c, &record);
    }

    victim = sym_victim_of_path(key, val, &record);
    return rc != 0 ? rc : add(c, &victim, key) == SYM_OK ? 0 : ENOMEM;
}


/* Collects all records of a path: the one without a checksum, and those with
 * one. */
static int
add_path(collect_t *c, MDB_cursor *cursor, const sym_path_key_t *path)
{
    char buf[PATH_KEY_MAX];
    sym_store_mark_t mark = { .len = 0 };
    size_t len = sym_path_record_key(path, buf);
    MDB_val k = { len, buf }, v;
    int rc;

    if (len == 0) {
        return 0;
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    while (rc == 0 && k.mv_size >= len && memcmp(k.mv_data, buf, len) == 0) {
        sym_path_shown_t shown;

        if (!sym_mark_move(&mark, &k)) {
            return MDB_CORRUPTED;
        }

        /* other keys with this prefix have longer paths */
        if (k.mv_size != len
            && (!sym_path_record_key_read(&k, &shown) || shown.checksum.len == 0
                || k.mv_size != len + 1 + shown.checksum.len))
        {
            break;
        }

        rc = add_file(c, &k, &v);
        rc = rc != 0 ? rc : mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


static int
add_suffixes(collect_t *c, sym_str_t scope, sym_str_t path)
{
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(c->snapshot->txn, c->store->paths, &cursor);

    if (rc != 0) {
        return rc;
    }

    do {
        sym_path_key_t key = { .scope = scope, .path = path };

        rc = add_path(c, cursor, &key);
    } while (rc == 0 && sym_path_next_part(&path));

    mdb_cursor_close(cursor);
    return rc;
}


sym_status_t
sym_store_clear_path(sym_store_t *store, sym_str_t scope, sym_str_t path,
                     uint64_t *cleared, sym_error_t *err)
{
    collect_t c = { .store = store };
    int rc;

    *cleared = 0;
    if (scope.len > SYM_SCOPE_MAX) {
        return SYM_OK;
    }

    if (begin(&c, err) != SYM_OK) {
        return err->status;
    }

    rc = add_suffixes(&c, scope, path);
    return end(&c, rc, cleared, err);
}


/* --- stale records --- */

static int
add_stale(collect_t *c, sym_path_is_stale_pt is_stale, void *ctx)
{
    sym_store_mark_t mark = { .len = 0 };
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(c->snapshot->txn, c->store->paths, &cursor);

    if (rc != 0) {
        return rc;
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
    while (rc == 0) {
        sym_path_record_t record;

        if (!sym_mark_move(&mark, &k)) {
            rc = MDB_CORRUPTED;
            break;
        }

        if (sym_path_record_check(&k, &v, &record) == SYM_OK
            && is_stale(ctx, &record)) {
            rc = add_file(c, &k, &v);
        }

        rc = rc != 0 ? rc : mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


sym_status_t
sym_store_clear_stale(sym_store_t *store, sym_path_is_stale_pt is_stale,
                      void *ctx, uint64_t *cleared, sym_error_t *err)
{
    collect_t c = { .store = store };
    int rc;

    *cleared = 0;
    if (begin(&c, err) != SYM_OK) {
        return err->status;
    }

    rc = add_stale(&c, is_stale, ctx);
    return end(&c, rc, cleared, err);
}


/* --- a reference --- */

typedef struct {
    collect_t *collect;
    const sym_object_ref_t *ref;
    sym_error_t *err;
} match_t;

static sym_status_t
match_scope(void *ctx, sym_str_t scope)
{
    const match_t *m = ctx;

    return sym_snapshot_matches(m->collect->snapshot, scope, m->ref, add_object,
                                m->collect, m->err);
}


sym_status_t
sym_store_remove_objects(sym_store_t *store, const sym_str_t *scope,
                         const sym_object_ref_t *ref, sym_kind_t kind,
                         sym_error_t *err)
{
    collect_t c = { .store = store, .kind = kind };
    match_t m = { &c, ref, err };
    uint64_t removed = 0;

    if (begin(&c, err) != SYM_OK) {
        return err->status;
    }

    (void) (scope != NULL
                ? match_scope(&m, *scope)
                : sym_snapshot_scopes(c.snapshot, match_scope, &m, err));
    sym_snapshot_end(c.snapshot);
    (void) remove_all(&c, &removed, err);
    return err->status == SYM_OK && removed == 0 ? SYM_NOT_FOUND : err->status;
}


typedef struct {
    collect_t collect;
    sym_path_match_t match;
} forget_t;

static sym_status_t
add_negative(void *ctx, const MDB_val *key, const MDB_val *val)
{
    forget_t *f = ctx;
    sym_path_record_t record;
    sym_path_shown_t shown;
    sym_victim_t victim;

    if (sym_path_record_check(key, val, &record) != SYM_OK
        || record.artifacts != 0 || !sym_path_record_key_read(key, &shown)
        || !sym_path_matches(&f->match, shown.path, &record))
    {
        return SYM_OK;
    }

    victim = sym_victim_of_path(key, val, &record);
    return add(&f->collect, &victim, key);
}


sym_status_t
sym_store_forget_part(sym_store_t *store, const sym_str_t *scope,
                      const sym_object_ref_t *ref, sym_store_mark_t *mark,
                      uint64_t records, uint64_t *removed, sym_error_t *err)
{
    forget_t f = { .collect = { .store = store } };
    uint64_t n = 0;
    sym_status_t rc;

    sym_path_match_init(&f.match, ref);
    if (begin(&f.collect, err) != SYM_OK) {
        return err->status;
    }

    rc = sym_table_part(f.collect.snapshot->txn, store->paths, scope, mark,
                        &records, add_negative, &f, err);
    sym_snapshot_end(f.collect.snapshot);
    (void) remove_all(&f.collect, &n, err);
    *removed += n;
    return err->status != SYM_OK ? err->status : rc;
}
