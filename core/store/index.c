/*
 * A debug file's name says nothing ("cdef0123.debug"), its ids everything.  So
 * its module is also found by them: an entry for the debug id, and one for the
 * code id as it reads as a debug id, which is how clients send it.  All is in an
 * entry's key: scope, id, and where the module lies in the directory.
 */
#include "store/env.h"

#include <errno.h>

#define INDEX_ID_MAX (1 + SYM_ID_MAX)
#define INDEX_KEY_MAX (RECORD_KEY_MAX + INDEX_ID_MAX + 1)

/* Before the id of what is not to be had: it must be forgotten when a file of
 * that id comes, and is no answer to anything. */
#define NEGATIVE '-'

/* Modules of one id that are looked at: a file under several names. */
#define CANDIDATES_MAX 16

#define IDS_MAX 2

typedef struct {
    sym_str_t ids[IDS_MAX];
    unsigned n;
    char text[INDEX_ID_MAX];
} ids_t;


/* Records of other spellings of an id have the same. */
static sym_str_t
negative_id(sym_str_t id, char out[INDEX_ID_MAX])
{
    out[0] = NEGATIVE;
    return sym_str(out, 1 + sym_debug_id_canonical(id, out + 1));
}


/* The ids that find a module; none, unless it is one to be found so. */
static void
read_ids(const MDB_val *key, const sym_module_record_t *record, ids_t *ids)
{
    sym_module_key_t module;
    size_t len;

    ids->n = 0;
    if (!sym_record_key_read(key, &module)) {
        return;
    }

    if (record->state != SYM_MODULE_READY) {
        ids->ids[ids->n++] = negative_id(module.id, ids->text);
        return;
    }

    if (!record->is_native) {
        return;
    }

    ids->ids[ids->n++] = module.id;
    len = sym_debug_id_canonical(record->code_id, ids->text);

    /* a UUID is both */
    if (len != 0 && !sym_str_eq(sym_str(ids->text, len), module.id)) {
        ids->ids[ids->n++] = sym_str(ids->text, len);
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


static MDB_val
entry_key(const MDB_val *key, sym_str_t id, char out[INDEX_KEY_MAX])
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
    ids_t ids;

    read_ids(key, record, &ids);
    return ids.n;
}


bool
sym_index_has(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    ids_t ids;

    read_ids(key, record, &ids);
    for (unsigned i = 0; store->has_ids && i < ids.n; i++) {
        MDB_val k = entry_key(key, ids.ids[i], buf), v;

        if (mdb_get(txn, store->ids, &k, &v) != 0) {
            return false;
        }
    }

    return true;
}


int
sym_index_put(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    ids_t ids;
    int rc = 0;

    read_ids(key, record, &ids);
    for (unsigned i = 0; i < ids.n && rc == 0; i++) {
        MDB_val k = entry_key(key, ids.ids[i], buf), v = { 0, buf };

        rc = mdb_put(txn, store->ids, &k, &v, 0);
    }

    return rc;
}


int
sym_index_del(sym_store_t *store, MDB_txn *txn, const MDB_val *key,
              const sym_module_record_t *record)
{
    char buf[INDEX_KEY_MAX];
    ids_t ids;
    int rc = 0;

    read_ids(key, record, &ids);
    for (unsigned i = 0; i < ids.n && rc == 0; i++) {
        MDB_val k = entry_key(key, ids.ids[i], buf);

        rc = mdb_del(txn, store->ids, &k, NULL);
        rc = rc == MDB_NOTFOUND ? 0 : rc;
    }

    return rc;
}


int
sym_index_rebuild(sym_store_t *store, MDB_txn *txn)
{
    sym_module_record_t record;
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_drop(txn, store->ids, 0);

    rc = rc != 0 ? rc : mdb_cursor_open(txn, store->directory, &cursor);
    if (rc != 0) {
        return rc;
    }

    while (rc == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        if (sym_record_check(&k, &v, &record) == SYM_OK) {
            rc = sym_index_put(store, txn, &k, &record);
        }
    }

    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* --- finding --- */

/* Entries of one id. */
typedef struct {
    sym_str_t scope, id;
    char prefix[INDEX_KEY_MAX];
    size_t prefix_len;
    MDB_cursor *cursor;
} entries_t;

static int
entries_begin(sym_snapshot_t *s, sym_str_t scope, sym_str_t id, entries_t *e)
{
    e->scope = scope;
    e->id = id;
    e->prefix_len = write_prefix(scope, id, e->prefix);
    return mdb_cursor_open(s->txn, s->store->ids, &e->cursor);
}


/* The next module of the id, as its entry names it; MDB_NOTFOUND: no more. */
static int
entries_next(entries_t *e, bool is_first, sym_module_key_t *key)
{
    MDB_val k = { e->prefix_len, e->prefix }, v;
    int rc =
        mdb_cursor_get(e->cursor, &k, &v, is_first ? MDB_SET_RANGE : MDB_NEXT);
    const char *p, *nul;
    size_t len;

    if (rc != 0) {
        return rc;
    }

    if (k.mv_size <= e->prefix_len || k.mv_size > INDEX_KEY_MAX
        || memcmp(k.mv_data, e->prefix, e->prefix_len) != 0)
    {
        return MDB_NOTFOUND;
    }

    p = (const char *) k.mv_data + e->prefix_len;
    len = k.mv_size - e->prefix_len;
    nul = memchr(p, '\0', len);
    if (nul == NULL) {
        return MDB_CORRUPTED;
    }

    *key = (sym_module_key_t){
        .scope = e->scope,
        .name = sym_str(p, (size_t) (nul - p)),
        .id = sym_str(nul + 1, len - (size_t) (nul - p) - 1),
    };
    return 0;
}


/* Entries may lead nowhere: the module's record has the say. */
static bool
answers_to(sym_snapshot_t *s, const sym_module_key_t *key, sym_str_t id,
           sym_module_record_t *record)
{
    char buf[RECORD_KEY_MAX];
    sym_error_t err = { 0 };
    MDB_val k = { 0, buf };
    ids_t ids;

    if (sym_snapshot_find(s, key, record, &err) != SYM_OK) {
        return false;
    }

    k.mv_size = sym_record_key(key, buf);
    read_ids(&k, record, &ids);
    for (unsigned i = 0; i < ids.n; i++) {
        if (sym_str_eq(ids.ids[i], id)) {
            return true;
        }
    }

    return false;
}


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
find_by_id(sym_snapshot_t *s, const sym_module_key_t *asked,
           sym_module_key_t *found, sym_module_record_t *best, sym_error_t *err)
{
    sym_module_record_t record;
    sym_module_key_t key;
    entries_t e;
    int rc = entries_begin(s, asked->scope, asked->id, &e);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the index of ids", rc);
    }

    *best = (sym_module_record_t){ 0 };
    for (unsigned i = 0; i < CANDIDATES_MAX; i++) {
        rc = entries_next(&e, i == 0, &key);
        if (rc != 0) {
            break;
        }

        if (answers_to(s, &key, asked->id, &record)
            && is_better(asked->id, &key, &record, found, best))
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


static bool
can_have_ids(const sym_store_t *store, sym_str_t scope, sym_str_t id)
{
    return store->has_ids && scope.len <= SYM_SCOPE_MAX && id.len != 0
           && id.len <= SYM_ID_MAX;
}


sym_status_t
sym_snapshot_find_any(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_module_key_t *found, sym_module_record_t *record,
                      sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find(s, key, record, err), by_id;
    sym_module_record_t other;

    *found = *key;
    if ((rc == SYM_OK && record->state == SYM_MODULE_READY)
        || (rc != SYM_OK && rc != SYM_NOT_FOUND)
        || !can_have_ids(s->store, key->scope, key->id))
    {
        return rc;
    }

    by_id = find_by_id(s, key, found, &other, err);
    if (by_id == SYM_OK) {
        *record = other;
        return SYM_OK;
    }

    *found = *key;
    return by_id == SYM_NOT_FOUND ? rc : by_id;
}


/* --- removing --- */

/* Those of a name, or (empty) of any. */
static int
add_victims(sym_snapshot_t *s, sym_str_t scope, sym_str_t name, sym_str_t id,
            sym_victims_t *v)
{
    sym_module_record_t record;
    char buf[RECORD_KEY_MAX];
    sym_module_key_t key;
    sym_victim_t victim;
    entries_t e;
    int rc = entries_begin(s, scope, id, &e);

    if (rc != 0) {
        return rc;
    }

    for (bool is_first = true; (rc = entries_next(&e, is_first, &key)) == 0;
         is_first = false)
    {
        MDB_val k = { sym_record_key(&key, buf), buf };

        if ((name.len == 0 || sym_str_eq(name, key.name))
            && answers_to(s, &key, id, &record)
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


/* All that an id alone finds, and what is known not to be had under it; with a
 * name only the latter. */
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
    rc = rc != 0
             ? rc
             : add_victims(snapshot, scope, name, negative_id(id, negative), v);
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

    if (!can_have_ids(store, scope, id)) {
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
