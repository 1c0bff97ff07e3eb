
/*
 * ngx_http_symbolicate_request_source_files.h - files in a folder, for sources
 * defined by a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FILES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FILES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_folder;

/* Passes an open file on; the loader gets a copy of the descriptor. */
ngx_int_t ngx_http_symbolicate_request_source_take(
    ngx_http_symbolicate_fetch_t *fetch, ngx_fd_t fd, off_t size);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_FILES_H_INCLUDED_ */
