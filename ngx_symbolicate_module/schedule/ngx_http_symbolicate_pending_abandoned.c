
/*
 * ngx_http_symbolicate_pending_abandoned.c - pending fetches for which no
 * request waits.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending_abandoned.h"
#include "schedule/ngx_http_symbolicate_pending_send.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"
#include "schedule/ngx_http_symbolicate_pending_table.h"


/*
 * Ends a fetch for which no request waits.  NGX_AGAIN: the download cannot be
 * aborted now.
 */
ngx_int_t
ngx_http_symbolicate_pending_give_up(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->settled) {
        return NGX_AGAIN;
    }

    if (pending->fetch
        && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
    {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_CANCEL);
    ngx_http_symbolicate_pending_free(pending);

    return NGX_OK;
}


/*
 * A request of another worker, or a fetch that was not elected, waits for this
 * fetch's lease.
 */
void
ngx_http_symbolicate_pending_reclaim(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->abandon_sent) {
        (void) ngx_http_symbolicate_pending_give_up(pending);
    }
}


/*
 * The client has not retried.  The download continues until another fetch needs
 * its slot.
 */
static void
ngx_http_symbolicate_pending_forget(ngx_event_t *ev)
{
    ngx_http_symbolicate_loader_t *loader = ev->data;

    ngx_queue_t                  *q;
    ngx_msec_t                    age;
    ngx_http_symbolicate_pending_t  *pending;

    while (!ngx_queue_empty(&loader->abandoned)) {
        q = ngx_queue_head(&loader->abandoned);
        pending = ngx_queue_data(q, ngx_http_symbolicate_pending_t,
                                 of_abandoned);

        age = ngx_current_msec - pending->since;

        if (age < NGX_SYMBOLICATE_ABANDONED_GRACE) {
            ngx_add_timer(ev, NGX_SYMBOLICATE_ABANDONED_GRACE - age);
            return;
        }

        ngx_http_symbolicate_pending_adopted(pending);

        if (pending->fetch == NULL && !pending->settled) {
            (void) ngx_http_symbolicate_pending_give_up(pending);
        }
    }
}


void
ngx_http_symbolicate_pending_set_abandoned(
    ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = pending->loader;

    pending->abandoned = 1;
    pending->since = ngx_current_msec;
    ngx_queue_insert_tail(&loader->abandoned, &pending->of_abandoned);

    if (!loader->abandoned_timer.timer_set) {
        loader->abandoned_timer.handler = ngx_http_symbolicate_pending_forget;
        loader->abandoned_timer.data = loader;
        loader->abandoned_timer.log = ngx_cycle->log;
        loader->abandoned_timer.cancelable = 1;

        ngx_add_timer(&loader->abandoned_timer,
                      NGX_SYMBOLICATE_ABANDONED_GRACE);
    }
}
