/*
 * Removes modules and negative records by an id alone.
 */
#include "store/write/writer.h"

#include <errno.h>
#include <string.h>

/*
 * Whether the record that an entry of an id refers to belongs to the key.  A
 * module must have the id itself.  A code id that reads like a debug id counts
 * only for a key without a code id, because the client's API may have no field
 * for one.
 */
static bool
is_victim(const sym_module_key_t *asked, bool by_code_id, sym_str_t id,
          const sym_module_key_t *key, const sym_module_record_t *record)
{
    if (asked->name.len != 0 && !sym_str_eq(asked->name, key->name)) {
        return false;
    }

    if (sym_variant_is_in(key->id)) {
        return true; /* any variant */
    }

    if (record->state != SYM_MODULE_READY) {
        return sym_module_record_is_of(record, asked);
    }

    if (by_code_id || sym_str_eq(key->id, id)) {
        return true;
    }

    /* A module with any age may have a second entry, for a code id that reads
     * like another age.  A module listed twice could not be removed. */
    return asked->code_id.len == 0
           && !(record->is_native && sym_debug_id_has_any_age(asked->id)
                && key->id.len >= SYM_UUID_DIGITS && id.len >= SYM_UUID_DIGITS
                && memcmp(key->id.data, id.data, SYM_UUID_DIGITS) == 0);
}


/* Adds those with the name, or (empty) with any. */
static int
add_victims(sym_snapshot_t *s, const sym_module_key_t *asked, bool by_code_id,
            sym_str_t id, sym_victims_t *v)
{
    sym_module_record_t record;
    char buf[RECORD_KEY_MAX];
    sym_module_key_t key;
    sym_kind_t kind;
    sym_victim_t victim;
    sym_entries_t e;
    int rc;

    if (!sym_index_can_have(asked->scope, id)) {
        return 0;
    }

    rc = sym_entries_begin(s, asked->scope, id, &e);
    if (rc != 0) {
        return rc;
    }

    for (bool is_first = true;
         (rc = sym_entries_next(&e, is_first, &key, &kind)) == 0;
         is_first = false)
    {
        MDB_val k = { sym_record_key(&key, kind, buf), buf };

        if (sym_index_answers_to(s, &key, kind, id, &record)
            && is_victim(asked, by_code_id, id, &key, &record)
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
 * Adds modules whose debug id begins with these digits, with any age, one id
 * after the other.  Entries of an id are adjacent.  Between them and the next
 * id there are only entries that begin with its text and a byte of 1.
 */
static int
add_all_ages(sym_snapshot_t *s, const sym_module_key_t *asked, sym_victims_t *v)
{
    const sym_str_t uuid = sym_str(asked->id.data, SYM_UUID_DIGITS);
    char from[INDEX_KEY_MAX];
    size_t prefix = sym_index_prefix(asked->scope, uuid, from) - 1, n = prefix;
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

        n = sym_index_prefix(asked->scope, id, from);
        from[n - 1] = '\1';
        rc = add_victims(s, asked, false, id, v);

        if (rc != 0) {
            break;
        }
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Adds modules found by the code id. */
static int
add_by_code_id(sym_snapshot_t *s, const sym_module_key_t *key, sym_victims_t *v)
{
    char text[INDEX_ID_MAX];
    int rc =
        add_victims(s, key, true, sym_index_code_id(key->code_id, text), v);

    return rc != 0 ? rc
                   : add_victims(s, key, true,
                                 sym_index_build_id(key->code_id, text), v);
}


/* Adds negative records; without a name, also all modules found by the debug
   id. */
static int
add_others(sym_snapshot_t *s, const sym_module_key_t *key, sym_victims_t *v)
{
    /* requests with only a code id have it in place of the debug id */
    sym_str_t asked = key->id.len != 0 ? key->id : key->code_id;
    char text[INDEX_ID_MAX];
    int rc = 0;

    if (key->name.len == 0 && !sym_module_key_is_cut(key)) {
        rc = sym_debug_id_has_any_age(key->id)
                 ? add_all_ages(s, key, v)
                 : add_victims(s, key, false, key->id, v);
    }

    return rc != 0
               ? rc
               : add_victims(s, key, false, sym_index_negative(asked, text), v);
}


/* Records of variants are also found by the code id as spelled. */
static int
add_variants(sym_snapshot_t *s, const sym_module_key_t *key, sym_victims_t *v)
{
    char text[INDEX_ID_MAX];

    return add_victims(s, key, true, sym_index_negative(key->code_id, text), v);
}


typedef int (*add_pt)(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_victims_t *v);

/* Removes the records that add() collects. */
static sym_status_t
remove_found(sym_store_t *store, const sym_module_key_t *key, add_pt add,
             sym_error_t *err)
{
    sym_victims_t v = { 0 };
    uint64_t removed = 0;
    sym_snapshot_t *snapshot;
    int rc;

    /* the open batch is shared with other modules, whose data must not be
       lost */
    if (sym_batch_commit(store, err) != SYM_OK
        || sym_snapshot_begin(store, &snapshot, err) != SYM_OK)
    {
        return err->status;
    }

    rc = add(snapshot, key, &v);
    sym_snapshot_end(snapshot);

    if (rc != 0) {
        (void) sym_lmdb_fail(err, "cannot read the index of ids", rc);
    } else {
        (void) sym_victims_remove(store, &v, false, &removed, err);
    }

    sym_victims_free(&v);
    return err->status == SYM_OK && removed == 0 ? SYM_NOT_FOUND : err->status;
}


sym_status_t
sym_store_remove_ids(sym_store_t *store, const sym_module_key_t *key,
                     sym_error_t *err)
{
    sym_status_t by_code_id = SYM_NOT_FOUND, variants = SYM_NOT_FOUND, rc;

    if (key->scope.len > SYM_SCOPE_MAX) {
        return SYM_NOT_FOUND;
    }

    /* one after the other, because both ids may find the same module */
    if (key->name.len == 0 && key->code_id.len != 0) {
        by_code_id = remove_found(store, key, add_by_code_id, err);
    }

    if (err->status == SYM_OK && key->id.len != 0 && key->code_id.len != 0) {
        variants = remove_found(store, key, add_variants, err);
    }

    rc = err->status == SYM_OK ? remove_found(store, key, add_others, err)
                               : err->status;
    return rc != SYM_NOT_FOUND         ? rc
           : variants != SYM_NOT_FOUND ? variants
                                       : by_code_id;
}
