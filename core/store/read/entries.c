/*
 * Entries of the index of ids, in a snapshot.
 */
#include "store/index.h"

int
sym_entries_begin(sym_snapshot_t *s, sym_str_t scope, sym_str_t id,
                  sym_entries_t *e)
{
    e->scope = scope;
    e->id = id;
    e->prefix_len = sym_index_prefix(scope, id, e->prefix);
    return mdb_cursor_open(s->txn, s->store->ids, &e->cursor);
}


int
sym_entries_next(sym_entries_t *e, bool is_first, sym_module_key_t *key,
                 sym_kind_t *kind)
{
    MDB_val k = { e->prefix_len, e->prefix }, v;
    int rc =
        mdb_cursor_get(e->cursor, &k, &v, is_first ? MDB_SET_RANGE : MDB_NEXT);

    if (rc != 0) {
        return rc;
    }

    if (k.mv_size <= e->prefix_len || k.mv_size > INDEX_KEY_MAX
        || memcmp(k.mv_data, e->prefix, e->prefix_len) != 0)
    {
        return MDB_NOTFOUND;
    }

    *key = (sym_module_key_t){ .scope = e->scope };
    return sym_record_key_rest(sym_str((const char *) k.mv_data + e->prefix_len,
                                       k.mv_size - e->prefix_len),
                               key, kind)
               ? 0
               : MDB_CORRUPTED;
}


bool
sym_index_answers_to(sym_snapshot_t *s, const sym_module_key_t *key,
                     sym_kind_t kind, sym_str_t id, sym_module_record_t *record)
{
    char buf[RECORD_KEY_MAX];
    sym_error_t err = { 0 };
    MDB_val k = { 0, buf };
    sym_index_ids_t ids;

    if (sym_snapshot_find(s, key, kind, record, &err) != SYM_OK) {
        return false;
    }

    k.mv_size = sym_record_key(key, kind, buf);
    sym_index_ids(&k, record, &ids);
    for (unsigned i = 0; i < ids.n; i++) {
        if (sym_str_eq(ids.ids[i], id)) {
            return true;
        }
    }

    return false;
}
