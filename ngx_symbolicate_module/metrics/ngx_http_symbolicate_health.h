
/*
 * ngx_http_symbolicate_health.h - whether this server can answer.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_HEALTH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_HEALTH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


ngx_int_t ngx_http_symbolicate_health_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_HEALTH_H_INCLUDED_ */
