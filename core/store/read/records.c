/*
 * Walks over all records of a store: of its objects, then of absences.
 */
#include "store/tables.h"

typedef struct {
    sym_store_t *store;
    sym_record_pt fn;
    void *ctx;
} directory_t;

static sym_status_t
show_negative(void *ctx, const MDB_val *k, const MDB_val *v)
{
    const directory_t *w = ctx;
    sym_object_record_t record;
    sym_status_t status = sym_record_check(k, v, &record);

    record.used_at = status == SYM_DAMAGED
                         ? 0
                         : sym_clock_read(&w->store->clock, record.slot);
    return w->fn(w->ctx, k, status, &record);
}


sym_status_t
sym_directory_part(sym_store_t *store, MDB_txn *txn, sym_store_mark_t *mark,
                   uint64_t records, sym_record_pt fn, void *ctx,
                   sym_error_t *err)
{
    directory_t w = { store, fn, ctx };

    return sym_table_part(txn, store->directory, NULL, mark, &records,
                          show_negative, &w, err);
}


sym_status_t
sym_directory_walk(sym_store_t *store, MDB_txn *txn, sym_record_pt fn,
                   void *ctx, sym_error_t *err)
{
    sym_store_mark_t mark = { .len = 0 };

    return sym_directory_part(store, txn, &mark, UINT64_MAX, fn, ctx, err);
}


/* --- records of one source --- */

typedef struct {
    sym_snapshot_t *s;
    sym_object_each_pt fn;
    void *ctx;
    bool is_damaged;
} each_t;

static sym_status_t
show_absence(void *ctx, const MDB_val *k, const MDB_val *v)
{
    each_t *e = ctx;
    sym_object_record_t record;
    sym_status_t status = sym_record_check(k, v, &record);

    /* SYM_NOT_FOUND: written by a newer program */
    e->is_damaged = e->is_damaged || status == SYM_DAMAGED;
    if (status != SYM_OK) {
        return SYM_OK;
    }

    record.used_at = sym_clock_read(&e->s->store->clock, record.slot);
    return e->fn(e->ctx, sym_str(k->mv_data, strnlen(k->mv_data, k->mv_size)),
                 &record);
}


static sym_status_t
show_object(void *ctx, const MDB_val *k, const MDB_val *v)
{
    each_t *e = ctx;
    char buf[OBJECT_KEY_MAX];
    MDB_val key = { sym_object_key_of_name(k, buf), buf }, val;
    sym_object_record_t record;
    sym_status_t status = SYM_DAMAGED;

    (void) v;
    if (key.mv_size != 0
        && mdb_get(e->s->txn, e->s->store->objects, &key, &val) == 0)
    {
        status = sym_object_check(&key, &val, &record);
    }

    e->is_damaged = e->is_damaged || status == SYM_DAMAGED;
    if (status != SYM_OK) {
        return SYM_OK;
    }

    record.used_at = sym_clock_read(&e->s->store->clock, record.slot);
    return e->fn(e->ctx, sym_str(k->mv_data, strnlen(k->mv_data, k->mv_size)),
                 &record);
}


sym_status_t
sym_snapshot_objects(sym_snapshot_t *s, const sym_str_t *scope,
                     sym_store_mark_t *mark, uint64_t *records,
                     sym_object_each_pt fn, void *ctx, sym_error_t *err)
{
    each_t e = { s, fn, ctx, false };

    return sym_table_part(s->txn, s->store->names, scope, mark, records,
                          show_object, &e, err);
}


static sym_status_t
walk_part(each_t *e, sym_str_t scope, sym_store_mark_t *mark, uint64_t *records,
          sym_error_t *err)
{
    enum { OBJECTS, ABSENCES, END };
    const sym_store_t *store = e->s->store;
    sym_status_t status = SYM_OK;

    while (status == SYM_OK && mark->table != END) {
        bool is_object = mark->table == OBJECTS;

        status = sym_table_part(
            e->s->txn, is_object ? store->names : store->directory, &scope,
            mark, records, is_object ? show_object : show_absence, e, err);
        if (status == SYM_OK) {
            mark->table++;
            mark->len = 0;
        }
    }

    return status;
}


sym_status_t
sym_snapshot_part(sym_snapshot_t *s, sym_str_t scope, sym_store_mark_t *mark,
                  uint64_t *records, sym_object_each_pt fn, void *ctx,
                  sym_error_t *err)
{
    each_t e = { s, fn, ctx, false };

    return walk_part(&e, scope, mark, records, err);
}


/* --- all sources --- */

/* The first scope of a table after *scope (NULL: of all); MDB_NOTFOUND. */
static int
next_scope(MDB_txn *txn, MDB_dbi table, const sym_str_t *scope, sym_str_t *next)
{
    char buf[SYM_SCOPE_MAX + 1];
    char *p = buf;
    MDB_val k = { 0, buf }, v;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, table, &cursor);

    if (rc != 0) {
        return rc;
    }

    if (scope != NULL) {
        (void) sym_str_append(&p, *scope);
        *p++ = '\1'; /* in the scope's own keys this byte is a NUL */
        k.mv_size = (size_t) (p - buf);
    }

    rc = mdb_cursor_get(cursor, &k, &v,
                        scope != NULL ? MDB_SET_RANGE : MDB_FIRST);
    mdb_cursor_close(cursor);
    if (rc != 0) {
        return rc;
    }

    *next = sym_str(k.mv_data, strnlen(k.mv_data, k.mv_size));

    /* without this check a damaged tree could lead us in circles */
    return next->len <= SYM_SCOPE_MAX && next->len < k.mv_size
                   && (scope == NULL || sym_str_cmp(*scope, *next) < 0)
               ? 0
               : MDB_CORRUPTED;
}


sym_status_t
sym_snapshot_scopes(sym_snapshot_t *s, sym_scope_each_pt fn, void *ctx,
                    sym_error_t *err)
{
    const MDB_dbi tables[] = { s->store->names, s->store->directory,
                               s->store->paths };
    sym_status_t status = SYM_OK;
    sym_str_t last;
    bool is_first = true;

    while (status == SYM_OK) {
        sym_str_t next = { 0 };

        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
            sym_str_t one;
            int rc =
                next_scope(s->txn, tables[i], is_first ? NULL : &last, &one);

            if (rc != 0 && rc != MDB_NOTFOUND) {
                return sym_lmdb_fail(err, "cannot read the store's records",
                                     rc);
            }
            if (rc == 0 && (next.data == NULL || sym_str_cmp(one, next) < 0)) {
                next = one;
            }
        }

        if (next.data == NULL) {
            break;
        }

        last = next;
        is_first = false;
        status = fn(ctx, next);
    }

    return status;
}


typedef struct {
    each_t each;
    sym_error_t *err;
} all_t;

static sym_status_t
walk_scope(void *ctx, sym_str_t scope)
{
    all_t *all = ctx;
    sym_store_mark_t mark = { .len = 0 };
    uint64_t records = UINT64_MAX;

    return walk_part(&all->each, scope, &mark, &records, all->err);
}


sym_status_t
sym_snapshot_each(sym_snapshot_t *s, sym_object_each_pt fn, void *ctx,
                  sym_error_t *err)
{
    all_t all = { { s, fn, ctx, false }, err };
    sym_status_t status = sym_snapshot_scopes(s, walk_scope, &all, err);

    return status == SYM_OK && all.each.is_damaged
               ? sym_fail(err, SYM_DAMAGED, "a record is damaged")
               : status;
}
