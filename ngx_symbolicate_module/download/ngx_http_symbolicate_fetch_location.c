
/*
 * ngx_http_symbolicate_fetch_location.c - the transport of configured sources:
 * one subrequest of their location for each file, and redirects to other
 * locations.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_location.h"
#include "download/ngx_http_symbolicate_fetch_redirect.h"
#include "download/ngx_http_symbolicate_fetch_report.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"


static ngx_int_t
ngx_http_symbolicate_location_join(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *uri, sym_str_t path)
{
    uri->len = fetch->source->uri.len + path.len;

    uri->data = ngx_pnalloc(fetch->pool, uri->len);
    if (uri->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(uri->data, fetch->source->uri.data,
                          fetch->source->uri.len),
               path.data, path.len);

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_location_set(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t plain)
{
    if (ngx_http_symbolicate_location_join(fetch, &fetch->uri, plain)
            != NGX_OK
        || ngx_http_symbolicate_location_join(fetch, &fetch->encoded, encoded)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    fetch->path.data = fetch->encoded.data + fetch->source->uri.len;
    fetch->path.len = encoded.len;
    fetch->url = fetch->encoded;
    ngx_str_null(&fetch->args);

    return NGX_OK;
}


/* Requests the path below the source's location. */
static ngx_int_t
ngx_http_symbolicate_location_try(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t plain)
{
    if (ngx_http_symbolicate_location_set(fetch, encoded, plain) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_fetch_ask(fetch);
}


/*
 * Follows a redirect; NGX_DECLINED: it is not a redirect, or not an allowed
 * one.
 */
static ngx_int_t
ngx_http_symbolicate_location_follow(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char     *p, *src, *dst;
    ngx_str_t   uri, path, args, decoded;

    if (fetch->leads.len == 0 || fetch->hops == NGX_SYMBOLICATE_HOPS
        || ngx_http_symbolicate_fetch_lead(fetch, &uri, &path) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    for (p = path.data; p < path.data + path.len; p++) {
        if (*p <= ' ' || *p >= 0x7f) {
            return NGX_DECLINED;
        }
    }

    p = ngx_strlchr(path.data, path.data + path.len, '#');
    if (p) {
        path.len = p - path.data;
    }

    ngx_str_null(&args);

    p = ngx_strlchr(path.data, path.data + path.len, '?');
    if (p) {
        args.data = p + 1;
        args.len = path.data + path.len - args.data;
        path.len = p - path.data;
    }

    fetch->encoded.len = uri.len + path.len;
    fetch->encoded.data = ngx_pnalloc(fetch->pool, fetch->encoded.len);
    decoded.data = ngx_pnalloc(fetch->pool, fetch->encoded.len);

    if (fetch->encoded.data == NULL || decoded.data == NULL) {
        return NGX_DECLINED;
    }

    ngx_memcpy(ngx_cpymem(fetch->encoded.data, uri.data, uri.len), path.data,
               path.len);

    dst = ngx_cpymem(decoded.data, uri.data, uri.len);
    src = path.data;
    ngx_unescape_uri(&dst, &src, path.len, 0);
    decoded.len = dst - decoded.data;

    /* the location may serve a folder */

    if (ngx_strnstr(decoded.data, "/../", decoded.len)
        || (decoded.len > 3
            && ngx_strncmp(dst - 3, "/..", 3) == 0)
        || memchr(decoded.data, '\0', decoded.len))
    {
        return NGX_DECLINED;
    }

    fetch->hops++;
    fetch->uri = decoded;
    fetch->path.data = fetch->encoded.data + uri.len;
    fetch->path.len = path.len;
    fetch->url = fetch->encoded;
    fetch->args = args;

    ngx_http_symbolicate_fetch_reset(fetch);

    return ngx_http_symbolicate_fetch_ask(fetch);
}


static ngx_int_t
ngx_http_symbolicate_location_tried(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    if (ngx_http_symbolicate_fetch_trouble(fetch, rc, is_whole)
        || fetch->status == NGX_HTTP_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_http_symbolicate_location_follow(fetch);
}


static ngx_uint_t
ngx_http_symbolicate_location_is_prelude(ngx_http_symbolicate_fetch_t *fetch)
{
    return 0;
}


static ngx_int_t
ngx_http_symbolicate_location_body(ngx_http_symbolicate_fetch_t *fetch,
    ngx_chain_t *in)
{
    return NGX_DECLINED;
}


/*
 * S3 answers 403 for a missing key if the client may not list the bucket, and
 * also for an invalid request.  The error code in the body distinguishes them.
 */
static ngx_uint_t
ngx_http_symbolicate_location_is_denied(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char  *code, *end;

    static ngx_str_t  denied = ngx_string("AccessDenied</Code>");

    code = ngx_strnstr(fetch->hint, "<Code>", fetch->nhint);

    if (code == NULL) {
        return 0;
    }

    code += sizeof("<Code>") - 1;
    end = fetch->hint + fetch->nhint;

    return (size_t) (end - code) < denied.len
           || ngx_strncmp(code, denied.data, denied.len) != 0;
}


/*
 * Whether the status shows that the source does not work, at least for us, so
 * that it has no meaning for the module.  Any other status is an answer about
 * the module, even an unusual one, and would not change on a retry.
 */
static ngx_uint_t
ngx_http_symbolicate_location_is_error(ngx_http_symbolicate_fetch_t *fetch)
{
    switch (fetch->status) {

    case NGX_HTTP_FORBIDDEN:

        /* the file exists, but is not readable */

        return !fetch->remote || ngx_http_symbolicate_location_is_denied(fetch)
               || !ngx_http_symbolicate_fetch_is_absent(fetch);

    case NGX_HTTP_UNAUTHORIZED:
    case 407:
        return !ngx_http_symbolicate_fetch_is_absent(fetch);

    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_TOO_MANY_REQUESTS:
        return 1;

    default:
        return fetch->status >= NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


static const char *
ngx_http_symbolicate_location_error(ngx_http_symbolicate_fetch_t *fetch)
{
    return ngx_http_symbolicate_location_is_error(fetch)
           ? "it answered with an error" : NULL;
}


static ngx_uint_t
ngx_http_symbolicate_location_outcome(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    return 0;
}


static void
ngx_http_symbolicate_location_failed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
}


static void
ngx_http_symbolicate_location_cancel(ngx_http_symbolicate_fetch_t *fetch)
{
}


const ngx_http_symbolicate_transport_t  ngx_http_symbolicate_fetch_location = {
    ngx_http_symbolicate_location_try,
    ngx_http_symbolicate_fetch_ask,
    ngx_http_symbolicate_location_tried,
    ngx_http_symbolicate_location_is_prelude,
    ngx_http_symbolicate_location_body,
    ngx_http_symbolicate_location_error,
    ngx_http_symbolicate_location_outcome,
    ngx_http_symbolicate_location_failed,
    ngx_http_symbolicate_location_cancel
};
