
/*
 * ngx_http_symbolicate_missing.h - a request waits for missing modules.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/*
 * Returns how long a request may wait: the location's time, or less if the
 * client limits it ("800ms", "5s").  NGX_ERROR: the client's time is invalid.
 */
ngx_int_t ngx_http_symbolicate_missing_budget(
    ngx_http_symbolicate_lookup_t *lookup);

/*
 * Called when the store lacks modules, and again while it is active.  NGX_OK:
 * all missing modules are settled, and the answer may continue; NGX_AGAIN: call
 * it again in another turn, to search more sources; NGX_DONE: the request
 * waits, and will be run again; NGX_ERROR: failed.
 */
ngx_int_t ngx_http_symbolicate_missing_step(
    ngx_http_symbolicate_lookup_t *lookup);

/* Whether there are more sources to search or to wait for. */
ngx_uint_t ngx_http_symbolicate_missing_is_active(
    ngx_http_symbolicate_lookup_t *lookup);

/*
 * NGX_ERROR: the answer is an error, because modules failed.  Call it before
 * the next lookup in the store, which may not have the reasons.
 */
ngx_int_t ngx_http_symbolicate_missing_verdict(
    ngx_http_symbolicate_lookup_t *lookup);

/* Whether modules failed, came too late, or were damaged. */
ngx_uint_t ngx_http_symbolicate_missing_some(
    ngx_http_symbolicate_lookup_t *lookup);

/* Adds Retry-After to an answer that lacks modules. */
ngx_int_t ngx_http_symbolicate_missing_headers(
    ngx_http_symbolicate_lookup_t *lookup);

/* Cancels all waiting; may run at any time, and twice. */
void ngx_http_symbolicate_missing_end(ngx_http_symbolicate_lookup_t *lookup);


/*
 * Call this when the answer is complete: records its missing modules in the
 * ledger, if that is on.
 */
void ngx_http_symbolicate_missing_note(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_MISSING_H_INCLUDED_ */
