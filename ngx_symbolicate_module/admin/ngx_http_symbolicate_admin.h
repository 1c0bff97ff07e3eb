
/*
 * ngx_http_symbolicate_admin.h - paths of symbolicate_admin.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* NGX_DECLINED: the path is none of these. */
ngx_int_t ngx_http_symbolicate_admin(ngx_http_request_t *r);

/* True: the path is one of these, whatever the method. */
ngx_uint_t ngx_http_symbolicate_is_admin(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_ADMIN_H_INCLUDED_ */
