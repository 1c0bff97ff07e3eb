
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

/* Lists and files of Sentry's artifacts, at any URLs. */
extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_artifacts;


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_LINKS_H_INCLUDED_ */
