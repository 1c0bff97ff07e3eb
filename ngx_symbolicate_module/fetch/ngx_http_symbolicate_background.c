
/*
 * ngx_http_symbolicate_background.c - requests that no client waits for.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "fetch/ngx_http_symbolicate_background.h"


#define NGX_SYMBOLICATE_BACKGROUND_POOL  4096

/* In r->buffered: a body waits for its owner. */
#define NGX_SYMBOLICATE_BUFFERED  0x08


struct ngx_http_symbolicate_background_s {
    ngx_connection_t                     connection;
    ngx_event_t                          read;
    ngx_event_t                          write;
    ngx_log_t                            log;
    ngx_http_log_ctx_t                   log_ctx;
    struct sockaddr_un                   sockaddr;

    ngx_http_conf_ctx_t                 *conf;
    ngx_http_request_t                  *request;     /* the one of our own */
    ngx_http_request_t                  *sub;         /* under way */

    ngx_event_t                          start;
    ngx_event_t                          done;
    ngx_int_t                            rc;
    ngx_chain_t                         *held;        /* of the body, for which
                                                       * the owner is not
                                                       * ready */
    unsigned                             is_whole:1;
    unsigned                             is_refused:1; /* by the owner */

    ngx_http_symbolicate_background_pt  *events;
    void                                *data;
};


static void ngx_http_symbolicate_background_connect(
    ngx_http_symbolicate_background_t *bg);
static ngx_http_request_t *ngx_http_symbolicate_background_request(
    ngx_http_symbolicate_background_t *bg);
static void ngx_http_symbolicate_background_event(ngx_event_t *ev);
static void ngx_http_symbolicate_background_run(ngx_event_t *ev);
static void ngx_http_symbolicate_background_resumed(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_background_ended(ngx_http_request_t *r,
    void *data, ngx_int_t rc);
static void ngx_http_symbolicate_background_done(ngx_event_t *ev);
static u_char *ngx_http_symbolicate_background_log(ngx_log_t *log, u_char *buf,
    size_t len);


static ngx_str_t  ngx_http_symbolicate_background_addr = ngx_string("unix:");


ngx_http_symbolicate_background_t *
ngx_http_symbolicate_background_create(ngx_http_conf_ctx_t *ctx,
    ngx_http_symbolicate_background_pt *events, void *data)
{
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_calloc(sizeof(ngx_http_symbolicate_background_t), ngx_cycle->log);
    if (bg == NULL) {
        return NULL;
    }

    bg->conf = ctx;
    bg->events = events;
    bg->data = data;

    ngx_http_symbolicate_background_connect(bg);

    bg->request = ngx_http_symbolicate_background_request(bg);

    if (bg->request == NULL) {

        if (bg->connection.pool) {
            ngx_destroy_pool(bg->connection.pool);
        }

        ngx_free(bg);
        return NULL;
    }

    bg->start.handler = ngx_http_symbolicate_background_run;
    bg->start.data = bg;
    bg->start.log = &bg->log;

    bg->done.handler = ngx_http_symbolicate_background_done;
    bg->done.data = bg;
    bg->done.log = &bg->log;

    return bg;
}


/*
 * A connection outside of nginx's table.  It has no descriptor.  Its events are
 * marked as registered, so that nginx does not pass them to the system, and as
 * ready.
 */
static void
ngx_http_symbolicate_background_connect(ngx_http_symbolicate_background_t *bg)
{
    ngx_connection_t  *c;

    c = &bg->connection;

    bg->log = *ngx_cycle->log;
    bg->log.next = NULL;
    bg->log.writer = ngx_cycle->log->writer;
    bg->log.wdata = ngx_cycle->log->wdata;
    bg->log.handler = ngx_http_symbolicate_background_log;
    bg->log.data = &bg->log_ctx;
    bg->log.action = "fetching symbols";

    bg->log_ctx.connection = c;

    bg->sockaddr.sun_family = AF_UNIX;

    c->fd = (ngx_socket_t) -1;
    c->read = &bg->read;
    c->write = &bg->write;
    c->log = &bg->log;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);
    c->start_time = ngx_current_msec;
    c->type = SOCK_STREAM;

    c->sockaddr = (struct sockaddr *) &bg->sockaddr;
    c->socklen = sizeof(sa_family_t);
    c->local_sockaddr = c->sockaddr;
    c->local_socklen = c->socklen;
    c->addr_text = ngx_http_symbolicate_background_addr;

    c->tcp_nodelay = NGX_TCP_NODELAY_DISABLED;
    c->tcp_nopush = NGX_TCP_NOPUSH_DISABLED;

    bg->read.data = c;
    bg->read.log = &bg->log;
    bg->read.active = 1;
    bg->read.handler = ngx_http_symbolicate_background_event;

    bg->write.data = c;
    bg->write.log = &bg->log;
    bg->write.write = 1;
    bg->write.active = 1;
    bg->write.ready = 1;
    bg->write.handler = ngx_http_symbolicate_background_event;
}


