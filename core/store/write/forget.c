/*
 * Removes modules and negative records by an id alone.
 */
#include "store/write/writer.h"

#include <errno.h>

/* Those of a name, or (empty) of any. */
static int
add_victims(sym_snapshot_t *s, sym_str_t scope, sym_str_t name, sym_str_t id,
            sym_victims_t *v)
{
    sym_module_record_t record;
    char buf[RECORD_KEY_MAX];
    sym_module_key_t key;
    sym_kind_t kind;
    sym_victim_t victim;
    sym_entries_t e;
    int rc = sym_entries_begin(s, scope, id, &e);

    if (rc != 0) {
        return rc;
    }

    for (bool is_first = true;
         (rc = sym_entries_next(&e, is_first, &key, &kind)) == 0;
         is_first = false)
    {
        MDB_val k = { sym_record_key(&key, kind, buf), buf };

        if ((name.len == 0 || sym_str_eq(name, key.name))
            && sym_index_answers_to(s, &key, kind, id, &record)
            && (victim = sym_victim_of(&k, &record, true),
                !sym_victims_add(v, &victim, &k)))
        {
            rc = ENOMEM;
            break;
        }
    }

    mdb_cursor_close(e.cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Collects the negative records of an id; without a name also all modules that
 * the id alone finds. */
static sym_status_t
find_victims(sym_store_t *store, sym_str_t scope, sym_str_t name, sym_str_t id,
             sym_victims_t *v, sym_error_t *err)
{
    char negative[INDEX_ID_MAX];
    sym_snapshot_t *snapshot;
    int rc = 0;

    /* what is under way is shared with other modules, and not ours to lose */
    if (sym_batch_commit(store, err) != SYM_OK
        || sym_snapshot_begin(store, &snapshot, err) != SYM_OK)
    {
        return err->status;
    }

    if (name.len == 0) {
        rc = add_victims(snapshot, scope, name, id, v);
    }
    rc = rc != 0 ? rc
                 : add_victims(snapshot, scope, name,
                               sym_index_negative(id, negative), v);
    sym_snapshot_end(snapshot);
    return rc == 0 ? SYM_OK
                   : sym_lmdb_fail(err, "cannot read the index of ids", rc);
}


static sym_status_t
remove_found(sym_store_t *store, sym_str_t scope, sym_str_t name, sym_str_t id,
             sym_error_t *err)
{
    sym_victims_t v = { 0 };
    uint64_t removed = 0;

    if (!sym_index_can_have(store, scope, id)) {
        return SYM_NOT_FOUND;
    }

    if (find_victims(store, scope, name, id, &v, err) == SYM_OK) {
        (void) sym_victims_remove(store, &v, false, &removed, err);
    }

    sym_victims_free(&v);
    return err->status == SYM_OK && removed == 0 ? SYM_NOT_FOUND : err->status;
}


sym_status_t
sym_store_remove_id(sym_store_t *store, sym_str_t scope, sym_str_t id,
                    sym_error_t *err)
{
    return remove_found(store, scope, SYM_STR(""), id, err);
}


sym_status_t
sym_store_remove_negatives(sym_store_t *store, const sym_module_key_t *key,
                           sym_error_t *err)
{
    return remove_found(store, key->scope, key->name, key->id, err);
}
