#include "daemon/fetch_result.h"

#include <sys/random.h>

#include "store/write_object.h"

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


uint32_t
fetch_result_jitter(uint32_t ttl_s)
{
    uint32_t random = 0;

    ttl_s = ttl_s < FETCH_TTL_MAX_S ? ttl_s : FETCH_TTL_MAX_S;
    if (ttl_s < 2 || getrandom(&random, sizeof(random), 0) < 0) {
        return ttl_s;
    }

    return ttl_s - ttl_s / 4 + random % (ttl_s / 2 + 1);
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
    return sym_store_clear_stale(store, is_path_stale, store, dropped, err);
}
