
/*
 * ngx_http_symbolicate_reply.h - methods, preflight, errors, short bodies.
 *
 * Bodies are allocated from the request's pool.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REPLY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REPLY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "json/out.h"


/* Finds a header of the request; NULL: not found. */
ngx_table_elt_t *ngx_http_symbolicate_find_header(ngx_http_request_t *r,
    const char *name);

/*
 * Returns the value of a header, for the APIs of core/; data NULL: not found.
 */
sym_str_t ngx_http_symbolicate_header(void *request, const char *name);

/* Adds a header to the answer; the texts must live as long as the request. */
ngx_int_t ngx_http_symbolicate_add_header(ngx_http_request_t *r,
    const char *name, const char *value, size_t len);

/*
 * NGX_DECLINED: the method of the request is supported; otherwise it has been
 * answered.  cors: a preflight request may succeed.
 */
ngx_int_t ngx_http_symbolicate_method(ngx_http_request_t *r,
    ngx_uint_t methods, ngx_uint_t cors);

/* Begins a body of at most `size` bytes, in `out`; NULL: no memory. */
ngx_chain_t *ngx_http_symbolicate_body_begin(ngx_http_request_t *r,
    size_t size, sym_out_t *out);

/* NGX_ERROR: the body did not fit. */
ngx_int_t ngx_http_symbolicate_body_end(ngx_http_request_t *r,
    ngx_chain_t *body, sym_out_t *out);

/*
 * Makes the URL of this server, as the client spells it, with the first bytes
 * of the request's path.
 */
ngx_int_t ngx_http_symbolicate_base(ngx_http_request_t *r, size_t len,
    ngx_str_t *base);

/* Begins a body of any length, in windows of `size` bytes. */
typedef struct {
    ngx_http_request_t   *request;
    size_t                size;
    ngx_chain_t          *first;
    ngx_chain_t          *last;
} ngx_http_symbolicate_growing_t;

/* `growing` must stay in place until the end. */
void ngx_http_symbolicate_growing_begin(ngx_http_symbolicate_growing_t *growing,
    ngx_http_request_t *r, size_t size, sym_out_t *out);

/* Ends the body.  NULL: no memory, or nothing was written. */
ngx_chain_t *ngx_http_symbolicate_growing_end(
    ngx_http_symbolicate_growing_t *growing, sym_out_t *out);

/*
 * Makes the body of an error in the form of the location's API, or {"title":
 * "...", "description": "..."}; *type: its content type.  NULL: no memory.
 */
ngx_chain_t *ngx_http_symbolicate_error_body(ngx_http_request_t *r,
    ngx_uint_t status, sym_str_t title, const char *description,
    const char **type);

/* Both return a content handler's result. */
ngx_int_t ngx_http_symbolicate_send_error(ngx_http_request_t *r,
    ngx_uint_t status, sym_str_t title, const char *description);
ngx_int_t ngx_http_symbolicate_send_body(ngx_http_request_t *r,
    ngx_uint_t status, const char *type, ngx_chain_t *body);

/* Sends a static text. */
ngx_int_t ngx_http_symbolicate_send_plain(ngx_http_request_t *r,
    ngx_uint_t status, const char *text);

#define NGX_SYMBOLICATE_JSON  "application/json"

/* Sends the header as it has been set, and bytes that outlive the request.
 * Returns a content handler's result. */
ngx_int_t ngx_http_symbolicate_send_bytes(ngx_http_request_t *r,
    ngx_str_t *bytes);

/* Sets the content type, and keeps its parameters (RFC 9110, 8.3). */
void ngx_http_symbolicate_name_type(ngx_http_request_t *r, const char *type);

/* length: -1 if unknown. */
void ngx_http_symbolicate_set_type(ngx_http_request_t *r, const char *type,
    off_t length);


#endif /* _NGX_HTTP_SYMBOLICATE_REPLY_H_INCLUDED_ */
