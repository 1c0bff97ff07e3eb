
/*
 * ngx_http_symbolicate_upload.h - request bodies that the loader reads.
 *
 * A crash upload may be large, and workers do not parse such files.  So nginx
 * spools the body, and the loader's converter makes a report of it, which
 * becomes the body of the request.  The memory of stacks is read from the
 * spooled file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* Call this before the body is read: the body is then written to a file. */
void ngx_http_symbolicate_upload_spool(ngx_http_request_t *r);

/* A step: sets task->body to the report. */
ngx_int_t ngx_http_symbolicate_upload_step(ngx_http_symbolicate_task_t *task);

/*
 * Same in parts, for a file that was not uploaded.  Sends it to the loader; its
 * reply puts the task in the queue.  Returns NGX_DONE or NGX_ERROR.
 */
ngx_int_t ngx_http_symbolicate_upload_send(
    ngx_http_symbolicate_lookup_t *lookup, ngx_fd_t fd, off_t offset,
    off_t size);

/*
 * NGX_DONE: the loader is at work.  NGX_OK: *text is allocated, and
 * lookup->call has the file.  NGX_DECLINED: the file has no report; *text is
 * the reason, from the request's pool.  NGX_ERROR.
 */
ngx_int_t ngx_http_symbolicate_upload_report(
    ngx_http_symbolicate_lookup_t *lookup, ngx_str_t *text);

/* Allocates and reads `size` bytes of a file; NULL: failed. */
u_char *ngx_http_symbolicate_upload_text(ngx_http_symbolicate_lookup_t *lookup,
    ngx_fd_t fd, off_t offset, size_t size);

/* Maximum size of a report; the loader's converter has the same limit. */
#define NGX_SYMBOLICATE_REPORT_MAX   (24 * 1024 * 1024)

/* Hands the file over to the job without a client. */
ngx_int_t ngx_http_symbolicate_upload_copy(
    ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from);

/* Call this when the request ends; may run twice. */
void ngx_http_symbolicate_upload_end(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_ */
