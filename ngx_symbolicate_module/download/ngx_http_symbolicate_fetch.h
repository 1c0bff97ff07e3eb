
/*
 * ngx_http_symbolicate_fetch.h - downloads a file: tries the sources in order,
 * and stores the body in a file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Starts a download.  events->done() is called at its end, after this function
 * has returned.  object is copied.  NULL: no memory.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object,
    ngx_http_symbolicate_lease_t *lease);

/*
 * Same for one text of a request source; its path below the source must need no
 * encoding.  Not for a source of type `sentry`.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_text(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, sym_str_t path,
    ngx_http_symbolicate_lease_t *lease);

/* Passes a new lease, in reply to events->more(). */
void ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease);

/*
 * Returns what is being asked for another node's artifact, as a bit; 0: the
 * place itself is asked.
 */
ngx_uint_t ngx_http_symbolicate_fetch_asked(
    ngx_http_symbolicate_fetch_t *fetch);

/* The fetch asks no peers from now on.  Returns whether it waits for one. */
ngx_uint_t ngx_http_symbolicate_fetch_alone(
    ngx_http_symbolicate_fetch_t *fetch);

/*
 * Drops a fetch; a running download is aborted.  NGX_AGAIN: that is not
 * possible now, and nothing was done.
 */
ngx_int_t ngx_http_symbolicate_fetch_free(
    ngx_http_symbolicate_fetch_t *fetch);

/* Bit of the place of the first source that is being tried. */
uint64_t ngx_http_symbolicate_fetch_place(ngx_http_symbolicate_fetch_t *fetch);

/* Number of bytes of the current file received so far. */
off_t ngx_http_symbolicate_fetch_received(
    ngx_http_symbolicate_fetch_t *fetch);

ngx_http_symbolicate_fetch_result_t *ngx_http_symbolicate_fetch_result(
    ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_ */
