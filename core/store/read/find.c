#include "store/index.h"

/* Most modules of one id that are examined: one file may have several names. */
#define CANDIDATES_MAX (16 * SYM_KINDS)


/* How an id is compared with a module's. */
typedef enum {
    BY_CODE_ID,
    BY_DEBUG_ID,
    BY_READING, /* a code id in place of a debug id, spelled like one */
    BY_BUILD_ID /* the part that a .sym file's debug id contains */
} by_t;


static bool
is_so(by_t by, const sym_module_key_t *key, sym_str_t id)
{
    return by == BY_CODE_ID || by == BY_BUILD_ID
           || sym_str_eq(key->id, id) == (by == BY_DEBUG_ID);
}


/* Whether the request has a real debug id (not a code id in its place) and the
 * module has another one. */
static bool
has_other_debug_id(const sym_module_key_t *asked, const sym_module_key_t *key)
{
    char reading[SYM_ID_MAX];

    return asked->id.len != 0 && !sym_str_eq(asked->id, key->id)
           && !sym_str_eq(asked->id,
                          sym_str(reading, sym_debug_id_canonical(
                                               asked->code_id, reading)));
}


static sym_status_t
find_by_id(sym_snapshot_t *s, const sym_module_key_t *asked, by_t by,
           sym_str_t id, sym_kind_t kind, sym_module_key_t *found,
           sym_module_record_t *best, sym_error_t *err)
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

        if (of == kind && is_so(by, &key, id)
            && sym_index_answers_to(s, &key, kind, id, &record)
            && (record.is_native || !has_other_debug_id(asked, &key))
            && (best->state == 0 || record.quality > best->quality))
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


/* Searches by name and id; ignores negative records for another code id. */
static sym_status_t
find_named(sym_snapshot_t *s, const sym_module_key_t *key, sym_kind_t kind,
           sym_module_record_t *record, sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find(s, key, kind, record, err);

    if (rc != SYM_OK) {
        return rc;
    }

    return (record->state == SYM_MODULE_READY && sym_module_key_is_cut(key))
                   || !sym_module_record_counts(record, key)
               ? SYM_NOT_FOUND
               : SYM_OK;
}


static sym_status_t
find(sym_snapshot_t *s, const sym_module_key_t *key, sym_kind_t kind,
     bool as_it_reads, sym_module_key_t *found, sym_module_record_t *record,
     sym_error_t *err)
{
    sym_status_t rc = find_named(s, key, kind, record, err), by_id;
    char code_id[INDEX_ID_MAX], build_id[INDEX_ID_MAX];
    sym_module_record_t other;
    sym_str_t ids[4];

    *found = *key;
    if ((rc == SYM_OK && record->state == SYM_MODULE_READY)
        || (rc != SYM_OK && rc != SYM_NOT_FOUND))
    {
        return rc;
    }

    ids[BY_CODE_ID] = sym_index_code_id(key->code_id, code_id);
    ids[BY_DEBUG_ID] = sym_module_key_is_cut(key) ? SYM_STR("") : key->id;
    ids[BY_READING] = as_it_reads ? key->id : SYM_STR("");
    ids[BY_BUILD_ID] = sym_index_build_id(key->code_id, build_id);

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (!sym_index_can_have(key->scope, ids[i])) {
            continue;
        }

        by_id = find_by_id(s, key, (by_t) i, ids[i], kind, found, &other, err);
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


sym_status_t
sym_snapshot_find_any(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_kind_t kind, sym_module_key_t *found,
                      sym_module_record_t *record, sym_error_t *err)
{
    return find(s, key, kind, false, found, record, err);
}


sym_status_t
sym_snapshot_find_asked(sym_snapshot_t *s, const sym_module_key_t *key,
                        sym_kind_t kind, const sym_object_ref_t *object,
                        sym_module_key_t *found, sym_module_record_t *record,
                        sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find_any(s, key, kind, found, record, err);
    sym_module_key_t own = *key;
    char text[SYM_VARIANT_LEN];

    if (object == NULL || key->scope.len == 0
        || (rc == SYM_OK && record->state == SYM_MODULE_READY)
        || (rc != SYM_OK && rc != SYM_NOT_FOUND))
    {
        return rc;
    }

    own.id = sym_str(text, sym_variant_of(object, text));
    *found = *key;
    rc = sym_snapshot_find(s, &own, kind, record, err);
    return rc == SYM_OK && record->state == SYM_MODULE_READY ? SYM_NOT_FOUND
                                                             : rc;
}


sym_status_t
sym_snapshot_find_read(sym_snapshot_t *s, const sym_module_key_t *key,
                       sym_kind_t kind, sym_module_key_t *found,
                       sym_module_record_t *record, sym_error_t *err)
{
    return find(s, key, kind, key->code_id.len == 0, found, record, err);
}
