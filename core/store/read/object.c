/*
 * Finds objects in a snapshot by reference, at one source and at several.
 */
#include "store/tables.h"

/* Maximum number of entries that are examined for one id: a file may have
 * several names. */
#define ENTRIES_MAX (16 * SYM_KINDS)

typedef struct {
    sym_snapshot_t *s;
    sym_str_t scope;
    const sym_object_ref_t *ref;
    sym_kind_t kind; /* SYM_KIND_ALL: all */
    sym_object_each_pt fn;
    void *ctx;
    const sym_object_record_t
        *best; /* if not NULL, an id with a good artifact ends the search */
    MDB_cursor *cursor;
    char *prefix; /* prefix of keys with the id */
    size_t prefix_len;
    sym_str_t name;  /* the reference's name, or "" */
    bool is_by_name; /* names in keys must equal the reference's */
    sym_status_t status;
} search_t;


/* Reads the record of an entry; MDB_NOTFOUND: missing, or unreadable. */
static int
read_entry(search_t *q, const sym_object_entry_t *e, const MDB_val *k,
           const MDB_val *v, sym_object_record_t *record)
{
    char buf[OBJECT_KEY_MAX];
    MDB_val key = *k, val = *v;
    int rc = 0;

    if (e->first.len != 0) {
        key = (MDB_val){ sym_object_key_of_entry(e, buf), buf };
        rc = mdb_get(q->s->txn, q->s->store->objects, &key, &val);
    }

    if (rc != 0) {
        return rc;
    }

    if (sym_object_read(&key, &val, record) != SYM_OK) {
        return MDB_NOTFOUND;
    }

    record->used_at = sym_clock_read(&q->s->store->clock, record->slot);
    return 0;
}


