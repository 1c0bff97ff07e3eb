
/*
 * ngx_http_symbolicate_upload_url.h - the archive of an upload by URL.
 *
 * It is fetched like sources of requests: through the location that
 * symbolicate_request_sources names, from addresses that it allows.  Hosts,
 * also those of redirects, must be in symbolicate_upload_hosts.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_UPLOAD_URL_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_UPLOAD_URL_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/upload/upload.h"

#include "request/ngx_http_symbolicate_queue.h"


typedef struct ngx_http_symbolicate_upload_url_s
    ngx_http_symbolicate_upload_url_t;


/* The archive, or the reason why it could not be fetched. */
typedef struct {
    sym_str_t             url;          /* as it was sent */
    sym_str_t             redirects;    /* each with a newline after it */
    ngx_fd_t              fd;           /* a temporary file */
    off_t                 size;
    sym_upload_refusal_t  why;
    sym_str_t             reason;
} ngx_http_symbolicate_upload_file_t;


/*
 * Begins to fetch the file; its end puts the turn in the queue.  url is copied;
 * most: maximum size.  NULL: no memory.
 */
ngx_http_symbolicate_upload_url_t *ngx_http_symbolicate_upload_url_start(
    ngx_http_request_t *r, ngx_http_symbolicate_turn_t *turn, sym_str_t url,
    off_t most);

/*
 * NGX_OK: there is a file; NGX_DECLINED: file->why is set; NGX_DONE: the turn
 * will be put in the queue.
 */
ngx_int_t ngx_http_symbolicate_upload_url_result(
    ngx_http_symbolicate_upload_url_t *u,
    ngx_http_symbolicate_upload_file_t *file);

/* Frees all that is not from the request's pool; may run twice. */
void ngx_http_symbolicate_upload_url_end(ngx_http_symbolicate_upload_url_t *u);


#endif /* _NGX_HTTP_SYMBOLICATE_UPLOAD_URL_H_INCLUDED_ */
