/*
 * Walks over the objects of a store, and over its scopes.
 */
#include "store/tables.h"

typedef struct {
    sym_snapshot_t *s;
    sym_object_each_pt fn;
    void *ctx;
    bool is_damaged;
} each_t;

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


/* Returns the first scope of a table after *scope (NULL: the first of all);
 * MDB_NOTFOUND. */
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
        *p++ = '\1'; /* in keys of the scope itself this byte is a NUL */
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
    const MDB_dbi tables[] = { s->store->names, s->store->paths };
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


sym_status_t
sym_snapshot_each(sym_snapshot_t *s, sym_object_each_pt fn, void *ctx,
                  sym_error_t *err)
{
    each_t e = { s, fn, ctx, false };
    sym_status_t status =
        sym_table_walk(s->txn, s->store->names, show_object, &e, err);

    return status == SYM_OK && e.is_damaged
               ? sym_fail(err, SYM_DAMAGED, "a record is damaged")
               : status;
}
