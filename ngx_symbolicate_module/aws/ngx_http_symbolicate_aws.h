
/*
 * ngx_http_symbolicate_aws.h - signs requests to S3.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* A phase handler: a request that will be signed waits here for keys. */
ngx_int_t ngx_http_symbolicate_aws_wait(ngx_http_request_t *r);

/* A variable; data: offset of a sym_str_t in sym_sigv4_t. */
ngx_int_t ngx_http_symbolicate_aws_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);

/* Resumes waiting requests; each of them checks for keys again. */
void ngx_http_symbolicate_aws_resume(ngx_queue_t *waiting);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_ */
