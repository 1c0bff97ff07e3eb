#include "daemon/heal.h"

#include <stdio.h>
#include <time.h>

#include "common/say.h"

/* Time until a sound module is verified again. */
#define SOUND_MS 10000

/* Lifetime of a tombstone: the record of why a module loaded by hand is
 * missing. */
#define GONE_TTL_S ((uint32_t) 30 * 86400)

/* A copy of a record, which outlives its snapshot. */
typedef struct {
    sym_object_record_t record;
    char name[SYM_NAME_MAX];
} damaged_t;

static bool
is_sound(heal_t *h, sym_snapshot_t *snapshot, const sym_object_record_t *record,
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


/* SYM_NOT_FOUND: it is not stored, or it is sound. */
static sym_status_t
find_damaged(heal_t *h, sym_str_t scope, const sym_object_ref_t *ref,
             sym_kind_t kind, int64_t now_ms, damaged_t *damaged,
             sym_error_t *err)
{
    sym_object_record_t *record = &damaged->record;
    sym_snapshot_t *snapshot;
    sym_status_t rc = sym_snapshot_begin(h->store, &snapshot, err);
    char *name = damaged->name;

    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_object(snapshot, scope, ref, kind, record, err);

    if (rc == SYM_OK
        && (record->state != SYM_MODULE_READY
            || is_sound(h, snapshot, record, now_ms)))
    {
        rc = SYM_NOT_FOUND;
    }

    if (rc == SYM_OK) {
        record->object.name = sym_str_append(&name, record->object.name);
        record->path = SYM_STR("");
    }

    sym_snapshot_end(snapshot);
    return rc;
}


/* Replaces a module loaded by hand with a tombstone. */
static sym_status_t
bury(sym_store_t *store, const damaged_t *damaged, sym_error_t *err)
{
    const sym_object_record_t record = {
        .object = damaged->record.object,
        .state = SYM_MODULE_MALFORMED,
        .kind_version = damaged->record.kind_version,
        .expires_at = (uint32_t) time(NULL) + GONE_TTL_S,
        .reason =
            SYM_STR(SYM_UNSOUND_REASON " and were removed; load them again"),
    };
    const sym_object_put_t put = { .scope = SYM_STR(SYM_SCOPE_LOCAL),
                                   .record = &record };
    sym_ingest_t *ingest;
    bool is_kept;

    return sym_ingest_begin_object(store, damaged->record.kind, &ingest, err)
                       == SYM_OK
                   && sym_ingest_put_object(ingest, &put, &is_kept, err)
                          == SYM_OK
               ? sym_ingest_finish(ingest, err)
               : err->status;
}


static sym_status_t
heal_kind(heal_t *h, sym_str_t scope, const sym_object_ref_t *ref,
          sym_kind_t kind, int64_t now_ms, sym_error_t *err)
{
    char subject[SYM_NAME_MAX + SYM_CODE_ID_MAX + 2], id[SYM_CODE_ID_MAX];
    damaged_t damaged;
    sym_object_key_t *object = &damaged.record.object;
    sym_status_t rc = find_damaged(h, scope, ref, kind, now_ms, &damaged, err);
    sym_str_t shown;

    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    shown = sym_object_shown_id(object, id);
    snprintf(subject, sizeof(subject), "%.*s/%.*s", (int) object->name.len,
             object->name.data, (int) shown.len, shown.data);
    complain_about(subject, "removed: %s", SYM_UNSOUND_REASON);

    if (scope.len == 0) {
        return bury(h->store, &damaged, err);
    }

    (void) sym_store_remove_objects(h->store, &scope, ref, kind, err);
    return err->status;
}


static sym_status_t
heal_one(heal_t *h, sym_str_t scope, const sym_object_ref_t *ref,
         int64_t now_ms, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; i < SYM_KINDS && rc == SYM_OK; i++) {
        rc = heal_kind(h, scope, ref, sym_kinds[i]->kind, now_ms, err);
    }

    return rc;
}


sym_status_t
heal_module(heal_t *h, sym_str_t scope, const sym_object_ref_t *ref,
            int64_t now_ms, sym_error_t *err)
{
    sym_status_t rc = heal_one(h, SYM_STR(SYM_SCOPE_LOCAL), ref, now_ms, err);

    return rc == SYM_OK && scope.len != 0 ? heal_one(h, scope, ref, now_ms, err)
                                          : rc;
}
