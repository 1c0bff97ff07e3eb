
/*
 * ngx_http_symbolicate_background.h - requests for which no client waits.
 *
 * A download must outlive the request that started it: the client may
 * disconnect, the request's time may end, and others may wait for the same
 * module.  So it runs under an internal request, whose connection has no
 * socket.  A subrequest of it uses the network, with all of nginx's features:
 * TLS, keepalive, retries, resolver, balancing.
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
 * body: a part of the body; NULL: the body is ignored.  Both return NGX_OK, or
 * NGX_ERROR, which ends the subrequest.  body may also return NGX_AGAIN if it
 * has consumed only a part (b->pos); nginx then only fills its buffers until
 * ngx_http_symbolicate_background_resume() is called.  ended: the subrequest
 * has ended and can still be read; may be NULL.  done: called once, from a
 * separate event; the subrequest is freed after it.  rc is the subrequest's
 * result; is_whole: the complete body was received.
 */
typedef struct {
    ngx_int_t                    (*header)(void *data, ngx_http_request_t *r);
    ngx_int_t                    (*body)(void *data, ngx_http_request_t *r,
                                         ngx_chain_t *in);
    void                         (*ended)(void *data, ngx_http_request_t *r);
    void                         (*done)(void *data, ngx_int_t rc,
                                         ngx_uint_t is_whole);
} ngx_http_symbolicate_background_pt;


/*
 * Creates an internal request in the server with configuration `ctx`; NULL: no
 * memory.
 */
ngx_http_symbolicate_background_t *ngx_http_symbolicate_background_create(
    ngx_http_conf_ctx_t *ctx, ngx_http_symbolicate_background_pt *events,
    void *data);

/*
 * Frees it; a running subrequest is aborted, and its connections are closed.
 * Must not be called inside header() or body().  NGX_AGAIN: a thread is reading
 * a file for it, and nothing was done.
 */
ngx_int_t ngx_http_symbolicate_background_free(
    ngx_http_symbolicate_background_t *bg);

/* Whether it can be freed now. */
ngx_uint_t ngx_http_symbolicate_background_is_idle(
    ngx_http_symbolicate_background_t *bg);

/* Returns the owner's data, if these are its callbacks. */
void *ngx_http_symbolicate_background_data(
    ngx_http_symbolicate_background_t *bg,
    ngx_http_symbolicate_background_pt *events);

/* A pool that lives as long as bg. */
ngx_pool_t *ngx_http_symbolicate_background_pool(
    ngx_http_symbolicate_background_t *bg);

/*
 * Begins a request (GET, or another method) to an internal location; only one
 * at a time.  Headers must be added before, with
 * ngx_http_symbolicate_background_add_header().  The texts must live as long as
 * bg.
 */
ngx_int_t ngx_http_symbolicate_background_start(
    ngx_http_symbolicate_background_t *bg, ngx_uint_t method,
    ngx_str_t *method_name, ngx_str_t *uri, ngx_str_t *args);

ngx_int_t ngx_http_symbolicate_background_add_header(
    ngx_http_symbolicate_background_t *bg, const char *name, ngx_str_t *value);


/* Sets the body of the next request; the text must live as long as bg. */
ngx_int_t ngx_http_symbolicate_background_set_body(
    ngx_http_symbolicate_background_t *bg, ngx_str_t *body);

/* The same for a range of a file, which the owner closes.  The method must be
 * one that nginx does not repeat by itself: it would send the file from its
 * beginning. */
ngx_int_t ngx_http_symbolicate_background_set_file(
    ngx_http_symbolicate_background_t *bg, ngx_fd_t fd, off_t offset,
    off_t length);

/* Drops the added headers, before another request. */
ngx_int_t ngx_http_symbolicate_background_reset(
    ngx_http_symbolicate_background_t *bg);

/* Resumes after body() returned NGX_AGAIN: body() will be called again. */
void ngx_http_symbolicate_background_resume(
    ngx_http_symbolicate_background_t *bg);


/* For the filters: returns the owner of a subrequest; NULL: none. */
ngx_http_symbolicate_background_t *ngx_http_symbolicate_background_of(
    ngx_http_request_t *r);

ngx_int_t ngx_http_symbolicate_background_header(
    ngx_http_symbolicate_background_t *bg, ngx_http_request_t *r);
ngx_int_t ngx_http_symbolicate_background_body(
    ngx_http_symbolicate_background_t *bg, ngx_http_request_t *r,
    ngx_chain_t *in);


#endif /* _NGX_HTTP_SYMBOLICATE_BACKGROUND_H_INCLUDED_ */
