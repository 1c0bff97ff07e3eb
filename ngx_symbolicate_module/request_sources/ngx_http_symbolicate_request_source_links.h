
/*
 * ngx_http_symbolicate_request_source_links.h - source files that links lead
 * to.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_LINKS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_LINKS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_links;

/* Requests the text at the URL in the object. */
ngx_int_t ngx_http_symbolicate_request_source_try_link(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_LINKS_H_INCLUDED_ */
