/*
 * Walks over the entries of a table, in slices.
 */
#include "store/tables.h"

/* Moves to the first entry after the mark. */
static int
seek_behind(MDB_cursor *cursor, const sym_store_mark_t *mark, MDB_val *k,
            MDB_val *v)
{
    int rc;

    if (mark->len == 0) {
        return mdb_cursor_get(cursor, k, v, MDB_FIRST);
    }

    *k = (MDB_val){ mark->len, (void *) mark->key };
    rc = mdb_cursor_get(cursor, k, v, MDB_SET_RANGE);

    if (rc == 0 && k->mv_size == mark->len
        && memcmp(k->mv_data, mark->key, mark->len) == 0)
    {
        return mdb_cursor_get(cursor, k, v, MDB_NEXT);
    }

    return rc; /* the marked entry was removed */
}


bool
sym_mark_move(sym_store_mark_t *mark, const MDB_val *k)
{
    size_t len =
        k->mv_size < sizeof(mark->key) ? k->mv_size : sizeof(mark->key);
    size_t both = len < mark->len ? len : mark->len;
    int order = memcmp(mark->key, k->mv_data, both);

    if (order > 0 || (order == 0 && mark->len >= len)) {
        return false;
    }

    memcpy(mark->key, k->mv_data, len);
    mark->len = len;
    return true;
}


static bool
is_in_scope(const MDB_val *k, sym_str_t scope)
{
    return k->mv_size > scope.len
           && ((const char *) k->mv_data)[scope.len] == '\0'
           && sym_str_eq(sym_str(k->mv_data, scope.len), scope);
}


/* Calls fn for the entries from (k, v) on. */
static int
visit(MDB_cursor *cursor, MDB_val *k, MDB_val *v, const sym_str_t *scope,
      sym_store_mark_t *mark, uint64_t *records, sym_entry_pt fn, void *ctx,
      sym_status_t *status)
{
    int rc = 0;

    while (rc == 0 && *records != 0) {
        --*records;

        if (scope != NULL && !is_in_scope(k, *scope)) {
            return MDB_NOTFOUND;
        }

        if (!sym_mark_move(mark, k)) {
            return MDB_CORRUPTED;
        }

        *status = fn(ctx, k, v);
        if (*status != SYM_OK) {
            return 0;
        }

        rc = mdb_cursor_get(cursor, k, v, MDB_NEXT);
    }

    if (rc == 0) {
        *status = SYM_AGAIN;
    }

    return rc;
}


sym_status_t
sym_table_part(MDB_txn *txn, MDB_dbi table, const sym_str_t *scope,
               sym_store_mark_t *mark, uint64_t *records, sym_entry_pt fn,
               void *ctx, sym_error_t *err)
{
    sym_status_t status = SYM_OK;
    MDB_cursor *cursor = NULL;
    MDB_val k, v;
    int rc = mdb_cursor_open(txn, table, &cursor);

    if (scope != NULL && mark->len == 0) {
        /* no entry has this key, and all entries of the scope follow it */
        char *p = mark->key;

        (void) sym_str_append(&p, *scope);
        *p++ = '\0';
        mark->len = (size_t) (p - mark->key);
    }

    if (rc == 0) {
        rc = seek_behind(cursor, mark, &k, &v);
    }

    if (rc == 0) {
        rc = visit(cursor, &k, &v, scope, mark, records, fn, ctx, &status);
    }

    if (cursor != NULL) {
        mdb_cursor_close(cursor);
    }

    return rc == 0 || rc == MDB_NOTFOUND
               ? status
               : sym_lmdb_fail(err, "cannot read the store's records", rc);
}


sym_status_t
sym_table_walk(MDB_txn *txn, MDB_dbi table, sym_entry_pt fn, void *ctx,
               sym_error_t *err)
{
    sym_store_mark_t mark = { .len = 0 };
    uint64_t records = UINT64_MAX;

    return sym_table_part(txn, table, NULL, &mark, &records, fn, ctx, err);
}
