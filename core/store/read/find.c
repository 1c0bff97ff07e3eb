#include "store/index.h"

/* Modules of one id that are looked at: a file under several names. */
#define CANDIDATES_MAX (16 * SYM_KINDS)


/* A module whose debug id it is goes before one whose code id reads the same. */
static bool
is_better(sym_str_t id, const sym_module_key_t *key,
          const sym_module_record_t *record, const sym_module_key_t *best_key,
          const sym_module_record_t *best)
{
    bool by_debug_id = sym_str_eq(key->id, id);

    if (best->state == 0 || by_debug_id != sym_str_eq(best_key->id, id)) {
        return best->state == 0 || by_debug_id;
    }

    return record->quality > best->quality;
}


static sym_status_t
find_by_id(sym_snapshot_t *s, const sym_module_key_t *asked, sym_str_t id,
           sym_kind_t kind, sym_module_key_t *found, sym_module_record_t *best,
           sym_error_t *err)
{
    sym_module_record_t record;
    sym_module_key_t key;
    sym_kind_t of;
    sym_entries_t e;
    int rc = sym_entries_begin(s, asked->scope, id, &e);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the index of ids", rc);
    }

    *best = (sym_module_record_t){ 0 };
    for (unsigned i = 0; i < CANDIDATES_MAX; i++) {
        rc = sym_entries_next(&e, i == 0, &key, &of);
        if (rc != 0) {
            break;
        }

        if (of == kind && sym_index_answers_to(s, &key, kind, id, &record)
            && is_better(id, &key, &record, found, best))
        {
            *found = key;
            *best = record;
        }
    }

    mdb_cursor_close(e.cursor);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return sym_lmdb_fail(err, "cannot read the index of ids", rc);
    }

    return best->state != 0 ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
sym_snapshot_find_any(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_kind_t kind, sym_module_key_t *found,
                      sym_module_record_t *record, sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find(s, key, kind, record, err), by_id;
    char text[INDEX_ID_MAX];
    sym_module_record_t other;
    sym_str_t ids[2];

    *found = *key;
    if ((rc == SYM_OK && record->state == SYM_MODULE_READY)
        || (rc != SYM_OK && rc != SYM_NOT_FOUND))
    {
        return rc;
    }

    ids[0] = key->id;
    ids[1] = sym_index_code_id(key->code_id, text);

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (!sym_index_can_have(s->store, key->scope, ids[i])) {
            continue;
        }

        by_id = find_by_id(s, key, ids[i], kind, found, &other, err);
        if (by_id == SYM_OK) {
            *record = other;
            return SYM_OK;
        }

        *found = *key;
        if (by_id != SYM_NOT_FOUND) {
            return by_id;
        }
    }

    return rc;
}
