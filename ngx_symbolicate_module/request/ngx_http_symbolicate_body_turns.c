
/*
 * ngx_http_symbolicate_body_turns.c - reads a long body in turns.
 *
 * nginx reads a body as long as bytes arrive.  A client that sends faster than
 * the worker writes would keep it from other requests.  So in each iteration of
 * the event loop, a connection gets one piece of its body; if more may have
 * arrived, it is next in the following iteration.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_body_turns.h"


/* It takes about as long as a small request: 15 us. */
#define NGX_SYMBOLICATE_BODY_PIECE  (32 * 1024)


/* If the event is posted already, it comes once more in this iteration. */
static ssize_t
ngx_http_symbolicate_body_more(ngx_connection_t *c, size_t size, ssize_t n)
{
    if (n > 0 && (c->read->ready || (size_t) n == size)) {
        c->read->ready = 0;
        ngx_post_event(c->read, &ngx_posted_next_events);
    }

    return n;
}


static ssize_t
ngx_http_symbolicate_body_recv(ngx_connection_t *c, u_char *buf, size_t size)
{
    size = ngx_min(size, NGX_SYMBOLICATE_BODY_PIECE);

    return ngx_http_symbolicate_body_more(c, size,
                                          ngx_io.recv(c, buf, size));
}


#if (NGX_HTTP_SSL)

static ssize_t
ngx_http_symbolicate_body_ssl_recv(ngx_connection_t *c, u_char *buf,
    size_t size)
{
    size = ngx_min(size, NGX_SYMBOLICATE_BODY_PIECE);

    return ngx_http_symbolicate_body_more(c, size,
                                          ngx_ssl_recv(c, buf, size));
}

#endif


static void
ngx_http_symbolicate_body_cleanup(void *data)
{
    ngx_connection_t *c = data;

#if (NGX_HTTP_SSL)

    if (c->recv == ngx_http_symbolicate_body_ssl_recv) {
        c->recv = ngx_ssl_recv;
        return;
    }

#endif

    if (c->recv == ngx_http_symbolicate_body_recv) {
        c->recv = ngx_io.recv;
    }
}


ngx_int_t
ngx_http_symbolicate_body_take_turns(ngx_http_request_t *r)
{
    ngx_connection_t    *c;
    ngx_pool_cleanup_t  *cln;

    c = r->connection;

    cln = ngx_pool_cleanup_add(r->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_symbolicate_body_cleanup;
    cln->data = c;

    /* HTTP/2 and HTTP/3 have windows, and read by other functions */

#if (NGX_HTTP_V2)

    if (r->stream) {
        return NGX_OK;
    }

#endif

#if (NGX_HTTP_SSL)

    if (c->recv == ngx_ssl_recv) {
        c->recv = ngx_http_symbolicate_body_ssl_recv;
    }

#endif

    if (c->recv == ngx_io.recv) {
        c->recv = ngx_http_symbolicate_body_recv;
    }

    return NGX_OK;
}
