
/*
 * ngx_http_symbolicate_receive.h - uploads of symbol files.
 *
 * The protocols are in core/api/upload/.  A worker checks token and limits
 * before the body arrives, lets nginx spool the body, and passes its descriptor
 * to the loader.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_RECEIVE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_RECEIVE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/str.h"


/* The handler of SYM_ROUTE_UPLOAD. */
ngx_int_t ngx_http_symbolicate_receive_handler(ngx_http_request_t *r,
    sym_str_t rest);


#endif /* _NGX_HTTP_SYMBOLICATE_RECEIVE_H_INCLUDED_ */
