
/*
 * ngx_http_symbolicate_attachment.h - a file at a URL that a request names.
 *
 * It is fetched as a file of a source of the request.  The loader makes a
 * report of a minidump; the worker itself reads other files.  Then another
 * request continues with the file (sym_request_link_t).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/*
 * A step; used while lookup->asked has a link.  NGX_OK: lookup->asked is now
 * the request that continues.
 */
ngx_int_t ngx_http_symbolicate_attachment_step(
    ngx_http_symbolicate_lookup_t *lookup);

/*
 * Hands the file over to the job without a client; if it is not available yet,
 * the job fetches it again.
 */
ngx_int_t ngx_http_symbolicate_attachment_copy(
    ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from);

/* Call this when the request ends; may run twice. */
void ngx_http_symbolicate_attachment_end(
    ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_ATTACHMENT_H_INCLUDED_ */
