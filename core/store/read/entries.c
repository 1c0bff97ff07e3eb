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
    e->from_len = e->prefix_len;
    return mdb_cursor_open(s->txn, s->store->ids, &e->cursor);
}


int
sym_entries_next(sym_entries_t *e, bool is_first, sym_module_key_t *key,
                 sym_kind_t *kind)
{
    MDB_val k = { e->from_len, e->prefix }, v;
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


/* Among entries of a name and id, variants are last: they begin with '~'. */
static int
begin_variants(sym_snapshot_t *s, const sym_module_key_t *key, sym_entries_t *e)
{
    char text[INDEX_ID_MAX];
    int rc =
        sym_entries_begin(s, key->scope, sym_index_negative(key->id, text), e);

    memcpy(e->prefix + e->from_len, key->name.data, key->name.len);
    e->from_len += key->name.len;
    e->prefix[e->from_len++] = '\0';
    e->prefix[e->from_len++] = '~';
    return rc;
}


sym_status_t
sym_snapshot_variants(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_kind_t kind, sym_variant_each_pt fn, void *ctx,
                      sym_error_t *err)
{
    sym_status_t status = SYM_OK;
    sym_module_record_t record;
    sym_module_key_t one;
    sym_entries_t e;
    sym_kind_t of;
    int rc;

    if (!sym_index_can_have(key->scope, key->id)
        || !sym_module_name_ok(key->name) || key->id.len > SYM_ID_MAX)
    {
        return SYM_OK;
    }

    rc = begin_variants(s, key, &e);
    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the index of ids", rc);
    }

    for (unsigned i = 0; i < SYM_VARIANTS_MAX * SYM_KINDS; i++) {
        rc = sym_entries_next(&e, i == 0, &one, &of);
        if (rc != 0 || !sym_str_eq(one.name, key->name)) {
            break;
        }

        if (of == kind && sym_variant_is_in(one.id)
            && sym_snapshot_find(s, &one, kind, &record, err) == SYM_OK
            && record.state != SYM_MODULE_READY)
        {
            status = fn(ctx, &one, &record);
        }

        if (status != SYM_OK || err->status != SYM_OK) {
            break;
        }
    }

    mdb_cursor_close(e.cursor);
    return err->status != SYM_OK ? err->status
           : rc == 0 || rc == MDB_NOTFOUND
               ? status
               : sym_lmdb_fail(err, "cannot read the index of ids", rc);
}