/* Passes the object of an entry to fn if it matches. */
static int
consider(search_t *q, const MDB_val *k, const MDB_val *v)
{
    sym_store_id_t ids[OBJECT_IDS_MAX];
    sym_object_record_t record;
    sym_object_entry_t e;
    int rc;

    if (!sym_object_key_parse(k, &e)) {
        return MDB_CORRUPTED;
    }

    if ((q->kind != SYM_KIND_ALL && e.kind != q->kind)
        || (q->is_by_name && e.name.len != 0 && !sym_str_eq(e.name, q->name)))
    {
        return 0;
    }

    rc = read_entry(q, &e, k, v, &record);
    if (rc == 0
        && sym_store_ids_match(q->ref, ids,
                               sym_object_file_ids(&record.object, ids)))
    {
        q->status = q->fn(q->ctx, q->scope, &record);
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


static bool
has_prefix(const search_t *q, const MDB_val *k)
{
    return k->mv_size > q->prefix_len
           && memcmp(k->mv_data, q->prefix, q->prefix_len) == 0;
}


/* Scans all entries, starting at the first `from_len` bytes of the prefix. */
static int
scan(search_t *q, size_t from_len, unsigned most)
{
    MDB_val k = { from_len, q->prefix }, v;
    int rc = mdb_cursor_get(q->cursor, &k, &v, MDB_SET_RANGE);

    while (rc == 0 && has_prefix(q, &k) && most-- != 0) {
        rc = consider(q, &k, &v);
        if (rc != 0 || q->status != SYM_OK) {
            return rc;
        }
        rc = mdb_cursor_get(q->cursor, &k, &v, MDB_NEXT);
    }

    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Entries without a name sort first.  If there are others before the
 * reference's name, searches for that name directly. */
static int
scan_name(search_t *q)
{
    sym_str_t name = q->name;
    size_t len = q->prefix_len;
    MDB_val k = { len, q->prefix }, v;
    sym_object_entry_t e;
    int rc = mdb_cursor_get(q->cursor, &k, &v, MDB_SET_RANGE);

    for (unsigned i = 0; rc == 0 && has_prefix(q, &k) && i <= SYM_KINDS; i++) {
        if (!sym_object_key_parse(&k, &e)) {
            return MDB_CORRUPTED;
        }
        if (e.name.len != 0 && sym_str_cmp(e.name, name) < 0) {
            break;
        }

        rc = consider(q, &k, &v);
        if (rc != 0 || q->status != SYM_OK || sym_str_cmp(e.name, name) > 0) {
            return rc;
        }
        rc = mdb_cursor_get(q->cursor, &k, &v, MDB_NEXT);
    }

    if (rc != 0 || !has_prefix(q, &k) || name.len == 0
        || name.len > SYM_NAME_MAX) {
        return rc == MDB_NOTFOUND ? 0 : rc;
    }

    memcpy(q->prefix + len, name.data, name.len);
    q->prefix[len + name.len] = '\0';
    q->prefix_len = len + name.len + 1;
    rc = scan(q, q->prefix_len, SYM_KINDS);
    q->prefix_len = len;
    return rc;
}


static int
search_id(search_t *q, const sym_key_id_t *id, size_t len, bool is_by_name)
{
    q->is_by_name = is_by_name;
    q->prefix_len =
        sym_object_prefix(q->scope, id, q->prefix) - (id->len - len);
    return is_by_name && len == id->len ? scan_name(q)
                                        : scan(q, q->prefix_len, ENTRIES_MAX);
}


static int
search_debug_id(search_t *q, const sym_debug_id_t *debug_id, bool is_by_name)
{
    sym_key_id_t id = sym_key_id_debug(debug_id);
    bool has_any_age =
        debug_id->form == SYM_DEBUG_ID_UUID && debug_id->age == SYM_AGE_ANY;

    return search_id(q, &id, has_any_age ? 1 + SYM_UUID_BYTES : id.len,
                     is_by_name);
}


/* Searches by the debug id derived from a build id: a .sym file may have no
 * other id. */
static int
search_derived(search_t *q)
{
    const sym_object_ref_t *ref = q->ref;
    sym_store_id_t code = sym_store_id_code(&ref->code_id);
    sym_object_ref_t own = { .code_id = ref->code_id };
    int rc;

    sym_debug_id_of_build_id(code.bytes, SYM_UUID_BYTES, false, &own.debug_id);
    q->ref = &own;
    rc = search_debug_id(q, &own.debug_id, false);
    q->ref = ref;
    return rc;
}


/* Whether to search for the next id, too. */
static bool
goes_on(const search_t *q, int rc)
{
    return rc == 0 && q->status == SYM_OK
           && (q->best == NULL || q->best->state != SYM_MODULE_READY
               || sym_object_is_poor(q->best));
}


static int
search_code_id(search_t *q)
{
    const sym_object_ref_t *ref = q->ref;
    sym_key_id_t id = sym_key_id_code(&ref->code_id);
    int rc = search_id(q, &id, id.len, false);

    /* the reference's debug id, if any, must match */
    return goes_on(q, rc)
                   && (ref->is_either
                       || ref->debug_id.form == SYM_DEBUG_ID_NONE)
                   && ref->code_id.len >= 2 * SYM_UUID_BYTES
                   && ref->code_id.len % 2 == 0
               ? search_derived(q)
               : rc;
}


static int
search_bytes(search_t *q, char form, const uint8_t bytes[16])
{
    sym_key_id_t id = sym_key_id_bytes(form, bytes);

    return search_id(q, &id, id.len, false);
}


static int
search_ids(search_t *q)
{
    const sym_object_ref_t *ref = q->ref;
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    int rc = 0;

    if (ref->has_digest) {
        return search_bytes(q, SYM_STORE_ID_DIGEST, ref->digest);
    }

    if (ref->url.len != 0) {
        return sym_object_ref_digest(ref, digest)
                   ? search_bytes(q, SYM_STORE_ID_DIGEST, digest)
                   : 0;
    }

    if (ref->debug_id.form != SYM_DEBUG_ID_NONE) {
        rc = search_debug_id(q, &ref->debug_id, q->name.len != 0);
    }

    if (goes_on(q, rc) && ref->code_id.len != 0) {
        rc = search_code_id(q);
    }

    if (goes_on(q, rc) && ref->has_file_id) {
        rc = search_bytes(q, SYM_STORE_ID_FILE, ref->file_id);
    }

    return rc;
}


static sym_status_t
search(search_t *q, sym_error_t *err)
{
    char prefix[OBJECT_KEY_MAX];
    int rc = 0;

    if (q->scope.len <= SYM_SCOPE_MAX) {
        q->prefix = prefix;
        q->name = sym_object_ref_name(q->ref);
        rc = search_ids(q);
    }

    return rc == 0 ? q->status
                   : sym_lmdb_fail(err, "cannot read the objects", rc);
}


sym_status_t
sym_snapshot_matches(sym_snapshot_t *s, sym_str_t scope,
                     const sym_object_ref_t *ref, sym_object_each_pt fn,
                     void *ctx, sym_error_t *err)
{
    search_t q = { .s = s, .scope = scope, .ref = ref, .fn = fn, .ctx = ctx };
    int rc = mdb_cursor_open(s->txn, s->store->objects, &q.cursor);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the objects", rc);
    }

    (void) search(&q, err);
    mdb_cursor_close(q.cursor);
    return err->status != SYM_OK ? err->status : q.status;
}


/* Returns the best readable artifact, or else a tombstone. */
static sym_status_t
keep_best(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    sym_object_record_t *best = ctx;
    bool is_ready = record->state == SYM_MODULE_READY;

    (void) scope;
    if (is_ready && !sym_kind_reads(record->kind, record->kind_version)) {
        return SYM_OK;
    }

    if (best->state == 0 || (is_ready && best->state != SYM_MODULE_READY)
        || (is_ready && record->quality > best->quality))
    {
        *best = *record;
    }

    return SYM_OK;
}


sym_status_t
sym_snapshot_object(sym_snapshot_t *s, sym_str_t scope,
                    const sym_object_ref_t *ref, sym_kind_t kind,
                    sym_object_record_t *record, sym_error_t *err)
{
    search_t q = { .s = s,
                   .scope = scope,
                   .ref = ref,
                   .kind = kind,
                   .fn = keep_best,
                   .ctx = record,
                   .best = record };

    int rc = sym_snapshot_objects_cursor(s, &q.cursor);

    record->state = 0;
    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the objects", rc);
    }

    (void) search(&q, err);
    return err->status != SYM_OK ? err->status
           : record->state != 0  ? SYM_OK
                                 : SYM_NOT_FOUND;
}


/* --- several sources --- */

static void
weigh(sym_choice_t *c, uint32_t source, const sym_settled_t *settled)
{
    if (settled->open != 0) {
        c->is_open = true;
        return;
    }

    if (settled->until != 0 && (c->until == 0 || settled->until < c->until)) {
        c->until = settled->until;
    }

    if (c->state != SYM_MODULE_READY
        && sym_module_state_weight(settled->state)
               > sym_module_state_weight(c->state))
    {
        c->state = settled->state;
        c->source = source;
        c->reason = settled->reason;
    }
}


/* Returns true if the record ends the search. */
static bool
weigh_record(sym_choice_t *c, uint32_t source,
             const sym_object_record_t *record)
{
    if (c->state != SYM_MODULE_READY || record->quality > c->record.quality) {
        c->state = SYM_MODULE_READY;
        c->source = source;
        c->record = *record;
    }

    return !sym_object_is_poor(record);
}


/* SYM_NOT_FOUND: no artifact, or a damaged one, which must be fetched again. */
static sym_status_t
find_sound(sym_snapshot_t *s, sym_str_t scope, const sym_object_ref_t *ref,
           sym_kind_t kind, sym_object_record_t *record, sym_error_t *err)
{
    sym_status_t rc = sym_snapshot_object(s, scope, ref, kind, record, err);

    return rc == SYM_OK && record->state == SYM_MODULE_READY
                   && sym_snapshot_is_unsound(s, record->module_id)
               ? SYM_NOT_FOUND
               : rc;
}


/* Looks for artifacts at all sources first: the meaning of places depends on
   whether the artifact is poor. */
static sym_status_t
choose_record(sym_snapshot_t *s, const sym_scopes_t *scopes,
              const sym_asking_t *asking, sym_choice_t *c, sym_error_t *err)
{
    for (uint32_t i = 0; i < scopes->n; i++) {
        sym_object_record_t record;
        sym_status_t rc = find_sound(s, scopes->names[i], asking->ref,
                                     asking->kind, &record, err);

        if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
            return rc;
        }

        if (rc == SYM_OK && record.state == SYM_MODULE_READY) {
            if (weigh_record(c, i, &record)) {
                return SYM_OK;
            }
        } else if (rc == SYM_OK
                   && (record.expires_at == 0
                       || record.expires_at > asking->now_s))
        {
            weigh(c, i,
                  &(sym_settled_t){ .state = record.state,
                                    .until = record.expires_at,
                                    .reason = record.reason });
        }
    }

    return SYM_OK;
}


