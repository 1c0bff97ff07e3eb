
/*
 * ngx_http_symbolicate_fetch.h - one download: the sources in turn, the body in
 * a file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Starts a download.  It ends in events->done(), after this function has
 * returned.  object is copied.  NULL: no memory.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object,
    ngx_http_symbolicate_lease_t *lease);

/*
 * Same for one text of a request source, at a path below it that needs no
 * encoding; not for a source of type `sentry`.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_text(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, sym_str_t path,
    ngx_http_symbolicate_lease_t *lease);

/* A new lease: the answer to events->more(). */
void ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease);

/* A running download is aborted.  NGX_AGAIN: that is not possible now, and
 * nothing was done. */
ngx_int_t ngx_http_symbolicate_fetch_free(
    ngx_http_symbolicate_fetch_t *fetch);

/* The place that is being tried, a bit; of the first source. */
uint64_t ngx_http_symbolicate_fetch_place(ngx_http_symbolicate_fetch_t *fetch);

/* Bytes received of the current file. */
off_t ngx_http_symbolicate_fetch_received(
    ngx_http_symbolicate_fetch_t *fetch);

ngx_http_symbolicate_fetch_result_t *ngx_http_symbolicate_fetch_result(
    ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_ */
