
/*
 * ngx_http_symbolicate_request_source_fetch.h - the transport of request
 * sources.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_transport.h"


extern const ngx_http_symbolicate_transport_t
    ngx_http_symbolicate_request_source_transport;

/*
 * Variables: the address to pass a request to, its Host header, and the name in
 * its certificate; empty: r is not such a request.
 */
void ngx_http_symbolicate_request_source_target(
    ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *url, ngx_str_t *host, ngx_str_t *name);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FETCH_H_INCLUDED_ */
