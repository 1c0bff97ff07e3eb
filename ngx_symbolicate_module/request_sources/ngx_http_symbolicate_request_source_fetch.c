
/*
 * ngx_http_symbolicate_request_source_fetch.c - the transport of request
 * sources.
 *
 * A redirect causes another request.  Its address is checked like the first one
 * (request_source_connect.c), and it has credentials only if the origin is the
 * same.  Each type of source has its own file: request_source_http.c and so on.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/guard/origins.h"
#include "sources/guard/url.h"
#include "sources/request/sources.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "request_sources/ngx_http_symbolicate_request_source_artifacts.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_fetch.h"
#include "request_sources/ngx_http_symbolicate_request_source_files.h"
#include "request_sources/ngx_http_symbolicate_request_source_gcs.h"
#include "request_sources/ngx_http_symbolicate_request_source_http.h"
#include "request_sources/ngx_http_symbolicate_request_source_links.h"
#include "request_sources/ngx_http_symbolicate_request_source_member.h"
#include "request_sources/ngx_http_symbolicate_request_source_s3.h"
#include "request_sources/ngx_http_symbolicate_request_source_sentry.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


#define NGX_SYMBOLICATE_REQUEST_SOURCE_HOPS    10

/* The same for uploads by URL, as in Tecken. */
#define NGX_SYMBOLICATE_CONFINED_HOPS          5


static void
ngx_http_symbolicate_request_source_end(ngx_event_t *ev)
{
    ngx_http_symbolicate_request_attempt_t *g = ev->data;

    g->fetch->done(g->fetch, NGX_OK, 1);
}


static ngx_http_symbolicate_request_attempt_t *
ngx_http_symbolicate_request_source_of(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_request_attempt_t  *g;

    if (fetch->attempt) {
        return fetch->attempt;
    }

    g = ngx_pcalloc(fetch->pool,
                    sizeof(ngx_http_symbolicate_request_attempt_t));
    if (g == NULL) {
        return NULL;
    }

    g->fetch = fetch;
    g->event.handler = ngx_http_symbolicate_request_source_end;
    g->event.data = g;
    g->event.log = ngx_cycle->log;
    sym_arena_init(&g->arena, NGX_SYMBOLICATE_REQUEST_SOURCE_TEXTS);

    fetch->attempt = g;

    return g;
}


static void
ngx_http_symbolicate_request_source_cancel(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_request_attempt_t  *g;

    g = fetch->attempt;

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

    ngx_http_symbolicate_request_source_gcs_cancel(g);
    ngx_http_symbolicate_request_source_member_cancel(g);
    sym_arena_drop(&g->arena);

    fetch->attempt = NULL;
}


static ngx_uint_t
ngx_http_symbolicate_request_source_outcome(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    if (fetch->attempt == NULL || fetch->attempt->outcome.len == 0) {
        return 0;
    }

    *outcome = fetch->attempt->outcome;

    return 1;
}


/*
 * Counts a failure of the host.  A refusal is an answer, so it does not count;
 * neither do limits and checks of this server.
 */
static void
ngx_http_symbolicate_request_source_failed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    ngx_http_symbolicate_request_attempt_t  *g;

    g = fetch->attempt;

    if (g == NULL || fetch->source->request_source == NULL) {
        return;
    }

    if (fetch->status == NGX_HTTP_UNAUTHORIZED && g->kind->refused) {
        g->kind->refused(g, fetch->source->request_source);
    }

    if (g->first.host.len == 0 || g->outcome.len
        || (fetch->trouble && !fetch->late && !g->unresolved)
        || fetch->status == NGX_HTTP_UNAUTHORIZED
        || fetch->status == NGX_HTTP_FORBIDDEN
        || fetch->status == NGX_HTTP_MOVED_TEMPORARILY)
    {
        return;
    }

    ngx_http_symbolicate_denied_count(fetch->policy->request_sources_conf,
                                      fetch->source->request_source, &g->first,
                                      outcome,
                                      ngx_current_msec - fetch->started);
}


static ngx_uint_t
ngx_http_symbolicate_request_source_is_prelude(
    ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->attempt
           && fetch->attempt->step != ngx_http_symbolicate_request_source_file;
}


static const ngx_http_symbolicate_request_source_kind_t *
ngx_http_symbolicate_request_source_kind(const sym_request_source_t *source,
    const sym_object_ref_t *ref)
{
    if (source->is_links) {
        return ref->member ? &ngx_http_symbolicate_request_source_member
               : source->type == SYM_REQUEST_SOURCE_SENTRY
               ? &ngx_http_symbolicate_request_source_artifacts
               : &ngx_http_symbolicate_request_source_links;
    }

    switch (source->type) {

    case SYM_REQUEST_SOURCE_SENTRY:
        return &ngx_http_symbolicate_request_source_sentry;

    case SYM_REQUEST_SOURCE_FILESYSTEM:
        return &ngx_http_symbolicate_request_source_folder;

    case SYM_REQUEST_SOURCE_S3:
        return &ngx_http_symbolicate_request_source_s3;

    case SYM_REQUEST_SOURCE_GCS:
        return &ngx_http_symbolicate_request_source_gcs;

    default:
        return &ngx_http_symbolicate_request_source_http;
    }
}


