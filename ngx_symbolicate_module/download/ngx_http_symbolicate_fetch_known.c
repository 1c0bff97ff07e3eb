
/*
 * ngx_http_symbolicate_fetch_known.c - paths of companions that have records in
 * the store.
 *
 * The loader sends the open places of a module.  A companion may be at any
 * source of a location; only the worker knows these sources, so it reads their
 * records.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "store/path.h"
#include "store/store.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_known.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "store/ngx_http_symbolicate_store.h"


typedef struct {
    sym_path_key_t                 key;
    sym_module_state_t             state;       /* 0: to be tried */
    size_t                         len;
    u_char                         reason[SYM_REASON_MAX];
} ngx_http_symbolicate_fetch_known_t;


static sym_status_t
ngx_http_symbolicate_fetch_known_read(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_fetch_known_t *known = data;

    sym_asking_t       asking;
    sym_status_t       status;
    sym_path_record_t  record;

    ngx_memzero(&asking, sizeof(sym_asking_t));

    asking.now_s = ngx_time();

    status = sym_snapshot_path(snapshot, &known->key, &record, err);

    if (status != SYM_OK) {
        return status;
    }

    /* a file that does not help a module may be its companion */

    if (record.outcome != SYM_PATH_ABSENT && record.outcome != SYM_PATH_FAILED)
    {
        return SYM_OK;
    }

    known->state = sym_path_says(&record, &asking).state;
    known->len = ngx_min(record.reason.len, SYM_REASON_MAX);
    ngx_memcpy(known->reason, record.reason.data, known->len);

    return SYM_OK;
}


ngx_uint_t
ngx_http_symbolicate_fetch_is_known(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_source_t *source, sym_str_t path)
{
    const char                         *reason;
    sym_error_t                         err;
    ngx_http_symbolicate_fetch_known_t  known;

    if (fetch->policy->store == NULL) {
        return 0;
    }

    ngx_memzero(&known, sizeof(ngx_http_symbolicate_fetch_known_t));

    known.key.scope = sym_str((char *) source->name.data, source->name.len);
    known.key.path = path;

    (void) ngx_http_symbolicate_store_read(fetch->policy->store,
                                       ngx_http_symbolicate_fetch_known_read,
                                       &known, ngx_cycle->log, &err, &reason);

    if (known.state == SYM_MODULE_FAILED && fetch->nfailed++ == 0) {
        ngx_memcpy(fetch->reason, known.reason, known.len);
        fetch->outcome.reason.len = known.len;
    }

    return known.state != 0;
}
