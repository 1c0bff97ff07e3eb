#include "store/index.h"

/* Precedes the id of a negative record: the entry is used to remove the record
 * when a file with that id arrives; lookups do not read it. */
#define NEGATIVE '-'

/* Before a code id: debug ids are hexadecimal digits, too. */
#define CODE '+'

/* Before the first 16 bytes of a build id, all that a debug id contains. */
#define BUILD '='
#define BUILD_DIGITS ((size_t) 2 * SYM_UUID_BYTES)


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
sym_index_build_id(sym_str_t build_id, char out[INDEX_ID_MAX])
{
    if (sym_index_code_id(build_id, out).len <= BUILD_DIGITS) {
        return SYM_STR("");
    }

    out[0] = BUILD;
    return sym_str(out, 1 + BUILD_DIGITS);
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
    sym_code_id_t build_id;
    sym_kind_t kind;
    sym_str_t code;
    size_t len;

    ids->n = 0;
    if (!sym_record_key_read(key, &module, &kind)) {
        return;
    }

    if (record->state != SYM_MODULE_READY) {
        ids->ids[ids->n++] =
            sym_index_negative(sym_module_shown_id(&module, record), ids->text);

        /* in v5 both are the same id */
        if (sym_variant_is_in(module.id) && record->code_id.len != 0) {
            code = sym_index_negative(record->code_id, ids->reading);
            ids->n += code.len > 1 && !sym_str_eq(code, ids->ids[0]);
            ids->ids[1] = code;
        }
        return;
    }

    code = sym_index_code_id(record->code_id, ids->text);
    if (record->is_native) {
        ids->ids[ids->n++] = module.id;
    } else if (code.len == 0 && kind == SYM_KIND_SYMCACHE
               && sym_code_id_read_debug_id(module.id, &build_id))
    {
        code =
            sym_index_build_id(sym_str(build_id.text, build_id.len), ids->text);
    }

    len = sym_debug_id_canonical(record->code_id, ids->reading);

    if (code.len != 0) {
        ids->ids[ids->n++] = code;
    }

    /* a UUID is a debug id and a code id */
    if (len != 0 && !sym_str_eq(sym_str(ids->reading, len), module.id)) {
        ids->ids[ids->n++] = sym_str(ids->reading, len);
    }
}


size_t
sym_index_prefix(sym_str_t scope, sym_str_t id, char out[INDEX_KEY_MAX])
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
    size_t n = sym_index_prefix(sym_str(p, scope), id, out);

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
    for (unsigned i = 0; i < ids.n; i++) {
        MDB_val k = sym_index_key(key, ids.ids[i], buf), v;

        if (mdb_get(txn, store->ids, &k, &v) != 0) {
            return false;
        }
    }

    return true;
}


bool
sym_index_can_have(sym_str_t scope, sym_str_t id)
{
    return scope.len <= SYM_SCOPE_MAX && id.len != 0 && id.len <= INDEX_ID_MAX;
}
