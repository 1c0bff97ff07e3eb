
/*
 * ngx_http_symbolicate_answer.c - looks frames up and writes the answer.
 *
 * Everything runs under sym_store_guarded(), so an unreadable page ends the
 * slice, not the worker.  The answer is written directly to the buffers that
 * are sent.  All slices of a request use the same snapshot, which ends after
 * the last one.
 *
 * A request at its memory limit pauses until its client has received the data.
 * Meanwhile it gives up its slot among the long requests and its snapshot,
 * which would keep the loader from reusing freed pages.  Modules that are
 * evicted during the pause are reported as pending.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "request/ngx_http_symbolicate_answer.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_lookup.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_task.h"
#include "store/ngx_http_symbolicate_store.h"


/* Maximum number of restarts of an answer that found damaged modules. */
#define NGX_SYMBOLICATE_RESTARTS  3

/* Number of steps (base/steps.h) for a frame. */
#define NGX_SYMBOLICATE_ANSWER_FRAME  200


static ngx_int_t ngx_http_symbolicate_pause(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_miss(
    ngx_http_symbolicate_lookup_t *lookup);
static void ngx_http_symbolicate_restart(ngx_http_symbolicate_lookup_t *lookup);
static void ngx_http_symbolicate_reopen(ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_unavailable(
    ngx_http_symbolicate_lookup_t *lookup, const char *reason);
static void ngx_http_symbolicate_slice(void *data);
static void ngx_http_symbolicate_snapshot_end(void *data);
static void ngx_http_symbolicate_store_leave(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_too_long(
    ngx_http_symbolicate_lookup_t *lookup);


ngx_int_t
ngx_http_symbolicate_answer_step(ngx_http_symbolicate_task_t *task)
{
    ngx_log_t                        *log;
    const char                       *reason;
    sym_status_t                      status;
    ngx_http_symbolicate_lookup_t    *lookup;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    lookup = (ngx_http_symbolicate_lookup_t *) task;

    log = lookup->task.request->connection->log;
    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (ngx_http_symbolicate_missing_is_active(lookup)) {
        return ngx_http_symbolicate_miss(lookup);
    }

    if (ngx_http_symbolicate_missing_verdict(lookup) != NGX_OK) {
        return NGX_ERROR;
    }

    if (lookup->stats->frames > slcf->slice
        && !ngx_http_symbolicate_admit(&lookup->task.turn))
    {
        return NGX_DONE;
    }

    if (lookup->db == NULL) {
        lookup->db = ngx_http_symbolicate_store_get(lookup->store, log,
                                                    &reason);

        if (lookup->db == NULL) {
            return ngx_http_symbolicate_unavailable(lookup, reason);
        }

        if (lookup->paused && lookup->exchanges != lookup->store->exchanges) {
            return ngx_http_symbolicate_unavailable(lookup,
                                          "the symbol store was replaced");
        }

        lookup->exchanges = lookup->store->exchanges;
        ngx_http_symbolicate_output_begin(&lookup->task);
    }

    if (lookup->db->damaged) {

        /* another request noticed it after our last slice */

        return ngx_http_symbolicate_unavailable(lookup,
                               ngx_http_symbolicate_store_reason(SYM_DAMAGED));
    }

    ngx_memzero(&lookup->err, sizeof(sym_error_t));
    lookup->result = SYM_DAMAGED;

    status = sym_store_guarded(lookup->db->db, ngx_http_symbolicate_slice,
                               lookup, &lookup->err);

    if (status == SYM_OK) {
        status = lookup->result;
    }

    *lookup->stats = *sym_request_stats(lookup->asked);
    lookup->max_age_s = lookup->asked->max_age_s;
    lookup->answer_type = lookup->asked->answer_type;

    if ((status == SYM_OK || status == SYM_AGAIN)
        && lookup->stats->is_unsound && !lookup->task.header_sent
        && lookup->restarts < NGX_SYMBOLICATE_RESTARTS)
    {
        ngx_http_symbolicate_restart(lookup);
        return NGX_AGAIN;
    }

    switch (status) {

    case SYM_OK:
        break;

    case SYM_AGAIN:
        return lookup->task.out.is_full ? ngx_http_symbolicate_pause(lookup)
                                        : NGX_AGAIN;

    case SYM_NOT_FOUND:
        return ngx_http_symbolicate_miss(lookup);

    case SYM_NOMEM:
        if (ngx_http_symbolicate_output_is_too_long(&lookup->task)) {
            return ngx_http_symbolicate_too_long(lookup);
        }

        if (lookup->task.memory.refused) {
            return ngx_http_symbolicate_fail_memory(&lookup->task);
        }

        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "symbolicate: no memory to answer %uD frames",
                      lookup->stats->frames);

        return ngx_http_symbolicate_fail(&lookup->task,
                                         NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);

    case SYM_TRUNCATED:
        return ngx_http_symbolicate_unavailable(lookup,
                                   lookup->asked->trouble
                                   ? lookup->asked->trouble
                                   : "a module was evicted while the client "
                                     "took one of its addresses");

    case SYM_DAMAGED:
        ngx_http_symbolicate_store_damaged(lookup->store, lookup->db,
                                           &lookup->err, log);

        return ngx_http_symbolicate_unavailable(lookup,
                                   ngx_http_symbolicate_store_reason(status));

    default:
        ngx_http_symbolicate_store_trouble(lookup->store, &lookup->err, log);

        return ngx_http_symbolicate_unavailable(lookup,
                                   ngx_http_symbolicate_store_reason(status));
    }

    if (lookup->stats->damaged) {
        ngx_http_symbolicate_store_bytes(lookup->store, lookup->stats->damaged,
                                         log);
    }

    if (ngx_http_symbolicate_output_is_too_long(&lookup->task)) {
        return ngx_http_symbolicate_too_long(lookup);
    }

    ngx_http_symbolicate_output_close(&lookup->task);
    ngx_http_symbolicate_leave(&lookup->task.turn);

    if (ngx_http_symbolicate_output_end(&lookup->task) != NGX_OK) {
        return NGX_ERROR;
    }

    lookup->task.complete = 1;
    lookup->task.ctx->served = ngx_http_symbolicate_missing_some(lookup)
                               ? SYM_SERVED_PARTIAL : SYM_SERVED_OK;
    ngx_http_symbolicate_lookup_count(lookup);
    ngx_http_symbolicate_answer_end(lookup);

    return NGX_OK;
}


/* Pauses the answer until the part that is written has been sent. */
static ngx_int_t
ngx_http_symbolicate_pause(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_output_close(&lookup->task);
    ngx_http_symbolicate_leave(&lookup->task.turn);
    ngx_http_symbolicate_store_leave(lookup);

    lookup->task.out.is_full = 0;
    lookup->paused = 1;

    return NGX_OK;
}


/*
 * Waits for missing modules.  During the wait, the request has neither a view
 * of the store nor a slot among the long requests.
 */
static ngx_int_t
ngx_http_symbolicate_miss(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t  rc;

    rc = ngx_http_symbolicate_missing_step(lookup);

    if (rc == NGX_OK) {
        return NGX_AGAIN;
    }

    if ((rc == NGX_DONE || rc == NGX_AGAIN) && lookup->db) {
        ngx_http_symbolicate_reopen(lookup);
    }

    return rc;
}


/*
 * Handles a damaged module that was found.  Nothing is sent yet, so the written
 * text is discarded, and the module is treated as missing.
 */
static void
ngx_http_symbolicate_restart(ngx_http_symbolicate_lookup_t *lookup)
{
    lookup->restarts++;

    ngx_http_symbolicate_output_restart(&lookup->task);

    ngx_http_symbolicate_reopen(lookup);
}


/* Makes the next slice begin the answer in another view of the store. */
static void
ngx_http_symbolicate_reopen(ngx_http_symbolicate_lookup_t *lookup)
{
    if (lookup->stats->damaged) {
        ngx_http_symbolicate_store_bytes(lookup->store, lookup->stats->damaged,
                                         lookup->task.request->connection->log);
    }

    ngx_http_symbolicate_leave(&lookup->task.turn);
    ngx_http_symbolicate_store_leave(lookup);
    sym_request_reopen(lookup->asked);
}


static ngx_int_t
ngx_http_symbolicate_unavailable(ngx_http_symbolicate_lookup_t *lookup,
    const char *reason)
{
    return ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"),
                                     reason);
}


/*
 * A slice of the answer.  Runs under the guard: may end at any access to the
 * store.
 */
static void
ngx_http_symbolicate_slice(void *data)
{
    ngx_http_symbolicate_lookup_t *lookup = data;

    sym_view_t                        view;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (lookup->snapshot == NULL) {
        lookup->result = sym_snapshot_begin(lookup->db->db, &lookup->snapshot,
                                            &lookup->err);
        if (lookup->result != SYM_OK) {
            lookup->snapshot = NULL;
            return;
        }
    }

    view.snapshot = lookup->snapshot;
    view.kept = lookup->db->kept;
    view.now_s = (uint32_t) ngx_time();

    if (lookup->paused) {

        if (!sym_request_resume(lookup->asked, &view)) {
            lookup->result = SYM_TRUNCATED;
            return;
        }

        lookup->paused = 0;
    }

    lookup->result = sym_request_answer(lookup->asked, &view, &lookup->task.out,
                                        (uint32_t) slcf->slice);

    (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                          ngx_min(lookup->stats->frames, slcf->slice)
                          * NGX_SYMBOLICATE_ANSWER_FRAME);

    if (lookup->result == SYM_OK) {
        ngx_http_symbolicate_snapshot_end(lookup);
    }
}


static void
ngx_http_symbolicate_snapshot_end(void *data)
{
    ngx_http_symbolicate_lookup_t *lookup = data;

    sym_snapshot_end(lookup->snapshot);
    lookup->snapshot = NULL;
}


static ngx_int_t
ngx_http_symbolicate_too_long(ngx_http_symbolicate_lookup_t *lookup)
{
    u_char                           *p, *last;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    static const char  words[] = "please ask for less in a single request: its "
                                 "answer is longer than ";

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    p = ngx_pnalloc(lookup->task.request->pool,
                    sizeof(words) + NGX_OFF_T_LEN + sizeof(" bytes"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(p, "%s%O bytes", words, slcf->max_answer);

    return ngx_http_symbolicate_fail(&lookup->task, NGX_HTTP_BAD_REQUEST,
                                     sym_str((char *) p, last - p), NULL);
}


/* Releases the view of the store, and the reference to the store. */
static void
ngx_http_symbolicate_store_leave(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_log_t     *log;
    sym_error_t    err;
    sym_status_t   status;

    if (lookup->db == NULL) {
        return;
    }

    if (lookup->snapshot && !lookup->db->damaged) {
        ngx_memzero(&err, sizeof(sym_error_t));

        status = sym_store_guarded(lookup->db->db,
                                   ngx_http_symbolicate_snapshot_end, lookup,
                                   &err);

        if (status != SYM_OK) {
            log = lookup->task.request->connection->log;
            ngx_http_symbolicate_store_damaged(lookup->store, lookup->db, &err,
                                               log);
        }
    }

    lookup->snapshot = NULL;

    ngx_http_symbolicate_store_put(lookup->db);
    lookup->db = NULL;
}


void
ngx_http_symbolicate_answer_end(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_store_leave(lookup);

    lookup->asked = NULL;
    sym_arena_drop(&lookup->arena);
}
