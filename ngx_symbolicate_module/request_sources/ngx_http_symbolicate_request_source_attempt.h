
/*
 * ngx_http_symbolicate_request_source_attempt.h - ends an attempt at a request
 * source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_ATTEMPT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_ATTEMPT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


ngx_str_t ngx_http_symbolicate_request_source_str(sym_str_t s);

/*
 * Ends the attempt, but never before this function has returned.  trouble:
 * static text; NULL: fetch->status is set.
 */
ngx_int_t ngx_http_symbolicate_request_source_stop(
    ngx_http_symbolicate_request_attempt_t *g, const char *trouble);

/* Same for an address that is not allowed. */
ngx_int_t ngx_http_symbolicate_request_source_restricted(
    ngx_http_symbolicate_request_attempt_t *g);

/*
 * Ends the attempt if the source's host is blocked.  As in Symbolicator, hosts
 * after redirects do not matter.  NGX_DECLINED: it is not blocked.
 */
ngx_int_t ngx_http_symbolicate_request_source_check_host(
    ngx_http_symbolicate_request_attempt_t *g);

/* Sets fetch->url in the form for logs, answers and the store: as one word. */
ngx_int_t ngx_http_symbolicate_request_source_show(
    ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t shown);

/*
 * Call this if the response to the next request is not a file: it is then kept
 * in memory.
 */
ngx_int_t ngx_http_symbolicate_request_source_read(
    ngx_http_symbolicate_request_attempt_t *g,
    ngx_http_symbolicate_request_source_step_e step);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_ATTEMPT_H_INCLUDED_ */
