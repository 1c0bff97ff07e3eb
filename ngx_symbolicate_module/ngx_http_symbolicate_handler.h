
/*
 * ngx_http_symbolicate_handler.h - where a request of ours begins and ends.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* A content handler: of locations with "symbolicate". */
ngx_int_t ngx_http_symbolicate_handler(ngx_http_request_t *r);

/* A phase handler: counts the request. */
ngx_int_t ngx_http_symbolicate_log_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_HANDLER_H_INCLUDED_ */
