
/*
 * ngx_http_symbolicate_pending_send.h - messages to the loader about pending
 * fetches.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* Sends a message with only the module: ENSURE, CANCEL, FOR_PEER. */
void ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_type_t type);

/*
 * Reports whether a request waits.  The loader has its own queue, in which such
 * fetches are first.
 */
void ngx_http_symbolicate_pending_abandon(
    ngx_http_symbolicate_pending_t *pending, ngx_uint_t abandoned);

/* Returns how long a negative outcome is valid. */
sym_rpc_ttl_t ngx_http_symbolicate_pending_ttl(
    ngx_http_symbolicate_pending_t *pending);

/* Reports to the loader why no file was fetched. */
void ngx_http_symbolicate_pending_refuse(
    ngx_http_symbolicate_pending_t *pending, sym_module_state_t state,
    const char *reason);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_SEND_H_INCLUDED_ */
