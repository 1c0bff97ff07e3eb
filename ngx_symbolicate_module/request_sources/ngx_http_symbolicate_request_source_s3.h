
/*
 * ngx_http_symbolicate_request_source_s3.h - S3 buckets defined by a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_S3_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_S3_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_s3;


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_S3_H_INCLUDED_ */
