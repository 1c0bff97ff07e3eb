
/*
 * ngx_http_symbolicate_output.h - the windows that an answer is written to.
 *
 * task->out writes into buffers of the request's pool, which send.c gives to
 * the output filters and frees when they are sent.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_OUTPUT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_OUTPUT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_ctx.h"


/*
 * Size of a window for a large answer; one window is sent in each turn of the
 * event loop.
 */
#define NGX_SYMBOLICATE_BUFFER  (128 * 1024)


/*
 * Makes task->out writable.  It sets is_full at the worker's limit, and fails
 * at the location's limit.
 */
void ngx_http_symbolicate_output_begin(ngx_http_symbolicate_task_t *task);

/* Releases the text written so far for sending. */
void ngx_http_symbolicate_output_close(ngx_http_symbolicate_task_t *task);

/* Ends a complete answer: marks the last buffer. */
ngx_int_t ngx_http_symbolicate_output_end(ngx_http_symbolicate_task_t *task);

/* Drops the text written so far; nothing may have been sent. */
void ngx_http_symbolicate_output_restart(ngx_http_symbolicate_task_t *task);

/* Uses a finished body as the answer, and marks its last buffer. */
void ngx_http_symbolicate_output_take(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *body);

/* Whether the answer is longer than symbolicate_max_answer. */
ngx_uint_t ngx_http_symbolicate_output_is_too_long(
    ngx_http_symbolicate_task_t *task);

/* Frees a buffer that has been sent. */
void ngx_http_symbolicate_output_free(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *cl);

/* Frees all buffers at the end of the request; may run twice. */
void ngx_http_symbolicate_output_drop(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_OUTPUT_H_INCLUDED_ */
