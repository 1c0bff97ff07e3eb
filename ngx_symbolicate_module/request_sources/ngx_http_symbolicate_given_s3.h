
/*
 * ngx_http_symbolicate_given_s3.h - buckets of S3 that a request names.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_S3_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_S3_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_given_state.h"


extern const ngx_http_symbolicate_given_kind_t
    ngx_http_symbolicate_given_s3;


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_S3_H_INCLUDED_ */
