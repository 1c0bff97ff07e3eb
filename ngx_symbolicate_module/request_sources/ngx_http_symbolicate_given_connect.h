
/*
 * ngx_http_symbolicate_given_connect.h - the address of a source of a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_CONNECT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_CONNECT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_given_state.h"


/* Begins to ask for g->url, or ends the attempt. */
ngx_int_t ngx_http_symbolicate_given_ask(ngx_http_symbolicate_given_fetch_t *g);


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_CONNECT_H_INCLUDED_ */