static ngx_int_t
ngx_http_symbolicate_request_source_try(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t key)
{
    sym_error_t                          err;
    sym_request_source_place_t                    place;
    const sym_request_source_t            *source;
    ngx_http_symbolicate_request_attempt_t  *g;

    g = ngx_http_symbolicate_request_source_of(fetch);
    if (g == NULL) {
        return NGX_ERROR;
    }

    source = fetch->source->request_source;

    g->kind = ngx_http_symbolicate_request_source_kind(source, &fetch->ref);
    g->unresolved = 0;
    ngx_str_null(&g->outcome);
    g->step = ngx_http_symbolicate_request_source_file;
    ngx_memzero(&g->first, sizeof(sym_url_t));

    if (!g->kind->has_places) {
        return g->kind->try(g, source, NULL);
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_request_source_place(&g->arena, source,
                                 &fetch->policy->request_sources_conf->storage,
                                 encoded, key, &place, &err)
            != SYM_OK
        || ngx_http_symbolicate_request_source_show(fetch,
                                                    place.shown) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (source->wants_role) {
        return ngx_http_symbolicate_request_source_stop(g,
                           "a request may not use the keys of this server");
    }

    return g->kind->try(g, source, &place);
}


static ngx_int_t
ngx_http_symbolicate_request_source_again(ngx_http_symbolicate_fetch_t *fetch)
{
    return ngx_http_symbolicate_request_source_ask(fetch->attempt);
}


static ngx_int_t
ngx_http_symbolicate_request_source_body(ngx_http_symbolicate_fetch_t *fetch,
    ngx_chain_t *in)
{
    size_t                               len;
    ngx_buf_t                           *b;
    ngx_http_symbolicate_request_attempt_t  *g;

    g = fetch->attempt;

    if (!ngx_http_symbolicate_request_source_is_prelude(fetch)
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
ngx_http_symbolicate_request_source_trouble(ngx_http_symbolicate_fetch_t *fetch)
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


/*
 * Azure redirects requests without credentials to its login page, which would
 * look like a file.
 */
static ngx_uint_t
ngx_http_symbolicate_request_source_is_login(
    ngx_http_symbolicate_request_attempt_t *g)
{
    return g->fetch->status == NGX_HTTP_MOVED_TEMPORARILY
           && sym_str_eq(g->url.host, SYM_STR("dev.azure.com"));
}


/* Adds the redirect to the list of them. */
static ngx_int_t
ngx_http_symbolicate_request_source_note(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char     *p;
    ngx_str_t   trail;

    trail.len = fetch->outcome.trail.len + fetch->leads.len + 1;
    trail.data = ngx_pnalloc(fetch->pool, trail.len);

    if (trail.data == NULL) {
        return NGX_ERROR;
    }

    /* "%V": the trail is NULL at first, which memcpy() must not get */

    p = ngx_sprintf(trail.data, "%V%V", &fetch->outcome.trail, &fetch->leads);
    *p = '\n';

    fetch->outcome.trail = trail;

    return NGX_OK;
}


/* Follows a redirect.  NGX_DECLINED: the response does not redirect. */
static ngx_int_t
ngx_http_symbolicate_request_source_follow(
    ngx_http_symbolicate_request_attempt_t *g)
{
    sym_url_t                      url;
    sym_error_t                    err;
    const sym_request_source_t    *source;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    if (fetch->trouble || g->step == ngx_http_symbolicate_request_source_token
        || !ngx_http_symbolicate_fetch_is_redirect(fetch)
        || fetch->leads.len == 0
        || ngx_http_symbolicate_request_source_is_login(g))
    {
        return NGX_DECLINED;
    }

    source = fetch->source->request_source;

    if (fetch->hops == (source->is_confined
                        ? NGX_SYMBOLICATE_CONFINED_HOPS
                        : NGX_SYMBOLICATE_REQUEST_SOURCE_HOPS))
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                          NGX_SYMBOLICATE_TOO_MANY_REDIRECTS);
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

    if (source->is_confined
        && (ngx_http_symbolicate_request_source_note(fetch) != NGX_OK
            || !sym_origins_have(source->patterns, source->n_patterns, &url,
                                 SYM_STR(""))))
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                               NGX_SYMBOLICATE_NOT_ALLOWED);
        return NGX_DECLINED;
    }

    g->url = url;
    g->url.userinfo = SYM_STR("");

    fetch->hops++;
    ngx_http_symbolicate_fetch_reset(fetch);
    fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


static ngx_int_t
ngx_http_symbolicate_request_source_tried(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_request_attempt_t  *g;

    g = fetch->attempt;

    if (g == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_request_source_follow(g) == NGX_OK) {
        return NGX_OK;
    }

    return g->step == ngx_http_symbolicate_request_source_file
           ? NGX_DECLINED : g->kind->answered(g, is_whole);
}


void
ngx_http_symbolicate_request_source_target(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *url, ngx_str_t *host, ngx_str_t *name)
{
    ngx_str_null(url);
    ngx_str_null(host);
    ngx_str_null(name);

    if (fetch->attempt) {
        *url = fetch->attempt->target;
        *host = fetch->attempt->host;
        *name = fetch->attempt->name;
    }
}


const ngx_http_symbolicate_transport_t
    ngx_http_symbolicate_request_source_transport =
{
    .try = ngx_http_symbolicate_request_source_try,
    .again = ngx_http_symbolicate_request_source_again,
    .tried = ngx_http_symbolicate_request_source_tried,
    .is_prelude = ngx_http_symbolicate_request_source_is_prelude,
    .body = ngx_http_symbolicate_request_source_body,
    .error = ngx_http_symbolicate_request_source_trouble,
    .outcome = ngx_http_symbolicate_request_source_outcome,
    .failed = ngx_http_symbolicate_request_source_failed,
    .cancel = ngx_http_symbolicate_request_source_cancel
};
