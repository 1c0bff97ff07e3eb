/*
 * Absence, until results belong to paths; and which of several sources' records
 * count.
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


/* --- several sources --- */

typedef struct {
    sym_snapshot_t *s;
    const sym_object_ref_t *ref;
    sym_kind_t kind;
    int64_t now_s;

    sym_choice_t ready, missing; /* state 0: none */
    bool is_unasked;             /* a source has no record that counts */
    bool is_unasked_best; /* ... nor one that counts if the artifact is poor */
    bool is_unspelled;    /* a source was not asked under the spelling */
    uint32_t until, until_best;
} choosing_t;


static uint32_t
earlier(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}


static void
weigh_ready(choosing_t *c, uint32_t source, const sym_object_record_t *record)
{
    if (c->ready.state == 0 || record->quality > c->ready.record.quality) {
        c->ready = (sym_choice_t){ .state = SYM_MODULE_READY,
                                   .source = source,
                                   .record = *record };
    }
}


static void
weigh_missing(choosing_t *c, uint32_t source, const sym_object_record_t *record)
{
    sym_object_record_t longer = *record;

    if (sym_module_expired(record, c->now_s)) {
        c->is_unasked = true;
    } else {
        c->until = earlier(c->until, record->expires_at);
    }

    if (longer.expires_at != 0
        && longer.expires_at < record->stored_at + SYM_BETTER_AGAIN_S)
    {
        longer.expires_at = (uint32_t) (record->stored_at + SYM_BETTER_AGAIN_S);
    }

    if (sym_module_expired(&longer, c->now_s)) {
        c->is_unasked_best = true;
    } else {
        c->until_best = earlier(c->until_best, longer.expires_at);
    }

    if (sym_module_state_weight(record->state)
        > sym_module_state_weight(c->missing.state))
    {
        c->missing = (sym_choice_t){ .state = record->state,
                                     .source = source,
                                     .record = *record };
    }
}


/* Reads the source's record under the spelling; false: none that counts. */
static bool
is_spelling_asked(choosing_t *c, sym_str_t scope, uint32_t source,
                  const sym_ref_key_t *k, sym_error_t *err)
{
    sym_module_key_t other = { .scope = scope,
                               .name = k->key.name,
                               .id = k->asked.spelling };
    sym_object_record_t record;

    if (find_counting(c->s, &other, c->kind, &k->key, &record, err) != SYM_OK
        || sym_module_expired(&record, c->now_s))
    {
        return false;
    }

    weigh_missing(c, source, &record);
    return true;
}


static sym_status_t
weigh_negative(choosing_t *c, sym_str_t scope, uint32_t source,
               sym_error_t *err)
{
    sym_object_record_t record;
    sym_ref_key_t k;
    sym_status_t rc =
        sym_snapshot_negative(c->s, scope, c->ref, c->kind, &record, err);

    if (rc == SYM_NOT_FOUND) {
        c->is_unasked |= scope.len != 0;
        c->is_unasked_best |= scope.len != 0;
        return SYM_OK;
    }

    if (rc != SYM_OK) {
        return rc;
    }

    weigh_missing(c, source, &record);
    if (c->ref->sent.len != 0 && record.state == SYM_MODULE_ABSENT
        && sym_ref_key(c->ref, &k) && k.asked.spelling.len != 0
        && !is_spelling_asked(c, scope, source, &k, err))
    {
        c->is_unspelled = true;
    }

    return err->status;
}


/* Weighs one source; SYM_OK for any result. */
static sym_status_t
weigh(choosing_t *c, sym_str_t scope, uint32_t source, sym_error_t *err)
{
    sym_object_record_t record;
    sym_status_t rc =
        sym_snapshot_object(c->s, scope, c->ref, c->kind, &record, err);

    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? weigh_negative(c, scope, source, err) : rc;
    }

    if (record.state != SYM_MODULE_READY) {
        if (!sym_module_expired(&record, c->now_s)) {
            weigh_missing(c, source, &record);
        }
    } else if (!sym_snapshot_is_unsound(c->s, record.module_id)) {
        weigh_ready(c, source, &record);
    } else {
        /* a damaged module must be fetched again */
        c->is_unasked |= scope.len != 0;
        c->is_unasked_best |= scope.len != 0;
    }

    return SYM_OK;
}


static bool
is_settled(const choosing_t *c)
{
    return c->ready.state != 0 && !sym_object_is_poor(&c->ready.record);
}


sym_status_t
sym_snapshot_choose(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                    const sym_object_ref_t *ref, sym_kind_t kind, int64_t now_s,
                    sym_choice_t *choice, sym_error_t *err)
{
    choosing_t c = { .s = snapshot, .ref = ref, .kind = kind, .now_s = now_s };

    *choice = (sym_choice_t){ 0 };
    for (uint32_t i = 0; i < scopes->n && !is_settled(&c); i++) {
        sym_status_t rc = weigh(&c, scopes->names[i], i, err);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    if (c.ready.state != 0) {
        *choice = c.ready;
        if (!is_settled(&c)) {
            choice->is_open = c.is_unasked_best;
            choice->until = c.until_best;
        }
        return SYM_OK;
    }

    if (c.is_unasked || c.missing.state == 0) {
        return SYM_NOT_FOUND;
    }

    *choice = c.missing;
    choice->is_open = c.is_unspelled;
    choice->until = c.until;
    return SYM_OK;
}
