
/*
 * ngx_http_symbolicate_clientless.h - a request without a client.
 *
 * Its connection has no socket, and is not in nginx's table.  It provides a
 * pool, the configuration of a location, a log and subrequests to nginx and
 * this module.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_CLIENTLESS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_CLIENTLESS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


typedef struct {
    ngx_connection_t       connection;
    ngx_event_t            read;
    ngx_event_t            write;
    ngx_log_t              log;
    ngx_http_log_ctx_t     log_ctx;
    struct sockaddr_un     sockaddr;
    ngx_http_request_t    *request;
} ngx_http_symbolicate_clientless_t;


/*
 * `own` must be zeroed, and stay in place until it is closed.  NULL: out of
 * memory, and nothing needs to be closed.
 */
ngx_http_request_t *ngx_http_symbolicate_clientless_open(
    ngx_http_symbolicate_clientless_t *own, ngx_http_conf_ctx_t *conf,
    const char *action);

/* Must not be called from the request's own handlers. */
void ngx_http_symbolicate_clientless_close(
    ngx_http_symbolicate_clientless_t *own);


#endif /* _NGX_HTTP_SYMBOLICATE_CLIENTLESS_H_INCLUDED_ */
