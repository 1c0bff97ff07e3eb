/*
 * Removes modules and negative records by an id alone.
 */
#include "store/write/writer.h"

#include <errno.h>
#include <string.h>

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


/*
 * Modules whose debug id begins with these digits, of whatever age.  One id after
 * the other: entries of an id lie together, and between it and the next one lies
 * nothing but what begins with its text and a byte of 1.
 */
static int
add_all_ages(sym_snapshot_t *s, sym_str_t scope, sym_str_t uuid,
             sym_victims_t *v)
{
    char from[INDEX_KEY_MAX];
    size_t prefix = sym_index_prefix(scope, uuid, from) - 1, n = prefix;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(s->txn, s->store->ids, &cursor);

    if (rc != 0) {
        return rc;
    }

    for (;;) {
        MDB_val k = { n, from }, value;
        const char *text;
        sym_str_t id;

        rc = mdb_cursor_get(cursor, &k, &value, MDB_SET_RANGE);
        text = rc == 0 ? k.mv_data : NULL;

        if (rc != 0 || k.mv_size < prefix || memcmp(text, from, prefix) != 0) {
            break;
        }

        id.data = text + (prefix - uuid.len);
        id.len = strnlen(id.data, k.mv_size - (prefix - uuid.len));

        if (id.len > SYM_ID_MAX) {
            rc = MDB_CORRUPTED;
            break;
        }

        n = sym_index_prefix(scope, id, from);
        from[n - 1] = '\1';
        rc = add_victims(s, scope, SYM_STR(""), id, v);

        if (rc != 0) {
            break;
        }
    }

    mdb_cursor_close(cursor);
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
        rc = sym_debug_id_has_any_age(id)
                 ? add_all_ages(snapshot, scope,
                                sym_str(id.data, SYM_UUID_DIGITS), v)
                 : add_victims(snapshot, scope, name, id, v);
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
