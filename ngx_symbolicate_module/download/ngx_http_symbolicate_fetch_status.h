
/*
 * ngx_http_symbolicate_fetch_status.h - classifies an answer of a source: a
 * file, no file or a failure.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_STATUS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_STATUS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Records why the attempt failed, and returns NGX_ERROR.  trouble: static text.
 */
ngx_int_t ngx_http_symbolicate_fetch_fail(
    ngx_http_symbolicate_fetch_t *fetch, const char *trouble);

ngx_uint_t ngx_http_symbolicate_fetch_is_redirect(
    ngx_http_symbolicate_fetch_t *fetch);

/* Whether the status means "no such file", as configured for the source. */
ngx_uint_t ngx_http_symbolicate_fetch_is_absent(
    ngx_http_symbolicate_fetch_t *fetch);

/*
 * Returns why the attempt failed; NULL: the source returned a file, or has
 * none.
 */
const char *ngx_http_symbolicate_fetch_trouble(
    ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc, ngx_uint_t is_whole);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_STATUS_H_INCLUDED_ */
