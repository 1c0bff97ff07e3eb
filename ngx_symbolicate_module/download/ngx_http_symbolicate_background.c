
/*
 * ngx_http_symbolicate_background.c - requests for which no client waits.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_clientless.h"


/* Flag in r->buffered: a body waits for its owner. */
#define NGX_SYMBOLICATE_BUFFERED  0x08


struct ngx_http_symbolicate_background_s {
    ngx_http_symbolicate_clientless_t    own;
    ngx_http_request_t                  *sub;         /* under way */

    ngx_buf_t                           *body;        /* body of the next
                                                       * request */

    ngx_event_t                          start;
    ngx_event_t                          done;
    ngx_int_t                            rc;
    ngx_chain_t                         *held;        /* rest of a part that the
                                                       * owner did not take */
    unsigned                             is_whole:1;
    unsigned                             is_refused:1; /* the owner refused the
                                                        * body */

    ngx_http_symbolicate_background_pt  *events;
    void                                *data;
};


static void ngx_http_symbolicate_background_run(ngx_event_t *ev);
static void ngx_http_symbolicate_background_resumed(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_background_ended(ngx_http_request_t *r,
    void *data, ngx_int_t rc);
static void ngx_http_symbolicate_background_done(ngx_event_t *ev);


ngx_http_symbolicate_background_t *
ngx_http_symbolicate_background_create(ngx_http_conf_ctx_t *ctx,
    ngx_http_symbolicate_background_pt *events, void *data)
{
    ngx_http_request_t                 *r;
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_calloc(sizeof(ngx_http_symbolicate_background_t), ngx_cycle->log);
    if (bg == NULL) {
        return NULL;
    }

    bg->events = events;
    bg->data = data;

    r = ngx_http_symbolicate_clientless_open(&bg->own, ctx, "fetching symbols");
    if (r == NULL) {
        ngx_free(bg);
        return NULL;
    }

    r->write_event_handler = ngx_http_symbolicate_background_resumed;
    ngx_http_set_ctx(r, bg, ngx_http_symbolicate_module);

    bg->start.handler = ngx_http_symbolicate_background_run;
    bg->start.data = bg;
    bg->start.log = &bg->own.log;

    bg->done.handler = ngx_http_symbolicate_background_done;
    bg->done.data = bg;
    bg->done.log = &bg->own.log;

    return bg;
}


ngx_uint_t
ngx_http_symbolicate_background_is_idle(ngx_http_symbolicate_background_t *bg)
{
    return !bg->own.request->blocked;
}


ngx_int_t
ngx_http_symbolicate_background_free(ngx_http_symbolicate_background_t *bg)
{
    if (!ngx_http_symbolicate_background_is_idle(bg)) {
        return NGX_AGAIN;
    }

    if (bg->start.posted) {
        ngx_delete_posted_event(&bg->start);
    }

    if (bg->done.posted) {
        ngx_delete_posted_event(&bg->done);
    }

    ngx_http_symbolicate_clientless_close(&bg->own);
    ngx_free(bg);

    return NGX_OK;
}


ngx_pool_t *
ngx_http_symbolicate_background_pool(ngx_http_symbolicate_background_t *bg)
{
    return bg->own.request->pool;
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

    h = ngx_list_push(&bg->own.request->headers_in.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    len = ngx_strlen(name);

    h->lowcase_key = ngx_pnalloc(bg->own.request->pool, len);
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
ngx_http_symbolicate_background_reset(ngx_http_symbolicate_background_t *bg)
{
    ngx_http_request_t  *r;

    r = bg->own.request;

    return ngx_list_init(&r->headers_in.headers, r->pool, 8,
                         sizeof(ngx_table_elt_t));
}


ngx_int_t
ngx_http_symbolicate_background_set_body(ngx_http_symbolicate_background_t *bg,
    ngx_str_t *body)
{
    ngx_buf_t  *b;

    b = ngx_calloc_buf(bg->own.request->pool);

    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = body->data;
    b->last = body->data + body->len;
    b->start = b->pos;
    b->end = b->last;
    b->memory = 1;
    b->last_buf = 1;

    bg->body = b;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_background_set_file(ngx_http_symbolicate_background_t *bg,
    ngx_fd_t fd, off_t offset, off_t length)
{
    ngx_buf_t   *b;
    ngx_pool_t  *pool;

    pool = bg->own.request->pool;

    b = ngx_calloc_buf(pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->file = ngx_pcalloc(pool, sizeof(ngx_file_t));
    if (b->file == NULL) {
        return NGX_ERROR;
    }

    b->file->fd = fd;
    b->file->log = &bg->own.log;
    ngx_str_set(&b->file->name, "an upload");

    b->file_pos = offset;
    b->file_last = offset + length;
    b->in_file = 1;
    b->last_buf = 1;

    bg->body = b;

    return NGX_OK;
}


/* Sets a body as if a client had sent it; NULL: no memory. */
static ngx_http_request_body_t *
ngx_http_symbolicate_background_body_of(ngx_http_symbolicate_background_t *bg)
{
    ngx_pool_t               *pool;
    ngx_http_request_body_t  *rb;

    pool = bg->own.request->pool;

    rb = ngx_pcalloc(pool, sizeof(ngx_http_request_body_t));
    if (rb == NULL) {
        return NULL;
    }

    rb->bufs = ngx_alloc_chain_link(pool);
    if (rb->bufs == NULL) {
        return NULL;
    }

    rb->bufs->buf = bg->body;
    rb->bufs->next = NULL;

    return rb;
}


ngx_int_t
ngx_http_symbolicate_background_start(ngx_http_symbolicate_background_t *bg,
    ngx_uint_t method, ngx_str_t *method_name, ngx_str_t *uri, ngx_str_t *args)
{
    ngx_http_request_t          *r, *sr;
    ngx_http_request_body_t     *rb;
    ngx_http_post_subrequest_t  *ps;

    r = bg->own.request;
    rb = NULL;

    if (bg->body) {
        rb = ngx_http_symbolicate_background_body_of(bg);
        if (rb == NULL) {
            return NGX_ERROR;
        }
    }

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
    bg->own.write.ready = 1;

    /*
     * phases for clients do not run for subrequests, and flags of the main
     * request prevent limits
     */

    r->limit_req_status = 1;
    r->limit_conn_status = 1;

    r->subrequests = NGX_HTTP_MAX_SUBREQUESTS + 1;

    if (ngx_http_subrequest(r, uri, args, &sr, ps, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    if (rb) {
        sr->request_body = rb;
        sr->headers_in.content_length_n = ngx_buf_size(bg->body);
        bg->body = NULL;

    } else if (method == NGX_HTTP_POST) {
        sr->headers_in.content_length_n = 0;
    }

    sr->method = method;
    sr->method_name = *method_name;

    bg->sub = sr;

    /* the caller may still be handling another request */

    ngx_post_event(&bg->start, &ngx_posted_events);

    return NGX_OK;
}


static void
ngx_http_symbolicate_background_run(ngx_event_t *ev)
{
    ngx_http_symbolicate_background_t *bg = ev->data;

    ngx_http_run_posted_requests(&bg->own.connection);
}


/* Resumes the internal request when its subrequest has ended. */
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
 * Called with the result of the subrequest.  Returning NGX_OK keeps nginx from
 * making an error page, or ending the main request.  This also applies if the
 * owner refused the body; nginx then assumes that a client disconnected.
 */
static ngx_int_t
ngx_http_symbolicate_background_ended(ngx_http_request_t *r, void *data,
    ngx_int_t rc)
{
    ngx_http_symbolicate_background_t *bg = data;

    bg->rc = rc;
    bg->own.connection.error = 0;

    /*
     * filters may still hold a part of a body that the owner refused; the
     * subrequest nevertheless succeeds if the upstream has sent the rest
     */

    if (rc == NGX_ERROR || bg->is_refused) {
        r->buffered = 0;
    }

    if (bg->events->ended) {
        bg->events->ended(bg->data, r);
    }

    /*
     * set when the owner refused the rest of a body; otherwise nginx would
     * close the connection, which is our task
     */

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

    rc = bg->held && bg->events->body ? bg->events->body(bg->data, r, bg->held)
                                      : NGX_OK;

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

    /*
     * acts like a client that accepts no more data for now; nginx then stops
     * reading, because it may not spool the data to a file
     */

    if (bg->held) {
        r->buffered |= NGX_SYMBOLICATE_BUFFERED;
        bg->own.write.ready = 0;

        if (r->upstream && r->upstream->pipe) {
            r->upstream->pipe->max_temp_file_size = 0;
        }

        return NGX_AGAIN;
    }

    r->buffered &= ~NGX_SYMBOLICATE_BUFFERED;

    /* nginx's timer for a client that does not read */

    if (bg->own.write.timer_set) {
        ngx_del_timer(&bg->own.write);
    }

    return NGX_OK;
}


void
ngx_http_symbolicate_background_resume(ngx_http_symbolicate_background_t *bg)
{
    if (!bg->own.write.ready) {
        bg->own.write.ready = 1;
        ngx_post_event(&bg->own.write, &ngx_posted_events);
    }
}
