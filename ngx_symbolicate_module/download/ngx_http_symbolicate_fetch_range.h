
/*
 * ngx_http_symbolicate_fetch_range.h - the rest of a file whose connection was
 * cut.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_RANGE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_RANGE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/* Keeps the validator of the file in a 200 answer, if its rest could be
 * requested.  NGX_ERROR: out of memory. */
ngx_int_t ngx_http_symbolicate_fetch_identify(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);

/*
 * Requests the rest of the file if its body was cut short.  NGX_DECLINED: that
 * is not possible.
 */
ngx_int_t ngx_http_symbolicate_fetch_continue(
    ngx_http_symbolicate_fetch_t *fetch);

/* Adds the headers that request the rest, if necessary. */
ngx_int_t ngx_http_symbolicate_fetch_add_range(
    ngx_http_symbolicate_fetch_t *fetch);

/*
 * Checks the header of an answer to fetch_continue().  NGX_OK: the body is the
 * rest; NGX_DECLINED: the body is the complete file; NGX_ERROR: neither.
 */
ngx_int_t ngx_http_symbolicate_fetch_continued(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_RANGE_H_INCLUDED_ */
