
/*
 * ngx_http_symbolicate_proxy_names.h - answers with the names and ids of a
 * module.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PROXY_NAMES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PROXY_NAMES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_proxy_send.h"


/* Whether the source is NAME.try, and there is also a source NAME. */
ngx_uint_t ngx_http_symbolicate_proxy_is_try(ngx_array_t *sources,
    ngx_str_t *name);

/*
 * Searches the records of the sources that are being searched.  NGX_OK:
 * proxy->names is set; NGX_DECLINED: they do not have the module; NGX_ERROR.
 */
ngx_int_t ngx_http_symbolicate_proxy_look(ngx_http_symbolicate_proxy_t *proxy);

/* Sends the names. */
ngx_int_t ngx_http_symbolicate_proxy_send_names(
    ngx_http_symbolicate_proxy_t *proxy);


#endif /* _NGX_HTTP_SYMBOLICATE_PROXY_NAMES_H_INCLUDED_ */
