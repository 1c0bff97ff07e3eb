
/*
 * ngx_http_symbolicate_admin.h - paths of symbolicate_admin.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Handles a request for one of these paths; NGX_DECLINED: another path. */
ngx_int_t ngx_http_symbolicate_admin(ngx_http_request_t *r);

/* Whether the path is one of these; the method does not matter. */
ngx_uint_t ngx_http_symbolicate_is_admin(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_ */
