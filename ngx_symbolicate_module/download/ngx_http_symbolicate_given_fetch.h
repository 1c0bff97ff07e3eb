
/*
 * ngx_http_symbolicate_given_fetch.h - an attempt at a source of a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch.h"


typedef struct ngx_http_symbolicate_given_fetch_s
    ngx_http_symbolicate_given_fetch_t;


/* Begins to ask for the file of the attempt; the fetch was reset before.
 * NGX_DECLINED: the source has no such file, and need not be asked. */
ngx_int_t ngx_http_symbolicate_given_try(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t key);

/* Begins to ask once more for what was asked last, at an address that is
 * checked once more. */
ngx_int_t ngx_http_symbolicate_given_again(
    ngx_http_symbolicate_fetch_t *fetch);

/* The end of a subrequest.  NGX_OK: the attempt goes on, with another one;
 * NGX_DECLINED: it has ended. */
ngx_int_t ngx_http_symbolicate_given_tried(
    ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc, ngx_uint_t is_whole);

/* The subrequest under way asks for no file, but which files there are. */
ngx_uint_t ngx_http_symbolicate_given_is_list(
    ngx_http_symbolicate_fetch_t *fetch);

/* A part of an answer that is not the file.  NGX_DECLINED: it is the file's. */
ngx_int_t ngx_http_symbolicate_given_body(ngx_http_symbolicate_fetch_t *fetch,
    ngx_chain_t *in);

/* Why an answer with this status is a failure; NULL: it says that there is no
 * such file. */
const char *ngx_http_symbolicate_given_trouble(
    ngx_http_symbolicate_fetch_t *fetch);

/* The attempt has an outcome of its own (protocol/attempts.h): its host keeps
 * failing, or it got no token. */
ngx_uint_t ngx_http_symbolicate_given_outcome(
    ngx_http_symbolicate_fetch_t *fetch, ngx_str_t *outcome);

/* Counts a failed attempt for its host, if the host is to blame. */
void ngx_http_symbolicate_given_failed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome);

/* Ends what runs besides subrequests; may run twice. */
void ngx_http_symbolicate_given_cancel(ngx_http_symbolicate_fetch_t *fetch);

/* For variables: the address to pass a request to, its Host header and the name
 * in its certificate; empty: r is no such request. */
void ngx_http_symbolicate_given_target(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *url, ngx_str_t *host, ngx_str_t *name);


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_FETCH_H_INCLUDED_ */
