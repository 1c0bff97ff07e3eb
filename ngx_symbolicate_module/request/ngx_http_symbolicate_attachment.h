
/*
 * ngx_http_symbolicate_attachment.h - a file at a URL that a request is about.
 *
 * It is fetched as a file of a source of the request.  The loader makes a
 * report of a minidump; other files are read by the worker.  Then another
 * request goes on with it (sym_request_link_t).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* A step, while lookup->asked has a link.  NGX_OK: lookup->asked is the request
 * that continues. */
ngx_int_t ngx_http_symbolicate_attachment_step(
    ngx_http_symbolicate_lookup_t *lookup);

/* The job without a client keeps the file, if it is there; else it fetches it
 * again. */
ngx_int_t ngx_http_symbolicate_attachment_copy(
    ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from);

/* The request ends; may run twice. */
void ngx_http_symbolicate_attachment_end(
    ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_ */