/* What ngx_http_create_request() and reading a request line would give. */
static ngx_http_request_t *
ngx_http_symbolicate_background_request(ngx_http_symbolicate_background_t *bg)
{
    ngx_pool_t                 *pool;
    ngx_time_t                 *tp;
    ngx_http_request_t         *r;
    ngx_http_core_main_conf_t  *cmcf;

    pool = ngx_create_pool(NGX_SYMBOLICATE_BACKGROUND_POOL, &bg->log);
    if (pool == NULL) {
        return NULL;
    }

    bg->connection.pool = pool;

    r = ngx_pcalloc(pool, sizeof(ngx_http_request_t));
    if (r == NULL) {
        return NULL;
    }

    r->pool = pool;
    r->signature = NGX_HTTP_MODULE;
    r->connection = &bg->connection;
    r->main = r;
    r->count = 1;

    r->main_conf = bg->conf->main_conf;
    r->srv_conf = bg->conf->srv_conf;
    r->loc_conf = bg->conf->loc_conf;

    r->read_event_handler = ngx_http_block_reading;
    r->write_event_handler = ngx_http_symbolicate_background_resumed;

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

    ngx_http_set_ctx(r, bg, ngx_http_symbolicate_module);

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

    bg->connection.data = r;
    bg->log_ctx.request = r;
    bg->log_ctx.current_request = r;

    return r;
}


ngx_uint_t
ngx_http_symbolicate_background_is_idle(ngx_http_symbolicate_background_t *bg)
{
    return !bg->request->blocked;
}


ngx_int_t
ngx_http_symbolicate_background_free(ngx_http_symbolicate_background_t *bg)
{
    ngx_http_cleanup_t  *cln;

    if (!ngx_http_symbolicate_background_is_idle(bg)) {
        return NGX_AGAIN;
    }

    if (bg->start.posted) {
        ngx_delete_posted_event(&bg->start);
    }

    if (bg->done.posted) {
        ngx_delete_posted_event(&bg->done);
    }

    /* what upstreams registered, should one be under way still */

    for (cln = bg->request->cleanup; cln; cln = cln->next) {
        if (cln->handler) {
            cln->handler(cln->data);
        }
    }

    if (bg->read.timer_set) {
        ngx_del_timer(&bg->read);
    }

    if (bg->write.timer_set) {
        ngx_del_timer(&bg->write);
    }

    if (bg->read.posted) {
        ngx_delete_posted_event(&bg->read);
    }

    if (bg->write.posted) {
        ngx_delete_posted_event(&bg->write);
    }

    ngx_destroy_pool(bg->connection.pool);
    ngx_free(bg);

    return NGX_OK;
}


ngx_pool_t *
ngx_http_symbolicate_background_pool(ngx_http_symbolicate_background_t *bg)
{
    return bg->request->pool;
}


void *
ngx_http_symbolicate_background_data(ngx_http_symbolicate_background_t *bg,
    ngx_http_symbolicate_background_pt *events)
{
    return bg->events == events ? bg->data : NULL;
}


