
/*
 * ngx_http_symbolicate_body_turns.h - reads a long body in turns.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BODY_TURNS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BODY_TURNS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Call it before the body is read.  NGX_ERROR: out of memory. */
ngx_int_t ngx_http_symbolicate_body_take_turns(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_BODY_TURNS_H_INCLUDED_ */
