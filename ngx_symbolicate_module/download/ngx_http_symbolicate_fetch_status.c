
/*
 * ngx_http_symbolicate_fetch_status.c - classifies an answer of a source: a
 * file, no file or a failure.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"


ngx_int_t
ngx_http_symbolicate_fetch_fail(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    fetch->trouble = trouble;

    return NGX_ERROR;
}


ngx_uint_t
ngx_http_symbolicate_fetch_is_redirect(ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->status == NGX_HTTP_MOVED_PERMANENTLY
           || fetch->status == NGX_HTTP_MOVED_TEMPORARILY
           || fetch->status == NGX_HTTP_SEE_OTHER
           || fetch->status == NGX_HTTP_TEMPORARY_REDIRECT
           || fetch->status == NGX_HTTP_PERMANENT_REDIRECT;
}


ngx_uint_t
ngx_http_symbolicate_fetch_is_absent(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *source;

    source = fetch->source;

    if (source->request_source) {
        return fetch->status != NGX_HTTP_OK
               && fetch->transport->error(fetch) == NULL;
    }

    for (i = 0; i < source->nabsent; i++) {
        if (source->absent[i] == fetch->status) {
            return 1;
        }
    }

    return 0;
}


const char *
ngx_http_symbolicate_fetch_trouble(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    if (fetch->trouble) {
        return fetch->trouble;
    }

    if (fetch->status == 0) {

        switch (rc) {

        case NGX_HTTP_BAD_GATEWAY:
            return "no connection, or no answer in HTTP";

        case NGX_HTTP_GATEWAY_TIME_OUT:
            return "timeout";

        default:
            break;
        }

        if (rc < NGX_HTTP_SPECIAL_RESPONSE) {
            return rc == NGX_OK ? "no answer in HTTP"
                                : "it could not be reached";
        }

        fetch->status = rc;
    }

    if (fetch->status == NGX_HTTP_OK) {

        /* for an empty file, nginx sends no last buffer */

        if ((!is_whole && fetch->announced != 0)
            || (fetch->announced != -1 && fetch->announced != fetch->received))
        {
            return "the body was cut short";
        }

        return NULL;
    }

    return fetch->transport->error(fetch);
}
