
/*
 * ngx_http_symbolicate_request_source_http.c - symbol servers defined by a
 * request.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_http.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


ngx_int_t
ngx_http_symbolicate_request_source_try_http(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    ngx_int_t  rc;

    g->first = place->url;
    g->url = place->url;

    rc = ngx_http_symbolicate_request_source_check_host(g);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


static ngx_int_t
ngx_http_symbolicate_request_source_add_http_keys(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    return ngx_http_symbolicate_fetch_add_checksum(g->fetch);
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_http =
{
    .try = ngx_http_symbolicate_request_source_try_http,
    .add_keys = ngx_http_symbolicate_request_source_add_http_keys,
    .has_places = 1
};
