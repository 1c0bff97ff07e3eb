
/*
 * ngx_http_symbolicate_pending_fetch.h - downloads a module.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* Begins the fetches that have a slot now. */
void ngx_http_symbolicate_pending_next(void);

/*
 * The loader has elected this worker to fetch, with a lease of this many bytes.
 */
void ngx_http_symbolicate_pending_elected(
    ngx_http_symbolicate_pending_t *pending, off_t bytes);

/*
 * Another node has begun to wait for the fetch: it gets a slot of those for
 * other nodes, and waits for none of them.
 */
void ngx_http_symbolicate_pending_for_peer(
    ngx_http_symbolicate_pending_t *pending);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_FETCH_H_INCLUDED_ */
