#include "daemon/expiry.h"

#include <inttypes.h>
#include <time.h>

#include "common/say.h"

/* Interval of sweeps, which is long because a sweep reads the complete
   directory.  Modules may stay longer by this time. */
#define PERIOD_MAX_S 3600


int
expiry_wait_ms(const expiry_t *expiry, int64_t now_ms)
{
    if (expiry->max_unused_s == 0) {
        return -1;
    }

    return expiry->next_at_ms > now_ms ? (int) (expiry->next_at_ms - now_ms)
                                       : 0;
}


static bool
is_unused(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    const int64_t *since = ctx;

    (void) scope;
    return sym_module_last_s(record) < *since;
}


sym_status_t
expiry_sweep(expiry_t *expiry, int64_t now_ms, sym_error_t *err)
{
    int64_t since = (int64_t) time(NULL) - (int64_t) expiry->max_unused_s;
    uint32_t period_s = expiry->max_unused_s < PERIOD_MAX_S
                            ? expiry->max_unused_s
                            : PERIOD_MAX_S;
    uint64_t n = 0;
    sym_status_t rc;

    if (expiry_wait_ms(expiry, now_ms) != 0) {
        return SYM_OK;
    }

    rc = sym_store_drop(expiry->store, is_unused, &since, &n, err);
    expiry->next_at_ms = now_ms + (int64_t) period_s * 1000;
    expiry->dropped += n;

    if (n > 0) {
        complain_about("serve",
                       "%" PRIu64 " modules dropped: not used for so "
                       "long (--max-unused)",
                       n);
    }

    return rc;
}
