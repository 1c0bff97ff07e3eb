
/*
 * ngx_http_symbolicate_handler.h - begins and ends a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Content handler of locations with "symbolicate". */
ngx_int_t ngx_http_symbolicate_handler(ngx_http_request_t *r);

/* A phase handler: counts the request. */
ngx_int_t ngx_http_symbolicate_log_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_ */
