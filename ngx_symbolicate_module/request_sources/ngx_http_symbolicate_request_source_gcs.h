
/*
 * ngx_http_symbolicate_request_source_gcs.h - buckets of Google's storage,
 * defined by a request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_GCS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_GCS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_request_source_state.h"


extern const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_gcs;

/* Ends the attempt's wait or need for a token; may run twice. */
void ngx_http_symbolicate_request_source_gcs_cancel(
    ngx_http_symbolicate_request_attempt_t *g);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_GCS_H_INCLUDED_ */
