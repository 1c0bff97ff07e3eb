/*
 * Absence in the directory: for commands, until they read the records of paths.
 */
#include "store/tables.h"

sym_status_t
sym_snapshot_find(sym_snapshot_t *s, const sym_module_key_t *key,
                  sym_kind_t kind, sym_object_record_t *record,
                  sym_error_t *err)
{
    char buf[RECORD_KEY_MAX];
    MDB_val k = { sym_record_key(key, kind, buf), buf }, v, found;
    sym_status_t status;
    int rc;

    if (k.mv_size == 0) {
        return SYM_NOT_FOUND; /* such a key cannot have been stored */
    }

    found = k;
    rc = mdb_get(s->txn, s->store->directory, &found, &v);
    if (rc == MDB_NOTFOUND) {
        return SYM_NOT_FOUND;
    }

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the directory", rc);
    }

    status = sym_record_read(&k, &v, record);
    if (status == SYM_DAMAGED) {
        return sym_fail(err, SYM_DAMAGED, "a directory record is damaged");
    }

    /* views of the caller's key may end before the snapshot */
    if (status == SYM_OK) {
        record->object.name = SYM_STR("");
        record->asked = SYM_STR("");
        record->used_at = sym_clock_read(&s->store->clock, record->slot);
    }

    return status;
}


static sym_status_t
find_counting(sym_snapshot_t *s, const sym_module_key_t *key, sym_kind_t kind,
              const sym_module_key_t *asked, sym_object_record_t *record,
              sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_find(s, key, kind, record, err);

    return rc == SYM_OK && !sym_module_record_counts(record, asked)
               ? SYM_NOT_FOUND
               : rc;
}


sym_status_t
sym_snapshot_negative(sym_snapshot_t *s, sym_str_t scope,
                      const sym_object_ref_t *ref, sym_kind_t kind,
                      sym_object_record_t *record, sym_error_t *err)
{
    char text[SYM_VARIANT_LEN];
    sym_ref_key_t k;

    if (!sym_ref_key(ref, &k)) {
        return SYM_NOT_FOUND;
    }

    k.key.scope = scope;
    if (k.asked.object != NULL && scope.len != 0) {
        k.key.id = sym_str(text, sym_variant_of(ref, text));
        return sym_snapshot_find(s, &k.key, kind, record, err);
    }

    return find_counting(s, &k.key, kind, &k.key, record, err);
}


/* Keys of variants follow the name: they begin with '~'. */
static size_t
write_variants_key(const sym_module_key_t *key, char out[RECORD_KEY_MAX])
{
    sym_module_key_t first = *key;

    first.id = SYM_STR("~");
    return sym_record_key(&first, SYM_KIND_SYMCACHE, out);
}


sym_status_t
sym_snapshot_variants(sym_snapshot_t *s, const sym_module_key_t *key,
                      sym_kind_t kind, sym_object_each_pt fn, void *ctx,
                      sym_error_t *err)
{
    char buf[RECORD_KEY_MAX];
    size_t len = write_variants_key(key, buf);
    MDB_val k = { len, buf }, v;
    sym_status_t status = SYM_OK;
    sym_object_record_t record;
    sym_debug_id_t debug_id;
    MDB_cursor *cursor;
    int rc;

    if (len == 0 || !sym_debug_id_read_breakpad(key->id, &debug_id)) {
        return SYM_OK;
    }

    rc = mdb_cursor_open(s->txn, s->store->directory, &cursor);
    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the directory", rc);
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    for (unsigned i = 0;
         rc == 0 && status == SYM_OK && i < SYM_VARIANTS_MAX * SYM_KINDS
         && k.mv_size > len && memcmp(k.mv_data, buf, len) == 0;
         i++)
    {
        if (sym_record_check(&k, &v, &record) == SYM_OK && record.kind == kind
            && sym_debug_id_eq(&record.object.debug_id, &debug_id))
        {
            status = fn(ctx, key->scope, &record);
        }
        rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }

    mdb_cursor_close(cursor);
    return rc == 0 || rc == MDB_NOTFOUND
               ? status
               : sym_lmdb_fail(err, "cannot read the directory", rc);
}
