
/*
 * ngx_http_symbolicate_ctx.h - the module's context of a request.
 *
 * It lives as long as the request: the log line and the counters are written
 * after the task and its memory are freed.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_CTX_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_CTX_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/registry.h"


typedef struct ngx_http_symbolicate_task_s  ngx_http_symbolicate_task_t;


typedef struct {
    ngx_http_symbolicate_task_t   *task;        /* NULL: nginx itself answers */
    ngx_chain_t                   *swapped;     /* body that replaces nginx's
                                                 * page */

    const sym_api_route_t         *route;       /* NULL: no route matched */
    sym_served_t                   served;
    sym_request_stats_t            stats;
    uint64_t                       started_ns;  /* 0: the request was not for
                                                 * symbols */
} ngx_http_symbolicate_ctx_t;


#endif /* _NGX_HTTP_SYMBOLICATE_CTX_H_INCLUDED_ */
