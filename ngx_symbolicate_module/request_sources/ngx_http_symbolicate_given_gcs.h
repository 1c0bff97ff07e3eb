
/*
 * ngx_http_symbolicate_given_gcs.h - buckets of Google's storage that a
 * request names.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_GCS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_GCS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request_sources/ngx_http_symbolicate_given_state.h"


extern const ngx_http_symbolicate_given_kind_t
    ngx_http_symbolicate_given_gcs;

/* The attempt waits for no token any more, and needs none; may run twice. */
void ngx_http_symbolicate_given_gcs_cancel(
    ngx_http_symbolicate_given_fetch_t *g);


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_GCS_H_INCLUDED_ */
