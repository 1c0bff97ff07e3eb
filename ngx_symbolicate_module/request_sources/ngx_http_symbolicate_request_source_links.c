
/*
 * ngx_http_symbolicate_request_source_links.c - source files that links lead
 * to.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/guard/origins.h"

#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_links.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


ngx_int_t
ngx_http_symbolicate_request_source_try_link(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    ngx_int_t    rc;
    sym_error_t  err;

    ngx_memzero(&err, sizeof(sym_error_t));

    switch (sym_url_read(&g->arena, g->fetch->ref.url, &g->url, &err)) {

    case SYM_OK:
        break;

    case SYM_NOMEM:
        return NGX_ERROR;

    default:
        return ngx_http_symbolicate_request_source_stop(g,
                "its address is not valid");
    }

    if (ngx_http_symbolicate_request_source_show(g->fetch,
                                        sym_url_shown(&g->arena, &g->url))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    g->first = g->url;

    rc = ngx_http_symbolicate_request_source_check_host(g);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


/* The request limits its headers to some URL patterns. */
static ngx_uint_t
ngx_http_symbolicate_request_source_is_trusted(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    return sym_origins_have(source->patterns, source->n_patterns, &g->first,
                            g->fetch->ref.url);
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_links =
{
    .try = ngx_http_symbolicate_request_source_try_link,
    .is_trusted = ngx_http_symbolicate_request_source_is_trusted
};