ngx_int_t
ngx_http_symbolicate_background_add_header(
    ngx_http_symbolicate_background_t *bg, const char *name, ngx_str_t *value)
{
    size_t            len;
    ngx_table_elt_t  *h;

    h = ngx_list_push(&bg->request->headers_in.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    len = ngx_strlen(name);

    h->lowcase_key = ngx_pnalloc(bg->request->pool, len);
    if (h->lowcase_key == NULL) {
        h->hash = 0;
        return NGX_ERROR;
    }

    h->key.data = (u_char *) name;
    h->key.len = len;
    h->value = *value;
    h->hash = ngx_hash_strlow(h->lowcase_key, h->key.data, len);

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_background_start(ngx_http_symbolicate_background_t *bg,
    ngx_uint_t method, ngx_str_t *method_name, ngx_str_t *uri, ngx_str_t *args)
{
    ngx_http_request_t          *r, *sr;
    ngx_http_post_subrequest_t  *ps;

    r = bg->request;

    ps = ngx_palloc(r->pool, sizeof(ngx_http_post_subrequest_t));
    if (ps == NULL) {
        return NGX_ERROR;
    }

    ps->handler = ngx_http_symbolicate_background_ended;
    ps->data = bg;

    bg->rc = NGX_OK;
    bg->held = NULL;
    bg->is_whole = 0;
    bg->is_refused = 0;
    bg->write.ready = 1;

    /* phases for clients do not run for subrequests; limits are counted by
     * marks of the main request */

    r->limit_req_status = 1;
    r->limit_conn_status = 1;

    r->subrequests = NGX_HTTP_MAX_SUBREQUESTS + 1;

    if (ngx_http_subrequest(r, uri, args, &sr, ps, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    sr->method = method;
    sr->method_name = *method_name;

    bg->sub = sr;

    /* the caller may be in the midst of another request */

    ngx_post_event(&bg->start, &ngx_posted_events);

    return NGX_OK;
}


/* What nginx does for a connection's event: reading files ahead ends in one. */
static void
ngx_http_symbolicate_background_event(ngx_event_t *ev)
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


static void
ngx_http_symbolicate_background_run(ngx_event_t *ev)
{
    ngx_http_symbolicate_background_t *bg = ev->data;

    ngx_http_run_posted_requests(&bg->connection);
}


/* Our own request is resumed when its subrequest is gone. */
static void
ngx_http_symbolicate_background_resumed(ngx_http_request_t *r)
{
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (bg->sub == NULL || !bg->sub->done) {
        return;
    }

    bg->sub = NULL;

        /* the caller still uses the connection */

    ngx_post_event(&bg->done, &ngx_posted_events);
}


/*
 * Called with what the subrequest ends with.  That it gives NGX_OK keeps nginx
 * from making a page of it, or from ending all; and so it is when the owner
 * refused the body, which nginx takes for a client that has gone.
 */
static ngx_int_t
ngx_http_symbolicate_background_ended(ngx_http_request_t *r, void *data,
    ngx_int_t rc)
{
    ngx_http_symbolicate_background_t *bg = data;

    bg->rc = rc;
    bg->connection.error = 0;

    /* filters may hold a part of a body that the owner refused; the subrequest
     * ends well if the upstream has sent the rest meanwhile */

    if (rc == NGX_ERROR || bg->is_refused) {
        r->buffered = 0;
    }

    if (bg->events->ended) {
        bg->events->ended(bg->data, r);
    }

    /* so it is marked when the owner wants no more of a body; nginx would end
     * the connection for it, which is for us to do */

    r->connection->error = 0;

    return NGX_OK;
}


static void
ngx_http_symbolicate_background_done(ngx_event_t *ev)
{
    ngx_http_symbolicate_background_t *bg = ev->data;

    bg->events->done(bg->data, bg->rc, bg->is_whole);
}


ngx_http_symbolicate_background_t *
ngx_http_symbolicate_background_of(ngx_http_request_t *r)
{
    if (r == r->main
        || r->main->write_event_handler
           != ngx_http_symbolicate_background_resumed)
    {
        return NULL;
    }

    return ngx_http_get_module_ctx(r->main, ngx_http_symbolicate_module);
}


ngx_int_t
ngx_http_symbolicate_background_header(ngx_http_symbolicate_background_t *bg,
    ngx_http_request_t *r)
{
        /* there is no client to send a header to */

    r->header_sent = 1;

    return bg->events->header(bg->data, r);
}


ngx_int_t
ngx_http_symbolicate_background_body(ngx_http_symbolicate_background_t *bg,
    ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    if (ngx_chain_add_copy(r->pool, &bg->held, in) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = bg->held ? bg->events->body(bg->data, r, bg->held) : NGX_OK;

    if (rc == NGX_ERROR) {
        bg->held = NULL;
        bg->is_refused = 1;
        return NGX_ERROR;
    }

    while (bg->held) {
        cl = bg->held;
        b = cl->buf;

        if (rc == NGX_OK) {
            b->pos = b->last;
            b->file_pos = b->file_last;

        } else if (ngx_buf_size(b) != 0) {
            break;
        }

        if (b->last_in_chain || b->last_buf) {
            bg->is_whole = 1;
        }

        bg->held = cl->next;
        ngx_free_chain(r->pool, cl);
    }

    /* as a client that takes no more for now: nginx stops reading, once it
     * may not put into a file what comes meanwhile */

    if (bg->held) {
        r->buffered |= NGX_SYMBOLICATE_BUFFERED;
        bg->write.ready = 0;

        if (r->upstream && r->upstream->pipe) {
            r->upstream->pipe->max_temp_file_size = 0;
        }

        return NGX_AGAIN;
    }

    r->buffered &= ~NGX_SYMBOLICATE_BUFFERED;

    /* nginx's, for a client that takes nothing */

    if (bg->write.timer_set) {
        ngx_del_timer(&bg->write);
    }

    return NGX_OK;
}


void
ngx_http_symbolicate_background_resume(ngx_http_symbolicate_background_t *bg)
{
    if (!bg->write.ready) {
        bg->write.ready = 1;
        ngx_post_event(&bg->write, &ngx_posted_events);
    }
}


static u_char *
ngx_http_symbolicate_background_log(ngx_log_t *log, u_char *buf, size_t len)
{
    u_char              *p;
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
        p = ngx_snprintf(buf, len, ", subrequest: \"%V\"", &r->uri);
        len -= p - buf;
        buf = p;

        if (r->upstream && r->upstream->peer.name) {
            p = ngx_snprintf(buf, len, ", upstream: \"%V%V\"",
                             r->upstream->peer.name, &r->upstream->uri);
        }
    }

    return p;
}
