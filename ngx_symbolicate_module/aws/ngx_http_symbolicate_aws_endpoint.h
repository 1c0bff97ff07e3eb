
/*
 * ngx_http_symbolicate_aws_endpoint.h - requests to a container's endpoint or
 * instance metadata.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_AWS_ENDPOINT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_AWS_ENDPOINT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "aws/ngx_http_symbolicate_aws_keys.h"


/*
 * Starts an exchange.  It ends with a call of ngx_http_symbolicate_keys_told(),
 * but not before this function has returned.  NULL: it could not be started,
 * and *trouble is the reason.
 */
ngx_http_symbolicate_iam_t *ngx_http_symbolicate_iam_start(
    ngx_http_symbolicate_keys_t *keys, const char **trouble);

/* A phase handler: refuses requests for keys in other locations. */
ngx_int_t ngx_http_symbolicate_iam_check(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_ENDPOINT_H_INCLUDED_ */
