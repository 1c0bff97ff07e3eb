
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
 * Ends in events->done(), never at once.  object is copied.  next, attempts: of
 * an outcome that was offered and found too poor; 0 and empty at first.  NULL:
 * no memory.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease,
    ngx_uint_t next, ngx_str_t *attempts);

/*
 * The same of one text of a source of the request's, at a path below it that
 * needs no encoding; not of a source `sentry`.
 */
ngx_http_symbolicate_fetch_t *ngx_http_symbolicate_fetch_text(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, sym_str_t path,
    ngx_http_symbolicate_lease_t *lease);

/* A new lease: the answer to events->more(). */
void ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease);

/* A download that still runs is cut off.  NGX_AGAIN: that is not possible now,
 * and nothing was done. */
ngx_int_t ngx_http_symbolicate_fetch_free(
    ngx_http_symbolicate_fetch_t *fetch);

/* Bytes of the file that is under way. */
off_t ngx_http_symbolicate_fetch_received(
    ngx_http_symbolicate_fetch_t *fetch);

ngx_http_symbolicate_fetch_result_t *ngx_http_symbolicate_fetch_result(
    ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_H_INCLUDED_ */
