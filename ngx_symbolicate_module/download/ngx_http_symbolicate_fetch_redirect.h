
/*
 * ngx_http_symbolicate_fetch_redirect.h - redirects from a source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/* Keeps the Location of a redirect; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_fetch_keep_location(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);

/*
 * Splits "https://HOST/PATH"; HOST may include a port.  NGX_DECLINED: not a URL
 * that can be requested.
 */
ngx_int_t ngx_http_symbolicate_fetch_host(ngx_str_t *location,
    ngx_str_t *host, ngx_str_t *path);

/*
 * Maps a redirect to the location for its host, and to a path in it.
 * NGX_DECLINED: there is no such location.
 */
ngx_int_t ngx_http_symbolicate_fetch_lead(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *uri, ngx_str_t *path);

/* Keeps the address of the next page of a list. */
ngx_int_t ngx_http_symbolicate_fetch_keep_next_page(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);

/* Keeps how long a peer's answer is valid. */
void ngx_http_symbolicate_fetch_keep_age(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r);

/* Keeps the address of a script's source map. */
ngx_int_t ngx_http_symbolicate_fetch_keep_map(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_ */
