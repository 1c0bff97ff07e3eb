
/*
 * ngx_http_symbolicate_request_source_connect.h - checks the address of a
 * request source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONNECT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONNECT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


/* Begins the request for g->url, or ends the attempt. */
ngx_int_t ngx_http_symbolicate_request_source_ask(
    ngx_http_symbolicate_request_attempt_t *g);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONNECT_H_INCLUDED_ */
