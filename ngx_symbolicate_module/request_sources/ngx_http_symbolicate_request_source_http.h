
/*
 * ngx_http_symbolicate_request_source_http.h - symbol servers defined by a
 * request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HTTP_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HTTP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_http;

/* Requests the file at the place, unless its host is blocked. */
ngx_int_t ngx_http_symbolicate_request_source_try_http(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source,
    sym_request_source_place_t *place);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_HTTP_H_INCLUDED_ */
