
/*
 * ngx_http_symbolicate_fetch_request.h - subrequests to sources, and the
 * headers of their answers.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Creates the parent of the subrequests; done() is called at the end of each.
 * NGX_ERROR: out of memory.
 */
ngx_int_t ngx_http_symbolicate_fetch_open(ngx_http_symbolicate_fetch_t *fetch,
    void (*done)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
    ngx_uint_t is_whole));

/*
 * NuGet's symbol server returns some files only to requests with their
 * checksum.  Adds the client's checksum to the headers of the next request, if
 * it is valid in a header.  NGX_ERROR: out of memory.
 */
ngx_int_t ngx_http_symbolicate_fetch_add_checksum(
    ngx_http_symbolicate_fetch_t *fetch);

/* Requests fetch->uri from a configured source, or the rest of a file. */
ngx_int_t ngx_http_symbolicate_fetch_ask(ngx_http_symbolicate_fetch_t *fetch);

/*
 * Resets the results of the previous attempt, or of the request before a
 * redirect.
 */
void ngx_http_symbolicate_fetch_reset(ngx_http_symbolicate_fetch_t *fetch);

/* A phase handler: sends the path as it was encoded for the source. */
ngx_int_t ngx_http_symbolicate_fetch_encode(ngx_http_request_t *r);

/* The answer to a subrequest redirected it by X-Accel-Redirect, which is
 * refused for this reason. */
#define NGX_SYMBOLICATE_X_ACCEL  "it answered with X-Accel-Redirect"

ngx_uint_t ngx_http_symbolicate_fetch_is_led(ngx_http_request_t *r);

/*
 * If r is a subrequest of a fetch, marks its source as failed, whatever the
 * status of r.  trouble: static text.
 */
void ngx_http_symbolicate_fetch_refuse(ngx_http_request_t *r,
    const char *trouble);

/* Returns the fetch that r is a subrequest of; NULL: none. */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_of(
    ngx_http_request_t *r);

/*
 * Returns the encoded path, relative to its source, of the module that r
 * fetches; NULL: r is not a subrequest of a fetch.
 */
ngx_str_t *ngx_http_symbolicate_fetch_path(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REQUEST_H_INCLUDED_ */
