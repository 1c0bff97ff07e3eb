
/*
 * ngx_http_symbolicate_body.h - the body of a request in one piece.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_ctx.h"


/* A step: sets task->body, which lives as long as the request. */
ngx_int_t ngx_http_symbolicate_read_step(ngx_http_symbolicate_task_t *task);

/* Gives up what reading holds; may run at any time, and twice. */
void ngx_http_symbolicate_read_end(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_BODY_H_INCLUDED_ */
