
/*
 * ngx_http_symbolicate_worker.h - the state of a process for a configuration.
 *
 * It is created when nginx has read its configuration, so requests need not
 * allocate it.  Each worker writes to its own copy.  The file that defines a
 * type creates its objects, and frees them with the configuration's pool.
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
    ngx_http_symbolicate_store_t  *stores;      /* in the order of the
                                                 * configuration */
    ngx_http_symbolicate_loader_t *loaders;     /* in the order of the
                                                 * configuration */
    ngx_http_symbolicate_lane_t   *lanes;       /* by lane number; then those of
                                                 * fetches for other nodes */
    ngx_http_symbolicate_statistics_t  *statistics;
    sym_names_t                   *names;       /* demangled names; created when
                                                 * the worker starts */
    sym_account_t                  memory;      /* memory held by requests */
};


#endif /* _NGX_HTTP_SYMBOLICATE_WORKER_H_INCLUDED_ */
