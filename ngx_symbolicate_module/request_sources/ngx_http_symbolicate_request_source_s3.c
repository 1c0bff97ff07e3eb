
/*
 * ngx_http_symbolicate_request_source_s3.c - S3 buckets defined by a request.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/sigv4.h"

#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_headers.h"
#include "request_sources/ngx_http_symbolicate_request_source_http.h"
#include "request_sources/ngx_http_symbolicate_request_source_s3.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


/* Signs with AWS's signature, version 4.  A source without a key is public. */
static ngx_int_t
ngx_http_symbolicate_request_source_sign(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    sym_error_t              err;
    sym_sigv4_t              signature;
    sym_status_t             status;
    sym_sigv4_key_t          key;
    sym_sigv4_header_t       host;
    sym_sigv4_request_t      request;
    sym_aws_credentials_t    keys;

    if (source->access_key.len == 0) {
        return NGX_OK;
    }

    ngx_memzero(&err, sizeof(sym_error_t));
    ngx_memzero(&key, sizeof(sym_sigv4_key_t));
    ngx_memzero(&keys, sizeof(sym_aws_credentials_t));
    ngx_memzero(&request, sizeof(sym_sigv4_request_t));

    keys.access_key = source->access_key;
    keys.secret_key = source->secret_key;
    keys.token = source->session_token;

    host.name = SYM_STR("Host");
    host.value = sym_str((char *) g->host.data, g->host.len);

    request.method = SYM_STR("GET");
    request.path = g->url.path;
    request.query = g->url.query;
    request.headers = &host;
    request.n_headers = 1;
    request.payload_hash = SYM_SIGV4_EMPTY;
    request.credentials = &keys;
    request.region = source->region;
    request.time_s = ngx_time();

    status = sym_sigv4_sign(&g->arena, &key, &request, &signature, &err);

    sym_wipe(&key, sizeof(sym_sigv4_key_t));

    if (status != SYM_OK
        || ngx_http_symbolicate_request_source_add(g, "Authorization",
                                          signature.authorization) != NGX_OK
        || ngx_http_symbolicate_request_source_add(g, "X-Amz-Date",
                                                   signature.amz_date) != NGX_OK
        || ngx_http_symbolicate_request_source_add(g, "X-Amz-Content-Sha256",
                                          signature.content_sha256) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return signature.security_token.len
           ? ngx_http_symbolicate_request_source_add(g, "X-Amz-Security-Token",
                                                     signature.security_token)
           : NGX_OK;
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_s3 =
{
    .try = ngx_http_symbolicate_request_source_try_http,
    .add_keys = ngx_http_symbolicate_request_source_sign,
    .has_places = 1
};
