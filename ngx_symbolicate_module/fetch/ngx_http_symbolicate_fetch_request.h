
/*
 * ngx_http_symbolicate_fetch_request.h - the subrequest of an attempt, and
 * the header of its answer.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "fetch/ngx_http_symbolicate_fetch.h"


/* Makes the request that attempts are subrequests of; done() is called at the
 * end of each.  NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_fetch_open(ngx_http_symbolicate_fetch_t *fetch,
    void (*done)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
    ngx_uint_t is_whole));

/* Asks for the next path; NGX_DECLINED: no path is left. */
ngx_int_t ngx_http_symbolicate_fetch_try(ngx_http_symbolicate_fetch_t *fetch);

/* Follows a redirect; NGX_DECLINED: there is none, or it is not followed. */
ngx_int_t ngx_http_symbolicate_fetch_follow(
    ngx_http_symbolicate_fetch_t *fetch);


/* A phase handler: sends the path as it was encoded for the source. */
ngx_int_t ngx_http_symbolicate_fetch_encode(ngx_http_request_t *r);

/* Marks the source as failed, whatever r ends with, if r is a subrequest of a
 * fetch.  trouble: static. */
void ngx_http_symbolicate_fetch_refuse(ngx_http_request_t *r,
    const char *trouble);

/* The path of the module that r fetches, encoded, below its source; NULL: r
 * fetches none. */
ngx_str_t *ngx_http_symbolicate_fetch_path(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_ */
