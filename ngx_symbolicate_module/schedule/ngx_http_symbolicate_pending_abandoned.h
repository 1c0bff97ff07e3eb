
/*
 * ngx_http_symbolicate_pending_abandoned.h - pending fetches that no request
 * waits for.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* No request waits: ends it.  NGX_AGAIN: its fetch cannot be aborted now. */
ngx_int_t ngx_http_symbolicate_pending_give_up(
    ngx_http_symbolicate_pending_t *pending);

/* A request of another worker, or of an unelected fetch, waits for its
 * lease. */
void ngx_http_symbolicate_pending_reclaim(
    ngx_http_symbolicate_pending_t *pending);

/* Its last request is gone. */
void ngx_http_symbolicate_pending_set_abandoned(
    ngx_http_symbolicate_pending_t *pending);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_ABANDONED_H_INCLUDED_ */
