/*
 * Records belong to their source, and a location sees those of some sources.
 * This file decides which of them count.
 */
#include "store/env.h"

typedef struct {
    const sym_scopes_t *scopes;
    sym_kind_t kind;
    const sym_asked_t *asked;
    int64_t now_s;

    sym_module_key_t ready_key, missing_key;
    sym_module_record_t ready, missing; /* state 0: none */
    bool is_unasked;                    /* a source has no record that counts */
    bool is_unasked_best; /* ... nor one that counts if the artifact is poor */
    bool is_unspelled;    /* a source was not asked under the spelling */
    uint32_t until, until_best;
} choice_t;


static uint32_t
earlier(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}


static void
weigh_ready(choice_t *c, const sym_module_key_t *key,
            const sym_module_record_t *record)
{
    if (c->ready.state == 0 || record->quality > c->ready.quality) {
        c->ready_key = *key;
        c->ready = *record;
    }
}


static void
weigh_missing(choice_t *c, const sym_module_key_t *key,
              const sym_module_record_t *record)
{
    sym_module_record_t longer = *record;

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
        c->missing_key = *key;
        c->missing = *record;
    }
}


/* Reads the source's record under the spelling; false: none that counts. */
static bool
is_spelling_asked(sym_snapshot_t *s, choice_t *c, const sym_module_key_t *key,
                  sym_error_t *err)
{
    sym_module_key_t other = { .scope = key->scope,
                               .name = key->name,
                               .id = c->asked->spelling };
    sym_module_record_t record;

    if (sym_snapshot_find(s, &other, c->kind, &record, err) != SYM_OK
        || record.state == SYM_MODULE_READY
        || !sym_module_record_counts(&record, key)
        || sym_module_expired(&record, c->now_s))
    {
        return false;
    }

    weigh_missing(c, &other, &record);
    return true;
}


/* Weighs one source; SYM_OK for any result. */
static sym_status_t
weigh(sym_snapshot_t *s, choice_t *c, const sym_module_key_t *key,
      sym_error_t *err)
{
    sym_module_key_t found;
    sym_module_record_t record;
    sym_status_t rc = sym_snapshot_find_asked(s, key, c->kind, c->asked->object,
                                              &found, &record, err);

    /* a damaged module must be fetched again */
    if (rc == SYM_NOT_FOUND
        || (rc == SYM_OK && record.state == SYM_MODULE_READY
            && sym_snapshot_is_unsound(s, record.module_id)))
    {
        c->is_unasked |= key->scope.len != 0;
        c->is_unasked_best |= key->scope.len != 0;
        return SYM_OK;
    }

    if (rc != SYM_OK) {
        return rc;
    }

    if (record.state == SYM_MODULE_READY) {
        weigh_ready(c, &found, &record);
        return SYM_OK;
    }

    weigh_missing(c, &found, &record);
    if (c->asked->spelling.len != 0 && record.state == SYM_MODULE_ABSENT
        && !is_spelling_asked(s, c, key, err))
    {
        c->is_unspelled = true;
    }

    return err->status;
}


static bool
is_settled(const choice_t *c)
{
    return c->ready.state != 0 && !sym_module_is_poor(&c->ready);
}


sym_status_t
sym_snapshot_choose(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                    const sym_module_key_t *key, sym_kind_t kind,
                    const sym_asked_t *asked, int64_t now_s,
                    sym_module_key_t *found, sym_module_record_t *record,
                    sym_outlook_t *outlook, sym_error_t *err)
{
    static const sym_asked_t canonical = { { "", 0 }, NULL };
    choice_t c = { .scopes = scopes,
                   .kind = kind,
                   .asked = asked != NULL ? asked : &canonical,
                   .now_s = now_s };

    *outlook = (sym_outlook_t){ 0 };
    for (uint32_t i = 0; i < scopes->n && !is_settled(&c); i++) {
        sym_module_key_t one = *key;
        sym_status_t rc;

        one.scope = scopes->names[i];
        rc = weigh(snapshot, &c, &one, err);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    if (c.ready.state != 0) {
        *found = c.ready_key;
        *record = c.ready;
        if (!is_settled(&c)) {
            *outlook = (sym_outlook_t){ c.is_unasked_best, c.until_best };
        }
        return SYM_OK;
    }

    if (c.is_unasked || c.missing.state == 0) {
        return SYM_NOT_FOUND;
    }

    *found = c.missing_key;
    *record = c.missing;
    *outlook = (sym_outlook_t){ c.is_unspelled, c.until };
    return SYM_OK;
}


/* The first key of the next scope. */
static MDB_val
behind_scope(sym_str_t scope, char buf[RECORD_KEY_MAX])
{
    if (scope.len != 0) {
        memcpy(buf, scope.data, scope.len);
    }
    buf[scope.len] = '\1'; /* in the scope's own keys this byte is a NUL */
    return (MDB_val){ scope.len + 1, buf };
}


sym_status_t
sym_snapshot_scopes(sym_snapshot_t *snapshot, sym_scope_each_pt fn, void *ctx,
                    sym_error_t *err)
{
    char buf[RECORD_KEY_MAX];
    sym_status_t status = SYM_OK;
    sym_module_key_t key;
    sym_kind_t kind;
    sym_str_t last = { 0 };
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc =
        mdb_cursor_open(snapshot->txn, snapshot->store->directory, &cursor);

    if (rc != 0) {
        return sym_lmdb_fail(err, "cannot read the directory", rc);
    }

    rc = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
    while (rc == 0 && status == SYM_OK) {
        /* without this check a damaged tree could lead us in circles */
        if (!sym_record_key_read(&k, &key, &kind)
            || (last.data != NULL && sym_str_cmp(last, key.scope) >= 0))
        {
            rc = MDB_CORRUPTED;
            break;
        }

        last = key.scope;
        status = fn(ctx, last);
        k = behind_scope(last, buf);
        rc = status == SYM_OK ? mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE)
                              : rc;
    }

    mdb_cursor_close(cursor);
    return rc == 0 || rc == MDB_NOTFOUND
               ? status
               : sym_lmdb_fail(err, "cannot read the directory", rc);
}
