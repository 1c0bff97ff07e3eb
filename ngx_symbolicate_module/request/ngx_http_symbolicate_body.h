
/*
 * ngx_http_symbolicate_body.h - makes the body of a request contiguous.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <zlib.h>

#include "request/ngx_http_symbolicate_ctx.h"


/* A step: sets task->body, which is valid until the task's cleanup. */
ngx_int_t ngx_http_symbolicate_read_step(ngx_http_symbolicate_task_t *task);

/*
 * For a body that nginx spooled: inflates it into a file, in turns, if it is
 * gzip.  NGX_OK: the body is in *file, and its offset is the size; NULL: the
 * body is unchanged.  invalid: the answer if it cannot be inflated.
 */
ngx_int_t ngx_http_symbolicate_unpack_step(ngx_http_symbolicate_task_t *task,
    sym_str_t invalid, ngx_temp_file_t **file);

/* Sets task->body to a copy.  NGX_ERROR: out of memory; task->memory.refused:
 * it was a limit. */
ngx_int_t ngx_http_symbolicate_read_copy(ngx_http_symbolicate_task_t *task,
    sym_str_t body);

/* Frees the body; may run at any time, and twice. */
void ngx_http_symbolicate_read_end(ngx_http_symbolicate_task_t *task);

/*
 * NGX_OK: the body is not compressed; NGX_AGAIN: it is gzip; NGX_ERROR:
 * refused.
 */
ngx_int_t ngx_http_symbolicate_check_encoding(
    ngx_http_symbolicate_task_t *task);

/* Prepares to inflate gzip, charged to the task; NGX_ERROR: failed. */
ngx_int_t ngx_http_symbolicate_inflate_begin(ngx_http_symbolicate_task_t *task,
    z_stream *zs);

void ngx_http_symbolicate_inflate_end(ngx_http_symbolicate_task_t *task,
    z_stream *zs);


#endif /* _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_ */
