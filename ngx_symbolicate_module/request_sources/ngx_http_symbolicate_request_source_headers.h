
/*
 * ngx_http_symbolicate_request_source_headers.h - the headers of a request to a
 * request source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HEADERS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HEADERS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


/* NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_request_source_add(
    ngx_http_symbolicate_request_attempt_t *g,
    const char *name, sym_str_t value);

/* Makes "Bearer ..." */
ngx_int_t ngx_http_symbolicate_request_source_add_bearer(
    ngx_http_symbolicate_request_attempt_t *g, sym_str_t token);

/* Sets the headers of the request for g->url. */
ngx_int_t ngx_http_symbolicate_request_source_headers(
    ngx_http_symbolicate_request_attempt_t *g);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HEADERS_H_INCLUDED_ */
