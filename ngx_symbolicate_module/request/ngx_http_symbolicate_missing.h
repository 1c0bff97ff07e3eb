
/*
 * ngx_http_symbolicate_missing.h - a request waits for what the store has not.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* The time that a request may wait: the location's, or less if the client says
 * so ("800ms", "5s").  NGX_ERROR: it says what is no time. */
ngx_int_t ngx_http_symbolicate_missing_budget(
    ngx_http_symbolicate_lookup_t *lookup);

/* Called when the store does not have all, and again while it is active.
 * NGX_OK: the answer may go on, what is not there is settled; NGX_AGAIN: there
 * is more to ask, in another turn; NGX_DONE: the request waits and will be run
 * again; NGX_ERROR: failed. */
ngx_int_t ngx_http_symbolicate_missing_step(
    ngx_http_symbolicate_lookup_t *lookup);

/* True: there is more to ask, or to wait for. */
ngx_uint_t ngx_http_symbolicate_missing_is_active(
    ngx_http_symbolicate_lookup_t *lookup);

/* NGX_ERROR: the answer is an error, for modules failed.  To be called
 * before the store is looked at again: it may not have kept why they did. */
ngx_int_t ngx_http_symbolicate_missing_verdict(
    ngx_http_symbolicate_lookup_t *lookup);

/* True: modules failed, came too late, or were damaged. */
ngx_uint_t ngx_http_symbolicate_missing_some(
    ngx_http_symbolicate_lookup_t *lookup);

/* Adds Retry-After to an answer that lacks modules. */
ngx_int_t ngx_http_symbolicate_missing_headers(
    ngx_http_symbolicate_lookup_t *lookup);

/* Gives up what waits; may run at any time, and twice. */
void ngx_http_symbolicate_missing_end(ngx_http_symbolicate_lookup_t *lookup);


/* The answer is complete, and lacks modules: notes them for the ledger, if it
 * is on. */
void ngx_http_symbolicate_missing_note(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_ */
