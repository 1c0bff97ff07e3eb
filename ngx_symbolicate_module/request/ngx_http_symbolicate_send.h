
/*
 * ngx_http_symbolicate_send.h - passes the answer to the output filters.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SEND_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SEND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_ctx.h"


/* A step. */
ngx_int_t ngx_http_symbolicate_send_step(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_SEND_H_INCLUDED_ */
