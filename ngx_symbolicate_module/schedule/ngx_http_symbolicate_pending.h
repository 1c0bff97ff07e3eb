
/*
 * ngx_http_symbolicate_pending.h - modules that requests of this worker wait
 * for.
 *
 * Requests call these functions; for each module, one request is sent to the
 * loader.  The loader elects one worker to fetch the module.  That worker's
 * fetch starts here, and its outcome is reported to the loader.  The loader's
 * decision is passed to all waiting requests.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_worker.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "schedule/ngx_http_symbolicate_wanted.h"


/*
 * Makes `wait` wait for a module.  settled() is called once for it, with READY
 * or NEGATIVE; resume() is called when no module is pending any more, or the
 * time is over.  Neither is called before this function returns.  settled() may
 * call this function for another module and the same wait.  NGX_DECLINED: there
 * is no loader.  NGX_BUSY: too many modules are pending, retry later.  In both
 * cases, neither function will be called.
 */
ngx_int_t ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module);

/*
 * Ends the request's wait.  keep: its client was asked to retry, so its fetches
 * continue.
 */
void ngx_http_symbolicate_pending_leave(ngx_http_symbolicate_wait_t *wait,
    ngx_uint_t keep);

/* For ngx_http_symbolicate_loader_events_t: repeats all requests to the loader,
 * fails all pending fetches, and handles a message with a ticket. */
void ngx_http_symbolicate_pending_connected(
    ngx_http_symbolicate_loader_t *loader);
void ngx_http_symbolicate_pending_unavailable(
    ngx_http_symbolicate_loader_t *loader, const char *reason);
void ngx_http_symbolicate_pending_message(
    ngx_http_symbolicate_loader_t *loader, sym_rpc_message_t *m);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_ */
