
/*
 * ngx_http_symbolicate_proxy.h - symbol files of sources, for clients.
 *
 * Files are fetched as for the loader, but go neither to the loader nor to the
 * store: the client gets them unchanged.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/registry.h"


/* A content handler.  path: of the file, as the API reads it. */
ngx_int_t ngx_http_symbolicate_proxy_handler(ngx_http_request_t *r,
    sym_str_t path);


#endif /* _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_ */