/* Adds the state of one source's places. */
static sym_status_t
choose_places(sym_snapshot_t *s, const sym_places_t *places, uint32_t n,
              sym_asking_t *asking, sym_choice_t *c, sym_error_t *err)
{
    sym_object_record_t record;
    sym_settled_t settled;

    /* if the artifact is good, places do not matter */
    asking->has_artifact =
        asking->is_poor
        && find_sound(s, places->scope, asking->ref, asking->kind, &record, err)
               == SYM_OK
        && record.state == SYM_MODULE_READY;

    if (err->status == SYM_OK
        && sym_snapshot_settle(s, places, asking, &settled, err) == SYM_OK)
    {
        weigh(c, n, &settled);
    }

    return err->status;
}


sym_status_t
sym_snapshot_choose_object(sym_snapshot_t *s, const sym_scopes_t *scopes,
                           const sym_object_ref_t *ref, sym_kind_t kind,
                           sym_places_pt plan, void *ctx, int64_t now_s,
                           sym_choice_t *c, sym_error_t *err)
{
    sym_asking_t asking = {
        .ref = ref, .kind = kind, .reader = sym_kinds_reader(), .now_s = now_s
    };

    *c = (sym_choice_t){ .state = 0 };
    if (choose_record(s, scopes, &asking, c, err) != SYM_OK) {
        return err->status;
    }

    asking.is_poor = c->state == SYM_MODULE_READY;
    if (asking.is_poor && !sym_object_is_poor(&c->record)) {
        return SYM_OK;
    }

    for (uint32_t i = 0; i < scopes->n; i++) {
        sym_places_t places;

        /* modules loaded by hand have no source to search */
        if (scopes->names[i].len != 0 && plan(ctx, i, &places)
            && choose_places(s, &places, i, &asking, c, err) != SYM_OK)
        {
            return err->status;
        }
    }

    return c->state == SYM_MODULE_READY || (!c->is_open && c->state != 0)
               ? SYM_OK
               : SYM_NOT_FOUND;
}
