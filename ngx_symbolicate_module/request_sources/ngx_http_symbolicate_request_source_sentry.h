
/*
 * ngx_http_symbolicate_request_source_sentry.h - Sentry's own store of debug
 * files.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_SENTRY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_SENTRY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_sentry;

/* Adds the token or the cookies of a source. */
ngx_int_t ngx_http_symbolicate_request_source_add_sentry_keys(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_SENTRY_H_INCLUDED_ */
