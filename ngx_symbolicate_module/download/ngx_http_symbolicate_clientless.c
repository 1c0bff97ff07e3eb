
/*
 * ngx_http_symbolicate_clientless.c - a request without a client.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_clientless.h"


#define NGX_SYMBOLICATE_CLIENTLESS_POOL  4096


static void ngx_http_symbolicate_clientless_connect(
    ngx_http_symbolicate_clientless_t *own, const char *action);
static ngx_http_request_t *ngx_http_symbolicate_clientless_request(
    ngx_http_symbolicate_clientless_t *own, ngx_http_conf_ctx_t *conf);
static void ngx_http_symbolicate_clientless_event(ngx_event_t *ev);
static u_char *ngx_http_symbolicate_clientless_log(ngx_log_t *log, u_char *buf,
    size_t len);


static ngx_str_t  ngx_http_symbolicate_clientless_addr = ngx_string("unix:");


ngx_http_request_t *
ngx_http_symbolicate_clientless_open(ngx_http_symbolicate_clientless_t *own,
    ngx_http_conf_ctx_t *conf, const char *action)
{
    ngx_http_request_t  *r;

    ngx_http_symbolicate_clientless_connect(own, action);

    own->connection.pool = ngx_create_pool(NGX_SYMBOLICATE_CLIENTLESS_POOL,
                                           &own->log);
    if (own->connection.pool == NULL) {
        return NULL;
    }

    r = ngx_http_symbolicate_clientless_request(own, conf);

    if (r == NULL) {
        ngx_destroy_pool(own->connection.pool);
    }

    return r;
}


/*
 * Marks the connection's events as ready and registered, so that nginx does not
 * pass them to the system.
 */
static void
ngx_http_symbolicate_clientless_connect(ngx_http_symbolicate_clientless_t *own,
    const char *action)
{
    ngx_connection_t  *c;

    c = &own->connection;

    own->log = *ngx_cycle->log;
    own->log.next = NULL;
    own->log.writer = ngx_cycle->log->writer;
    own->log.wdata = ngx_cycle->log->wdata;
    own->log.handler = ngx_http_symbolicate_clientless_log;
    own->log.data = &own->log_ctx;
    own->log.action = (char *) action;

    own->log_ctx.connection = c;

    own->sockaddr.sun_family = AF_UNIX;

    c->fd = (ngx_socket_t) -1;
    c->read = &own->read;
    c->write = &own->write;
    c->log = &own->log;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    c->start_time = ngx_current_msec;
    c->type = SOCK_STREAM;

    c->sockaddr = (struct sockaddr *) &own->sockaddr;
    c->socklen = sizeof(sa_family_t);
    c->local_sockaddr = c->sockaddr;
    c->local_socklen = c->socklen;
    c->addr_text = ngx_http_symbolicate_clientless_addr;

    c->tcp_nodelay = NGX_TCP_NODELAY_DISABLED;
    c->tcp_nopush = NGX_TCP_NOPUSH_DISABLED;

    own->read.data = c;
    own->read.log = &own->log;
    own->read.active = 1;
    own->read.handler = ngx_http_symbolicate_clientless_event;

    own->write.data = c;
    own->write.log = &own->log;
    own->write.write = 1;
    own->write.active = 1;
    own->write.ready = 1;
    own->write.handler = ngx_http_symbolicate_clientless_event;
}


/*
 * Does the work of ngx_http_create_request(), and sets the fields that come
 * from a request line.
 */
