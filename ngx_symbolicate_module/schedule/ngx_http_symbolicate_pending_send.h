
/*
 * ngx_http_symbolicate_pending_send.h - what the loader hears of pending
 * fetches.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* A message that is only about the module: ENSURE, CANCEL. */
void ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_type_t type);

/* Whether a request waits: the loader has a queue of its own, in which requests
 * go first. */
void ngx_http_symbolicate_pending_abandon(
    ngx_http_symbolicate_pending_t *pending, ngx_uint_t abandoned);

/* How long a negative outcome counts. */
sym_rpc_ttl_t ngx_http_symbolicate_pending_ttl(
    ngx_http_symbolicate_pending_t *pending);

/* Nothing was fetched: tells the loader why. */
void ngx_http_symbolicate_pending_refuse(
    ngx_http_symbolicate_pending_t *pending, sym_module_state_t state,
    const char *reason);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_ */
