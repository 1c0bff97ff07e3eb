
/*
 * ngx_http_symbolicate_given_fetch.c - the transport of sources of requests.
 *
 * A redirect is another request, whose address is checked as the first one's
 * was (given_connect.c), and carries credentials only if it stays at its
 * origin.  The types of sources are rows: given_http.c and so on.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/guard/url.h"
#include "sources/request/given.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "request_sources/ngx_http_symbolicate_given_attempt.h"
#include "request_sources/ngx_http_symbolicate_given_connect.h"
#include "request_sources/ngx_http_symbolicate_given_fetch.h"
#include "request_sources/ngx_http_symbolicate_given_files.h"
#include "request_sources/ngx_http_symbolicate_given_gcs.h"
#include "request_sources/ngx_http_symbolicate_given_http.h"
#include "request_sources/ngx_http_symbolicate_given_links.h"
#include "request_sources/ngx_http_symbolicate_given_s3.h"
#include "request_sources/ngx_http_symbolicate_given_sentry.h"
#include "request_sources/ngx_http_symbolicate_given_state.h"


#define NGX_SYMBOLICATE_GIVEN_HOPS    10


static void
ngx_http_symbolicate_given_end(ngx_event_t *ev)
{
    ngx_http_symbolicate_given_fetch_t *g = ev->data;

    g->fetch->done(g->fetch, NGX_OK, 1);
}


static ngx_http_symbolicate_given_fetch_t *
ngx_http_symbolicate_given_of(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    if (fetch->given) {
        return fetch->given;
    }

    g = ngx_pcalloc(fetch->pool, sizeof(ngx_http_symbolicate_given_fetch_t));
    if (g == NULL) {
        return NULL;
    }

    g->fetch = fetch;
    g->event.handler = ngx_http_symbolicate_given_end;
    g->event.data = g;
    g->event.log = ngx_cycle->log;
    sym_arena_init(&g->arena, NGX_SYMBOLICATE_GIVEN_TEXTS);

    fetch->given = g;

    return g;
}


static void
ngx_http_symbolicate_given_cancel(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (g == NULL) {
        return;
    }

    if (g->resolving) {
        ngx_resolve_name_done(g->resolving);
        g->resolving = NULL;
    }

    if (g->event.posted) {
        ngx_delete_posted_event(&g->event);
    }

    ngx_http_symbolicate_given_gcs_cancel(g);
    sym_arena_drop(&g->arena);

    fetch->given = NULL;
}


static ngx_uint_t
ngx_http_symbolicate_given_outcome(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    if (fetch->given == NULL || fetch->given->outcome.len == 0) {
        return 0;
    }

    *outcome = fetch->given->outcome;

    return 1;
}


/*
 * A refusal is an answer, and what this server refuses or has no room for is
 * not the host's fault.
 */
static void
ngx_http_symbolicate_given_failed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (g == NULL || fetch->source->given == NULL) {
        return;
    }

    if (fetch->status == NGX_HTTP_UNAUTHORIZED && g->kind->refused) {
        g->kind->refused(g, fetch->source->given);
    }

    if (g->first.host.len == 0 || g->outcome.len
        || (fetch->trouble && !fetch->late && !g->unresolved)
        || fetch->status == NGX_HTTP_UNAUTHORIZED
        || fetch->status == NGX_HTTP_FORBIDDEN
        || fetch->status == NGX_HTTP_MOVED_TEMPORARILY)
    {
        return;
    }

    ngx_http_symbolicate_denied_count(fetch->policy->given_conf,
                                      fetch->source->given, &g->first, outcome,
                                      ngx_current_msec - fetch->started);
}


static ngx_uint_t
ngx_http_symbolicate_given_is_prelude(ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->given
           && fetch->given->step != ngx_http_symbolicate_given_file;
}


static const ngx_http_symbolicate_given_kind_t *
ngx_http_symbolicate_given_kind(const sym_given_source_t *source)
{
    if (source->is_links) {
        return &ngx_http_symbolicate_given_links;
    }

    switch (source->type) {

    case SYM_GIVEN_SENTRY:
        return &ngx_http_symbolicate_given_sentry;

    case SYM_GIVEN_FILESYSTEM:
        return &ngx_http_symbolicate_given_folder;

    case SYM_GIVEN_S3:
        return &ngx_http_symbolicate_given_s3;

    case SYM_GIVEN_GCS:
        return &ngx_http_symbolicate_given_gcs;

    default:
        return &ngx_http_symbolicate_given_http;
    }
}


