
/*
 * ngx_http_symbolicate_fetch_shared.h - artifacts that other nodes of the fleet
 * have made of a place's file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_SHARED_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_SHARED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Requests the artifact of the current place where it was not requested yet:
 * from the bucket, then from a peer.  NGX_DECLINED: nowhere is left, and
 * fetch->source is the place's again.
 */
ngx_int_t ngx_http_symbolicate_fetch_shared_try(
    ngx_http_symbolicate_fetch_t *fetch);

/* Counts and reports a failure of such a request. */
void ngx_http_symbolicate_fetch_shared_failed(
    ngx_http_symbolicate_fetch_t *fetch, const char *trouble);

/*
 * Handles the end of such a request without an artifact.  NGX_OK: another one
 * has begun; NGX_DECLINED: the place itself must be asked; NGX_ABORT: a peer
 * knows that the place has no file.
 */
ngx_int_t ngx_http_symbolicate_fetch_shared_tried(
    ngx_http_symbolicate_fetch_t *fetch, const char *trouble);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_SHARED_H_INCLUDED_ */
