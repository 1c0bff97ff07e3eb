#include "daemon/fetch_result.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "common/options.h"
#include "store/write_object.h"

/* The version of the reader that could not read a file. */
#define READER_VERSION SYMLOADER_VERSION_NUMBER

/* Keeps sums of times far from overflow; longer values are meaningless. */
#define TTL_MAX_S ((uint32_t) 10 * 366 * 86400)

void
fetch_result_set(fetch_result_t *o, sym_module_state_t state, uint32_t ttl_s,
                 sym_str_t reason)
{
    o->state = state;
    o->is_poor = false;
    o->ttl_s = ttl_s;
    o->is_too_large = false;
    o->reason_len =
        reason.len < sizeof(o->reason) ? reason.len : sizeof(o->reason);

    if (o->reason_len != 0) {
        memmove(o->reason, reason.data, o->reason_len);
    }
}


uint32_t
fetch_result_ttl(const sym_rpc_ttl_t *ttl, sym_module_state_t state)
{
    return state == SYM_MODULE_ABSENT      ? ttl->absent
           : state == SYM_MODULE_MALFORMED ? ttl->malformed
                                           : ttl->failed;
}


void
fetch_result_message(const fetch_result_t *o, uint32_t ticket,
                     sym_rpc_message_t *m)
{
    *m = (sym_rpc_message_t){ .type = SYM_RPC_READY, .ticket = ticket };

    if (o->state == SYM_MODULE_READY) {
        m->flags = o->is_poor ? SYM_RPC_POOR : 0;
        return;
    }

    m->type = SYM_RPC_NEGATIVE;
    m->state = o->state;
    m->text = sym_str(o->reason, o->reason_len);

    if (o->state == SYM_MODULE_ABSENT) {
        m->ttl.absent = o->ttl_s;
    } else if (o->state == SYM_MODULE_MALFORMED) {
        m->ttl.malformed = o->ttl_s;
    } else {
        m->ttl.failed = o->ttl_s;
    }
}


/* --- finding --- */

/* Another version failed to read the file; this one may be able to. */
static bool
is_foreign(const sym_object_record_t *record)
{
    return record->state == SYM_MODULE_MALFORMED
           && record->kind_version != READER_VERSION;
}


/* False: the record no longer counts. */
static bool
read_record(const sym_object_record_t *record, fetch_result_t *o)
{
    uint32_t now = (uint32_t) time(NULL), left = TTL_MAX_S;

    if (record->state != SYM_MODULE_READY
        && (is_foreign(record) || sym_module_expired(record, (int64_t) now)))
    {
        return false;
    }

    if (record->expires_at != 0 && record->expires_at - now < left) {
        left = record->expires_at - now;
    }

    fetch_result_set(o, record->state, left, record->reason);
    o->is_poor = sym_object_is_poor(record);
    return true;
}


/* Other spellings and variants have only records of absence. */
static sym_status_t
find_record(sym_snapshot_t *snapshot, const sym_module_key_t *asked,
            sym_kind_t kind, sym_object_record_t *record, sym_error_t *err)
{
    char id[SYM_ID_MAX];
    sym_module_key_t key = *asked;
    sym_object_ref_t ref;
    sym_status_t rc;

    sym_object_ref_of_key(asked, &ref);
    rc = sym_snapshot_object(snapshot, key.scope, &ref, kind, record, err);
    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    key.id = sym_str(id, sym_debug_id_canonical(asked->id, id));
    if (asked->variant.len != 0) {
        key.id = asked->variant;
        return sym_snapshot_find(snapshot, &key, kind, record, err);
    }

    rc = sym_snapshot_find(snapshot, asked, kind, record, err);
    return rc == SYM_OK && !sym_module_record_counts(record, asked)
               ? SYM_NOT_FOUND
               : rc;
}


sym_status_t
fetch_result_find(sym_store_t *store, const sym_module_key_t *key,
                  sym_kind_t kind, fetch_result_t *o, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_object_record_t record;
    sym_status_t rc = sym_snapshot_begin(store, &snapshot, err);

    if (rc != SYM_OK) {
        return rc;
    }

    rc = find_record(snapshot, key, kind, &record, err);

    if (rc == SYM_OK && !read_record(&record, o)) {
        rc = SYM_NOT_FOUND;
    }

    sym_snapshot_end(snapshot);
    return rc;
}


/* --- keeping --- */

uint32_t
fetch_result_jitter(uint32_t ttl_s)
{
    uint32_t random = 0;

    if (ttl_s < 2 || getrandom(&random, sizeof(random), 0) < 0) {
        return ttl_s;
    }

    return ttl_s - ttl_s / 4 + random % (ttl_s / 2 + 1);
}


sym_status_t
fetch_result_put(sym_store_t *store, const sym_module_key_t *key,
                 sym_kind_t kind, fetch_result_t *o, sym_ingest_t **ingest,
                 sym_error_t *err)
{
    sym_object_record_t record = { 0 };
    sym_module_key_t own = *key;
    fetch_result_t stored;

    *ingest = NULL;

    /* a deposit may have brought it */
    if (fetch_result_find(store, key, kind, &stored, err) == SYM_OK
        && stored.state == SYM_MODULE_READY)
    {
        *o = stored;
        return SYM_OK;
    }

    o->ttl_s = o->ttl_s < TTL_MAX_S ? o->ttl_s : TTL_MAX_S;

    if (o->state == SYM_MODULE_FAILED) {
        o->ttl_s = fetch_result_jitter(o->ttl_s);
    }

    if (key->variant.len != 0) {
        own.id = key->variant;
        record.path = key->id;
    }

    if (o->ttl_s == 0 || err->status != SYM_OK
        || sym_ingest_begin(store, &own, kind, ingest, err) != SYM_OK)
    {
        return err->status;
    }

    record.state = o->state;
    record.kind_version = READER_VERSION;
    record.reason = sym_str(o->reason, o->reason_len);
    /* of a missing module: the limit that it exceeded */
    record.source_bytes = o->is_too_large ? sym_store_temp_bytes(store) : 0;
    (void) sym_code_id_read(key->code_id, &record.object.code_id);
    record.expires_at = (uint32_t) time(NULL) + o->ttl_s;
    return sym_ingest_put(*ingest, &record, err);
}


/* --- stale records --- */

static bool
wants_drop(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    sym_store_t *store = ctx;

    (void) scope;
    return is_foreign(record)
           || (record->state == SYM_MODULE_MALFORMED
               && record->source_bytes != 0
               && record->source_bytes < sym_store_temp_bytes(store));
}


/* The file was too large for a smaller quota. */
static bool
is_path_stale(void *ctx, const sym_path_record_t *record)
{
    return sym_str_eq(record->word, SYM_STR(SYM_PATH_TOO_LARGE))
           && record->bytes < sym_store_temp_bytes(ctx);
}


sym_status_t
fetch_result_drop_stale(sym_store_t *store, uint64_t *dropped, sym_error_t *err)
{
    uint64_t paths;

    return sym_store_clear_stale(store, is_path_stale, store, &paths, err)
                   == SYM_OK
               ? sym_store_drop(store, wants_drop, store, dropped, err)
               : err->status;
}
