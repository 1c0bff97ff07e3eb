
/*
 * ngx_http_symbolicate_worker.h - the state of a process for a configuration.
 *
 * It is made when nginx has read its configuration, so that no request has to
 * allocate it; each worker writes to its own copy.  The file that defines a
 * type makes its objects, and frees them with the configuration's pool.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_WORKER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_WORKER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/account.h"
#include "symbolicate/cache/names.h"


typedef struct ngx_http_symbolicate_store_s  ngx_http_symbolicate_store_t;
typedef struct ngx_http_symbolicate_loader_s  ngx_http_symbolicate_loader_t;
typedef struct ngx_http_symbolicate_lane_s  ngx_http_symbolicate_lane_t;
typedef struct ngx_http_symbolicate_statistics_s
    ngx_http_symbolicate_statistics_t;


struct ngx_http_symbolicate_worker_s {
    ngx_http_symbolicate_store_t  *stores;      /* in their order */
    ngx_http_symbolicate_loader_t *loaders;     /* in their order */
    ngx_http_symbolicate_lane_t   *lanes;       /* by their number */
    ngx_http_symbolicate_statistics_t  *statistics;
    sym_names_t                   *names;       /* demangled names; created at
                                                 * the start of the worker */
    sym_account_t                  memory;      /* memory held by requests */
};


#endif /* _NGX_HTTP_SYMBOLICATE_WORKER_H_INCLUDED_ */
