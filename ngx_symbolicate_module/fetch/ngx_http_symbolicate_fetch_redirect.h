
/*
 * ngx_http_symbolicate_fetch_redirect.h - redirects that a source answers with.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "fetch/ngx_http_symbolicate_fetch.h"


/* Keeps where the answer leads; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_fetch_keep_location(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_request_t *r);

/* "https://HOST/PATH": the host, with a port if there is one, and the rest.
 * Whatever else may stand there is nothing to be asked. */
ngx_int_t ngx_http_symbolicate_fetch_host(ngx_str_t *location,
    ngx_str_t *host, ngx_str_t *path);

/* The location to ask, and the path in it; NGX_DECLINED: none. */
ngx_int_t ngx_http_symbolicate_fetch_lead(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *uri, ngx_str_t *path);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REDIRECT_H_INCLUDED_ */