static ngx_http_request_t *
ngx_http_symbolicate_clientless_request(ngx_http_symbolicate_clientless_t *own,
    ngx_http_conf_ctx_t *conf)
{
    ngx_pool_t                 *pool;
    ngx_time_t                 *tp;
    ngx_http_request_t         *r;
    ngx_http_core_main_conf_t  *cmcf;

    pool = own->connection.pool;

    r = ngx_pcalloc(pool, sizeof(ngx_http_request_t));
    if (r == NULL) {
        return NULL;
    }

    r->pool = pool;
    r->signature = NGX_HTTP_MODULE;
    r->connection = &own->connection;
    r->main = r;
    r->count = 1;

    r->main_conf = conf->main_conf;
    r->srv_conf = conf->srv_conf;
    r->loc_conf = conf->loc_conf;

    r->read_event_handler = ngx_http_block_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    cmcf = ngx_http_get_module_main_conf(r, ngx_http_core_module);

    r->ctx = ngx_pcalloc(pool, sizeof(void *) * ngx_http_max_module);
    r->variables = ngx_pcalloc(pool, cmcf->variables.nelts
                                     * sizeof(ngx_http_variable_value_t));
    r->header_in = ngx_create_temp_buf(pool, 1);

    if (r->ctx == NULL || r->variables == NULL || r->header_in == NULL
        || ngx_list_init(&r->headers_in.headers, pool, 4,
                         sizeof(ngx_table_elt_t)) != NGX_OK
        || ngx_list_init(&r->headers_out.headers, pool, 4,
                         sizeof(ngx_table_elt_t)) != NGX_OK
        || ngx_list_init(&r->headers_out.trailers, pool, 1,
                         sizeof(ngx_table_elt_t)) != NGX_OK)
    {
        return NULL;
    }

    tp = ngx_timeofday();
    r->start_sec = tp->sec;
    r->start_msec = tp->msec;

    r->method = NGX_HTTP_GET;
    ngx_str_set(&r->method_name, "GET");
    ngx_str_set(&r->uri, "/");
    r->unparsed_uri = r->uri;
    r->valid_unparsed_uri = 0;
    ngx_str_set(&r->request_line, "GET / HTTP/1.1");
    ngx_str_set(&r->http_protocol, "HTTP/1.1");
    r->http_version = NGX_HTTP_VERSION_11;

    r->headers_in.content_length_n = -1;
    r->headers_in.keep_alive_n = -1;
    r->headers_out.content_length_n = -1;
    r->headers_out.last_modified_time = -1;

    r->uri_changes = NGX_HTTP_MAX_URI_CHANGES + 1;
    r->subrequests = NGX_HTTP_MAX_SUBREQUESTS + 1;
    r->http_state = NGX_HTTP_PROCESS_REQUEST_STATE;
    r->internal = 1;

    own->request = r;
    own->connection.data = r;
    own->log_ctx.request = r;
    own->log_ctx.current_request = r;

    return r;
}


void
ngx_http_symbolicate_clientless_close(ngx_http_symbolicate_clientless_t *own)
{
    ngx_http_cleanup_t  *cln;

    /* runs cleanups of upstreams, in case one is in progress */

    for (cln = own->request->cleanup; cln; cln = cln->next) {
        if (cln->handler) {
            cln->handler(cln->data);
        }
    }

    if (own->read.timer_set) {
        ngx_del_timer(&own->read);
    }

    if (own->write.timer_set) {
        ngx_del_timer(&own->write);
    }

    if (own->read.posted) {
        ngx_delete_posted_event(&own->read);
    }

    if (own->write.posted) {
        ngx_delete_posted_event(&own->write);
    }

    /* like nginx: shows pool cleanups that the request ends */

    own->request->pool = NULL;

    ngx_destroy_pool(own->connection.pool);
}


/* Like nginx at an event of the connection, such as the end of a read-ahead. */
static void
ngx_http_symbolicate_clientless_event(ngx_event_t *ev)
{
    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    c = ev->data;
    r = c->data;

    if (ev->write) {
        r->write_event_handler(r);

    } else {
        r->read_event_handler(r);
    }

    ngx_http_run_posted_requests(c);
}


static u_char *
ngx_http_symbolicate_clientless_log(ngx_log_t *log, u_char *buf, size_t len)
{
    u_char              *p;
    ngx_str_t            uri;
    ngx_http_request_t  *r;
    ngx_http_log_ctx_t  *ctx;

    p = buf;
    ctx = log->data;
    r = ctx->current_request;

    if (log->action) {
        p = ngx_snprintf(buf, len, " while %s", log->action);
        len -= p - buf;
        buf = p;
    }

    if (r) {
        p = ngx_snprintf(buf, len, ", %s: \"%V\"",
                         r == r->main ? "request" : "subrequest", &r->uri);
        len -= p - buf;
        buf = p;

        if (r->upstream && r->upstream->peer.name) {
            uri = r->upstream->uri;

            /* arguments may be credentials */

            p = ngx_strlchr(uri.data, uri.data + uri.len, '?');

            if (p) {
                uri.len = p - uri.data;
            }

            p = ngx_snprintf(buf, len, ", upstream: \"%V%V\"",
                             r->upstream->peer.name, &uri);
        }
    }

    return p;
}
