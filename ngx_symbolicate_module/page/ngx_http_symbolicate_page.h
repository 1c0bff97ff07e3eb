
/*
 * ngx_http_symbolicate_page.h - the web page that is built into the module.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PAGE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PAGE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* A content handler. */
ngx_int_t ngx_http_symbolicate_page_handler(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_PAGE_H_INCLUDED_ */
