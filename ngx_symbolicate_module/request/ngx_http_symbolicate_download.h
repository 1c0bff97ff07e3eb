
/*
 * ngx_http_symbolicate_download.h - a download for one request, outside of the
 * loader's schedule.
 *
 * It owns the fetched file.  If it cannot be freed when its request ends, its
 * next event frees it.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_DOWNLOAD_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_DOWNLOAD_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_queue.h"


typedef struct {
    ngx_http_symbolicate_fetch_t   *fetch;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_turn_t    *turn;       /* NULL: the request dropped
                                                 * it */
    ngx_uint_t                     *count;      /* NULL: no longer counted */
    unsigned                        ended:1;
    unsigned                        too_large:1;
} ngx_http_symbolicate_download_t;


/*
 * Starts a download.  It puts the turn in the queue when it has ended, or when
 * the file is too large.  *count: number of such downloads.  NULL: no memory.
 */
ngx_http_symbolicate_download_t *ngx_http_symbolicate_download_start(
    ngx_uint_t *count, ngx_http_symbolicate_turn_t *turn,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object,
    ngx_http_symbolicate_lease_t *lease);

/* Stops counting a download whose file takes no space of ours. */
void ngx_http_symbolicate_download_uncount(
    ngx_http_symbolicate_download_t *download);

/* Frees a download; NULL is allowed. */
void ngx_http_symbolicate_download_drop(
    ngx_http_symbolicate_download_t *download);


#endif /* _NGX_HTTP_SYMBOLICATE_DOWNLOAD_H_INCLUDED_ */
