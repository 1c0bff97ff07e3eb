
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


/* A window of a large answer; one is sent in a turn of the event loop. */
#define NGX_SYMBOLICATE_BUFFER  (128 * 1024)


/* task->out may be written to.  It sets is_full at the worker's bound; it fails
 * at the location's. */
void ngx_http_symbolicate_output_begin(ngx_http_symbolicate_task_t *task);

/* Releases the text written so far for sending. */
void ngx_http_symbolicate_output_close(ngx_http_symbolicate_task_t *task);

/* The answer is complete and closed: marks the last buffer. */
ngx_int_t ngx_http_symbolicate_output_end(ngx_http_symbolicate_task_t *task);

/* Drops the text written so far; none was sent. */
void ngx_http_symbolicate_output_restart(ngx_http_symbolicate_task_t *task);

/* Uses a finished body as the answer; its last buffer is marked. */
void ngx_http_symbolicate_output_take(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *body);

/* True: the answer is longer than symbolicate_max_answer. */
ngx_uint_t ngx_http_symbolicate_output_is_too_long(
    ngx_http_symbolicate_task_t *task);

/* Frees a buffer that is sent. */
void ngx_http_symbolicate_output_free(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *cl);

/* Frees all buffers at the end of the request; may run twice. */
void ngx_http_symbolicate_output_drop(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_OUTPUT_H_INCLUDED_ */
