
/*
 * ngx_http_symbolicate_background.h - requests that no client waits for.
 *
 * A download must outlive the request that asked for it: its client may go
 * away, its budget may be spent, others may wait for the same module.  So it
 * runs under an internal request, whose connection has no socket.  The network
 * is used by its subrequest, with all of nginx's features: TLS, keepalive,
 * retries, resolver, balancing.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BACKGROUND_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BACKGROUND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


typedef struct ngx_http_symbolicate_background_s
    ngx_http_symbolicate_background_t;


/*
 * Callbacks of the owner.  header: status and length are in r->headers_out.
 * body: a part of the body.  Both return NGX_OK, or NGX_ERROR, which ends the
 * subrequest.  body may also return NGX_AGAIN: then it has consumed a part
 * (b->pos), and nginx reads no more than its buffers hold until
 * ngx_http_symbolicate_background_resume().  ended: the subrequest has ended
 * and can still be read; may be NULL.  done: called once, from an event of its
 * own, after which the subrequest is freed; rc is its result; is_whole: the
 * whole body was received.
 */
typedef struct {
    ngx_int_t                    (*header)(void *data, ngx_http_request_t *r);
    ngx_int_t                    (*body)(void *data, ngx_http_request_t *r,
                                         ngx_chain_t *in);
    void                         (*ended)(void *data, ngx_http_request_t *r);
    void                         (*done)(void *data, ngx_int_t rc,
                                         ngx_uint_t is_whole);
} ngx_http_symbolicate_background_pt;


/* Creates it in the server with configuration `ctx`; NULL: no memory. */
ngx_http_symbolicate_background_t *ngx_http_symbolicate_background_create(
    ngx_http_conf_ctx_t *ctx, ngx_http_symbolicate_background_pt *events,
    void *data);

/*
 * Not from inside header() or body().  Frees it; a running subrequest is
 * aborted, and its connections are closed.  NGX_AGAIN: a thread reads a file
 * for it, nothing was done.
 */
ngx_int_t ngx_http_symbolicate_background_free(
    ngx_http_symbolicate_background_t *bg);

/* False: it cannot be freed now. */
ngx_uint_t ngx_http_symbolicate_background_is_idle(
    ngx_http_symbolicate_background_t *bg);

/* The owner's data, if its callbacks are these. */
void *ngx_http_symbolicate_background_data(
    ngx_http_symbolicate_background_t *bg,
    ngx_http_symbolicate_background_pt *events);

/* Lives as long as bg. */
ngx_pool_t *ngx_http_symbolicate_background_pool(
    ngx_http_symbolicate_background_t *bg);

/*
 * Begins a GET, or another method, of an internal location; one at a time.
 * Headers for it may be added with ngx_http_symbolicate_background_add_header()
 * before.  The texts must live as long as bg.
 */
ngx_int_t ngx_http_symbolicate_background_start(
    ngx_http_symbolicate_background_t *bg, ngx_uint_t method,
    ngx_str_t *method_name, ngx_str_t *uri, ngx_str_t *args);

ngx_int_t ngx_http_symbolicate_background_add_header(
    ngx_http_symbolicate_background_t *bg, const char *name, ngx_str_t *value);


/* Sets the body of the next request; the text must live as long as bg. */
void ngx_http_symbolicate_background_set_body(
    ngx_http_symbolicate_background_t *bg, ngx_str_t *body);

/* Drops the headers that were added, for another request. */
ngx_int_t ngx_http_symbolicate_background_reset(
    ngx_http_symbolicate_background_t *bg);

/* Resumes after body() returned NGX_AGAIN: body() is called again, later. */
void ngx_http_symbolicate_background_resume(
    ngx_http_symbolicate_background_t *bg);


/* For the filters: the owner of a subrequest; NULL: r has none. */
ngx_http_symbolicate_background_t *ngx_http_symbolicate_background_of(
    ngx_http_request_t *r);

ngx_int_t ngx_http_symbolicate_background_header(
    ngx_http_symbolicate_background_t *bg, ngx_http_request_t *r);
ngx_int_t ngx_http_symbolicate_background_body(
    ngx_http_symbolicate_background_t *bg, ngx_http_request_t *r,
    ngx_chain_t *in);


#endif /* _NGX_HTTP_SYMBOLICATE_BACKGROUND_H_INCLUDED_ */
