
/*
 * ngx_http_symbolicate_upload.h - bodies that the loader reads.
 *
 * A crash upload may be large, and a worker parses no such file.  nginx spools
 * the body; the loader's converter makes a report of it, which becomes the body
 * of the request.  The memory of stacks is read from the spooled file.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* Before the body is read: it goes to a file. */
void ngx_http_symbolicate_upload_spool(ngx_http_request_t *r);

/* A step: sets task->body to the report. */
ngx_int_t ngx_http_symbolicate_upload_step(ngx_http_symbolicate_task_t *task);

/* The same in parts, for a file that was not uploaded.  Sends it to the loader,
 * whose reply puts the task in the queue: NGX_DONE, NGX_ERROR. */
ngx_int_t ngx_http_symbolicate_upload_send(
    ngx_http_symbolicate_lookup_t *lookup, ngx_fd_t fd, off_t offset,
    off_t size);

/* NGX_DONE: the loader is at work.  NGX_OK: *text is allocated, and
 * lookup->call has the file.  NGX_DECLINED: the file is not a report, for the
 * reason in *text, of the request's pool.  NGX_ERROR. */
ngx_int_t ngx_http_symbolicate_upload_report(
    ngx_http_symbolicate_lookup_t *lookup, ngx_str_t *text);

/* Allocates and reads `size` bytes of a file; NULL: failed. */
u_char *ngx_http_symbolicate_upload_text(ngx_http_symbolicate_lookup_t *lookup,
    ngx_fd_t fd, off_t offset, size_t size);

/* The longest report; the loader's converter has the same limit. */
#define NGX_SYMBOLICATE_REPORT_MAX   (24 * 1024 * 1024)

/* The job without a client keeps the file. */
ngx_int_t ngx_http_symbolicate_upload_copy(
    ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from);

/* The request ends; may run twice. */
void ngx_http_symbolicate_upload_end(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_UPLOAD_H_INCLUDED_ */
