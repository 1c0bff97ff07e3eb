#include "daemon/heal.h"

#include <stdio.h>
#include <string.h>

#include "daemon/fetch_result.h"
#include "common/say.h"

/* Time until a sound module is verified again. */
#define SOUND_MS 10000

/* Lifetime of the record that says why a module loaded by hand is missing. */
#define GONE_TTL_S ((uint32_t) 30 * 86400)

/* A copy of a key, which outlives its snapshot. */
typedef struct {
    sym_module_key_t key;
    char text[SYM_STORE_KEY_MAX];
} kept_key_t;

static sym_str_t
keep_text(kept_key_t *kept, size_t *at, sym_str_t text)
{
    sym_str_t copy = { kept->text + *at, text.len };

    if (text.len != 0) {
        memcpy(kept->text + *at, text.data, text.len);
    }

    *at += text.len;
    return copy;
}


static void
keep_key(kept_key_t *kept, const sym_module_key_t *key)
{
    size_t at = 0;

    kept->key = (sym_module_key_t){ .scope = keep_text(kept, &at, key->scope) };
    kept->key.name = keep_text(kept, &at, key->name);
    kept->key.id = keep_text(kept, &at, key->id);
}


static bool
is_sound(heal_t *h, sym_snapshot_t *snapshot, const sym_module_record_t *record,
         int64_t now_ms)
{
    heal_sound_t *known = &h->sound[record->module_id % HEAL_REMEMBERED];

    if (known->module_id == record->module_id
        && now_ms - known->at_ms < SOUND_MS) {
        return true;
    }

    if (!sym_snapshot_is_sound(snapshot, record)) {
        return false;
    }

    *known = (heal_sound_t){ record->module_id, now_ms };
    return true;
}


/* SYM_NOT_FOUND: not stored, or sound. */
static sym_status_t
find_damaged(heal_t *h, const sym_module_key_t *key, sym_kind_t kind,
             int64_t now_ms, kept_key_t *damaged, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_module_record_t record;
    sym_module_key_t found;
    sym_status_t rc = sym_snapshot_begin(h->store, &snapshot, err);

    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_find_read(snapshot, key, kind, &found, &record, err);

    if (rc == SYM_OK
        && (record.state != SYM_MODULE_READY
            || is_sound(h, snapshot, &record, now_ms)))
    {
        rc = SYM_NOT_FOUND;
    }

    if (rc == SYM_OK) {
        keep_key(damaged, &found);
    }

    sym_snapshot_end(snapshot);
    return rc;
}


static sym_status_t
note_gone(sym_store_t *store, const sym_module_key_t *key, sym_kind_t kind,
          sym_error_t *err)
{
    sym_ingest_t *ingest;
    fetch_result_t o;

    fetch_result_set(
        &o, SYM_MODULE_MALFORMED, GONE_TTL_S,
        SYM_STR(SYM_UNSOUND_REASON " and were removed; load them again"));

    if (fetch_result_put(store, key, kind, SYM_STR(""), &o, &ingest, err)
            == SYM_OK
        && ingest != NULL)
    {
        (void) sym_ingest_finish(ingest, err);
    }

    return err->status;
}


static sym_status_t
heal_kind(heal_t *h, const sym_module_key_t *key, sym_kind_t kind,
          int64_t now_ms, sym_error_t *err)
{
    char subject[SYM_NAME_MAX + SYM_ID_MAX + 2];
    kept_key_t damaged;
    sym_status_t rc = find_damaged(h, key, kind, now_ms, &damaged, err);

    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    snprintf(subject, sizeof(subject), "%.*s/%.*s", (int) damaged.key.name.len,
             damaged.key.name.data, (int) damaged.key.id.len,
             damaged.key.id.data);
    complain_about(subject, "removed: %s", SYM_UNSOUND_REASON);

    rc = sym_store_remove(h->store, &damaged.key, kind, err);
    return rc == SYM_OK && key->scope.len == 0
               ? note_gone(h->store, key, kind, err)
               : err->status;
}


static sym_status_t
heal_one(heal_t *h, const sym_module_key_t *key, int64_t now_ms,
         sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; i < SYM_KINDS && rc == SYM_OK; i++) {
        rc = heal_kind(h, key, sym_kinds[i]->kind, now_ms, err);
    }

    return rc;
}


sym_status_t
heal_module(heal_t *h, const sym_module_key_t *key, int64_t now_ms,
            sym_error_t *err)
{
    char id[SYM_ID_MAX];
    sym_module_key_t own = *key, by_hand;
    sym_status_t rc;

    own.id = sym_str(id, sym_debug_id_canonical(key->id, id));
    own.variant = SYM_STR("");
    by_hand = own;
    by_hand.scope = SYM_STR("");

    rc = heal_one(h, &by_hand, now_ms, err);
    return rc == SYM_OK && own.scope.len != 0 ? heal_one(h, &own, now_ms, err)
                                              : rc;
}
