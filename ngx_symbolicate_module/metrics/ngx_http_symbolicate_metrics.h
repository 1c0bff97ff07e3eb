
/*
 * ngx_http_symbolicate_metrics.h - the page of symbolicate_metrics.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_METRICS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_METRICS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "metrics/page.h"


/* A content handler. */
ngx_int_t ngx_http_symbolicate_metrics_handler(ngx_http_request_t *r);

/*
 * Makes the page, with its last buffer marked; NULL: no memory.  Stores and
 * loaders: all configured ones, in their order.
 */
ngx_chain_t *ngx_http_symbolicate_metrics_page(ngx_http_request_t *r,
    const sym_metrics_store_t *stores, const sym_metrics_loader_t *loaders);


#endif /* _NGX_HTTP_SYMBOLICATE_METRICS_H_INCLUDED_ */
