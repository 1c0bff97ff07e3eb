
/*
 * ngx_http_symbolicate_answer.h - looks frames up and writes the answer.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ANSWER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ANSWER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* A step. */
ngx_int_t ngx_http_symbolicate_answer_step(ngx_http_symbolicate_task_t *task);

/* Releases resources of the answer; may run at any time, and twice. */
void ngx_http_symbolicate_answer_end(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_ANSWER_H_INCLUDED_ */
