
/*
 * ngx_http_symbolicate_pending_abandoned.h - pending fetches for which no
 * request waits.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/*
 * Ends a fetch for which no request waits.  NGX_AGAIN: the download cannot be
 * aborted now.
 */
ngx_int_t ngx_http_symbolicate_pending_give_up(
    ngx_http_symbolicate_pending_t *pending);

/*
 * A request of another worker, or a fetch that was not elected, waits for this
 * fetch's lease.
 */
void ngx_http_symbolicate_pending_reclaim(
    ngx_http_symbolicate_pending_t *pending);

/* Call this when the last request of a fetch has ended its wait. */
void ngx_http_symbolicate_pending_set_abandoned(
    ngx_http_symbolicate_pending_t *pending);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_ */