static ngx_int_t
ngx_http_symbolicate_given_try(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t key)
{
    sym_error_t                          err;
    sym_given_place_t                    place;
    const sym_given_source_t            *source;
    ngx_http_symbolicate_given_fetch_t  *g;

    g = ngx_http_symbolicate_given_of(fetch);
    if (g == NULL) {
        return NGX_ERROR;
    }

    source = fetch->source->given;

    g->kind = ngx_http_symbolicate_given_kind(source);
    g->unresolved = 0;
    ngx_str_null(&g->outcome);
    g->step = ngx_http_symbolicate_given_file;
    ngx_memzero(&g->first, sizeof(sym_url_t));

    if (!g->kind->has_places) {
        return g->kind->try(g, source, NULL);
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_given_place(&g->arena, source, &fetch->policy->given_conf->storage,
                        encoded, key, &place, &err)
            != SYM_OK
        || ngx_http_symbolicate_given_show(fetch, place.shown) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (source->wants_role) {
        return ngx_http_symbolicate_given_stop(g,
                           "a request may not use the keys of this server");
    }

    return g->kind->try(g, source, &place);
}


static ngx_int_t
ngx_http_symbolicate_given_again(ngx_http_symbolicate_fetch_t *fetch)
{
    return ngx_http_symbolicate_given_ask(fetch->given);
}


static ngx_int_t
ngx_http_symbolicate_given_body(ngx_http_symbolicate_fetch_t *fetch,
    ngx_chain_t *in)
{
    size_t                               len;
    ngx_buf_t                           *b;
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (!ngx_http_symbolicate_given_is_prelude(fetch)
        || fetch->status != NGX_HTTP_OK)
    {
        return NGX_DECLINED;
    }

    for ( ; in; in = in->next) {
        b = in->buf;

        if (!ngx_buf_in_memory(b)) {
            continue;
        }

        len = b->last - b->pos;

        if (len > g->kind->max - g->ntext) {
            return ngx_http_symbolicate_fetch_fail(fetch, g->kind->too_long);
        }

        ngx_memcpy(g->text + g->ntext, b->pos, len);
        g->ntext += len;
        fetch->received += len;
        b->pos = b->last;
    }

    return NGX_OK;
}


static const char *
ngx_http_symbolicate_given_trouble(ngx_http_symbolicate_fetch_t *fetch)
{
    switch (fetch->status) {

    case NGX_HTTP_UNAUTHORIZED:
    case NGX_HTTP_FORBIDDEN:
        return "403 Forbidden";

    case NGX_HTTP_MOVED_TEMPORARILY:
        return "Potential login page detected";

    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_TOO_MANY_REQUESTS:
        return "it answered with an error";

    default:
        break;
    }

    if (fetch->status >= 400 && fetch->status < 500) {
        return NULL;
    }

    return "it answered with an error";
}


/* Azure answers a request without credentials with a redirect to its page for
 * them, which would be taken for a file. */
static ngx_uint_t
ngx_http_symbolicate_given_is_login(ngx_http_symbolicate_given_fetch_t *g)
{
    return g->fetch->status == NGX_HTTP_MOVED_TEMPORARILY
           && sym_str_eq(g->url.host, SYM_STR("dev.azure.com"));
}


/* Follows a redirect.  NGX_DECLINED: the answer leads nowhere. */
static ngx_int_t
ngx_http_symbolicate_given_follow(ngx_http_symbolicate_given_fetch_t *g)
{
    sym_url_t                      url;
    sym_error_t                    err;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    if (fetch->trouble || g->step == ngx_http_symbolicate_given_token
        || !ngx_http_symbolicate_fetch_is_redirect(fetch)
        || fetch->leads.len == 0 || ngx_http_symbolicate_given_is_login(g))
    {
        return NGX_DECLINED;
    }

    if (fetch->hops == NGX_SYMBOLICATE_GIVEN_HOPS) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "too many redirects");
        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_url_resolve(&g->arena, &g->url,
                        sym_str((char *) fetch->leads.data, fetch->leads.len),
                        &url, &err)
        != SYM_OK)
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                       "it redirected to an invalid address");
        return NGX_DECLINED;
    }

    g->url = url;
    g->url.userinfo = SYM_STR("");

    fetch->hops++;
    ngx_http_symbolicate_fetch_reset(fetch);
    fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


static ngx_int_t
ngx_http_symbolicate_given_tried(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (g == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_given_follow(g) == NGX_OK) {
        return NGX_OK;
    }

    return g->step == ngx_http_symbolicate_given_file
           ? NGX_DECLINED : g->kind->answered(g, is_whole);
}


void
ngx_http_symbolicate_given_target(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *url, ngx_str_t *host, ngx_str_t *name)
{
    ngx_str_null(url);
    ngx_str_null(host);
    ngx_str_null(name);

    if (fetch->given) {
        *url = fetch->given->target;
        *host = fetch->given->host;
        *name = fetch->given->name;
    }
}


const ngx_http_symbolicate_transport_t  ngx_http_symbolicate_given_transport = {
    .try = ngx_http_symbolicate_given_try,
    .again = ngx_http_symbolicate_given_again,
    .tried = ngx_http_symbolicate_given_tried,
    .is_prelude = ngx_http_symbolicate_given_is_prelude,
    .body = ngx_http_symbolicate_given_body,
    .error = ngx_http_symbolicate_given_trouble,
    .outcome = ngx_http_symbolicate_given_outcome,
    .failed = ngx_http_symbolicate_given_failed,
    .cancel = ngx_http_symbolicate_given_cancel
};
