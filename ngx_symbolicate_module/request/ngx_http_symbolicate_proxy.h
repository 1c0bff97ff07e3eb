
/*
 * ngx_http_symbolicate_proxy.h - sends symbol files from sources to clients.
 *
 * Files are fetched in the same way as for the loader, but are not stored: the
 * client gets them unchanged.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/registry.h"


/* A content handler.  path: of the file, in the form that the API parses. */
ngx_int_t ngx_http_symbolicate_proxy_handler(ngx_http_request_t *r,
    sym_str_t path);


#endif /* _NGX_HTTP_SYMBOLICATE_PROXY_H_INCLUDED_ */
