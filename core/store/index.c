#include "store/index.h"

/* Before the id of what is not to be had: it must be forgotten when a file of
 * that id comes, and is no answer to anything. */
#define NEGATIVE '-'

/* Before a code id: debug ids are hexadecimal digits, too. */
#define CODE '+'


sym_str_t
sym_index_code_id(sym_str_t code_id, char out[INDEX_ID_MAX])
{
    sym_code_id_t id;

    if (!sym_code_id_read(code_id, &id)) {
        return SYM_STR("");
    }

    out[0] = CODE;
    memcpy(out + 1, id.text, id.len);
    return sym_str(out, 1 + (size_t) id.len);
}


sym_str_t
sym_index_negative(sym_str_t id, char out[INDEX_ID_MAX])
{
    out[0] = NEGATIVE;
    return sym_str(out, 1 + sym_debug_id_canonical(id, out + 1));
}


void
sym_index_ids(const MDB_val *key, const sym_module_record_t *record,
              sym_index_ids_t *ids)
{
    sym_module_key_t module;
    sym_kind_t kind;
    sym_str_t code;
    size_t len;

    ids->n = 0;
    if (!sym_record_key_read(key, &module, &kind)) {
        return;
    }

    if (record->state != SYM_MODULE_READY) {
        ids->ids[ids->n++] = sym_index_negative(module.id, ids->text);
        return;
    }

    if (!record->is_native) {
        return;
    }

    ids->ids[ids->n++] = module.id;
    code = sym_index_code_id(record->code_id, ids->text);
    len = sym_debug_id_canonical(record->code_id, ids->reading);

    if (code.len != 0) {
        ids->ids[ids->n++] = code;
    }

    /* a UUID is both */
    if (len != 0 && !sym_str_eq(sym_str(ids->reading, len), module.id)) {
        ids->ids[ids->n++] = sym_str(ids->reading, len);
    }
}


/* What all entries of an id begin with; the scope's NUL is written. */
static size_t
write_prefix(sym_str_t scope, sym_str_t id, char out[INDEX_KEY_MAX])
{
    size_t n = 0;

    if (scope.len != 0) {
        memcpy(out, scope.data, scope.len);
        n = scope.len;
    }
    out[n++] = '\0';

    memcpy(out + n, id.data, id.len);
    n += id.len;
    out[n++] = '\0';
    return n;
}


MDB_val
sym_index_key(const MDB_val *key, sym_str_t id, char out[INDEX_KEY_MAX])
{
    const char *p = key->mv_data;
    size_t scope = strnlen(p, key->mv_size), rest = key->mv_size - scope - 1;
    size_t n = write_prefix(sym_str(p, scope), id, out);

    memcpy(out + n, p + scope + 1, rest);
    return (MDB_val){ n + rest, out };
}


unsigned
sym_index_entries(const MDB_val *key, const sym_module_record_t *record)
{
    sym_index_ids_t ids;

    sym_index_ids(key, record, &ids);
    return ids.n;
}


bool
sym_index_has(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    sym_index_ids_t ids;

    sym_index_ids(key, record, &ids);
    for (unsigned i = 0; store->has_ids && i < ids.n; i++) {
        MDB_val k = sym_index_key(key, ids.ids[i], buf), v;

        if (mdb_get(txn, store->ids, &k, &v) != 0) {
            return false;
        }
    }

    return true;
}


bool
sym_index_can_have(const sym_store_t *store, sym_str_t scope, sym_str_t id)
{
    return store->has_ids && scope.len <= SYM_SCOPE_MAX && id.len != 0
           && id.len <= INDEX_ID_MAX;
}


int
sym_entries_begin(sym_snapshot_t *s, sym_str_t scope, sym_str_t id,
                  sym_entries_t *e)
{
    e->scope = scope;
    e->id = id;
    e->prefix_len = write_prefix(scope, id, e->prefix);
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

    key->scope = e->scope;
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
