
/*
 * ngx_http_symbolicate_statistics.h - contents of stores, counted in slices.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_STATISTICS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_STATISTICS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "metrics/page.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"


/* A wait for a walk over the stores. */
typedef struct {
    ngx_queue_t                    queue;
    ngx_http_symbolicate_statistics_t  *statistics;   /* NULL: not waiting */
    void                         (*on_reply)(void *data);
    void                          *data;
} ngx_http_symbolicate_statistics_wait_t;


ngx_int_t ngx_http_symbolicate_statistics_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);
/* NGX_AGAIN: wait->on_reply() will be called; NGX_OK: they are available. */
ngx_int_t ngx_http_symbolicate_statistics_get(
    ngx_http_symbolicate_statistics_t *statistics,
    ngx_http_symbolicate_statistics_wait_t *wait, ngx_uint_t slice);
void ngx_http_symbolicate_statistics_leave(
    ngx_http_symbolicate_statistics_wait_t *wait);
/* Returns the last statistics, as a view that is valid until the next ones. */
const sym_metrics_store_t *ngx_http_symbolicate_statistics_shown(
    ngx_http_symbolicate_statistics_t *statistics);


#endif /* _NGX_HTTP_SYMBOLICATE_STATISTICS_H_INCLUDED_ */
