
/*
 * ngx_http_symbolicate_filter.h - CORS headers, and nginx's own errors.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FILTER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FILTER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Postconfiguration: puts the filters in front of the existing ones. */
ngx_int_t ngx_http_symbolicate_filter_init(ngx_conf_t *cf);


#endif /* _NGX_HTTP_SYMBOLICATE_FILTER_H_INCLUDED_ */
