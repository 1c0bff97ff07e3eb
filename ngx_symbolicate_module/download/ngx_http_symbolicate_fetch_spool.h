
/*
 * ngx_http_symbolicate_fetch_spool.h - the body of an answer, in a file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_SPOOL_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_SPOOL_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Takes a part of the body; has the type of a callback in
 * ngx_http_symbolicate_background_pt.
 */
ngx_int_t ngx_http_symbolicate_fetch_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in);

/* Requests a lease of the announced length at once. */
void ngx_http_symbolicate_fetch_announce(ngx_http_symbolicate_fetch_t *fetch);

/* Resumes a body that has waited for a larger lease. */
void ngx_http_symbolicate_fetch_resume(ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_SPOOL_H_INCLUDED_ */
