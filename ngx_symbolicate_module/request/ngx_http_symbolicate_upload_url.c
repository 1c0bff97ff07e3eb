
/*
 * ngx_http_symbolicate_upload_url.c - the archive of an upload by URL.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/upload/by_url.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_download.h"
#include "request/ngx_http_symbolicate_upload_url.h"
#include "request_sources/ngx_http_symbolicate_request_sources.h"


/* Number of tries if an error may be over. */
#define NGX_SYMBOLICATE_URL_TRIES   3

/* The pause before the second try; each later one is twice as long. */
#define NGX_SYMBOLICATE_URL_PAUSE   250

/* Maximum size of the texts. */
#define NGX_SYMBOLICATE_URL_TEXTS   (64 * 1024)


struct ngx_http_symbolicate_upload_url_s {
    ngx_http_request_t                      *request;
    ngx_http_symbolicate_turn_t             *turn;
    ngx_http_symbolicate_request_sources_t  *sources;
    ngx_http_symbolicate_download_t         *download;
    sym_arena_t                              arena;
    sym_str_t                                text;      /* the URL as sent */
    sym_str_t                                url;
    off_t                                    most;
    ngx_uint_t                               tries;
    ngx_event_t                              pause;     /* before a try */
    sym_by_url_t                             how;       /* not OK: refused */
    unsigned                                 busy:1;
};


static ngx_int_t ngx_http_symbolicate_upload_url_begin(
    ngx_http_symbolicate_upload_url_t *u);
static ngx_int_t ngx_http_symbolicate_upload_url_fetch(
    ngx_http_symbolicate_upload_url_t *u);
static void ngx_http_symbolicate_upload_url_pause(
    ngx_http_symbolicate_upload_url_t *u);
static void ngx_http_symbolicate_upload_url_again(ngx_event_t *ev);
static sym_by_url_t ngx_http_symbolicate_upload_url_judge(
    ngx_http_symbolicate_upload_url_t *u,
    ngx_http_symbolicate_fetch_result_t *result, sym_str_t *text);


static ngx_uint_t  ngx_http_symbolicate_upload_urls;


ngx_http_symbolicate_upload_url_t *
ngx_http_symbolicate_upload_url_start(ngx_http_request_t *r,
    ngx_http_symbolicate_turn_t *turn, sym_str_t url, off_t most)
{
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_upload_url_t  *u;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    u = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_upload_url_t));
    if (u == NULL) {
        return NULL;
    }

    u->request = r;
    u->turn = turn;
    u->most = most;
    sym_arena_init(&u->arena, NGX_SYMBOLICATE_URL_TEXTS);

    u->text = sym_arena_copy(&u->arena, url);

    if (u->text.data == NULL) {
        return NULL;
    }

    u->how = sym_by_url_check(&u->arena, u->text, slcf->upload.hosts,
                              slcf->upload.nhosts, &u->url);

    if (u->how != SYM_BY_URL_OK) {
        ngx_http_symbolicate_enqueue(turn);
        return u;
    }

    if (ngx_http_symbolicate_upload_url_begin(u) != NGX_OK) {
        ngx_http_symbolicate_upload_url_end(u);
        return NULL;
    }

    return u;
}


static ngx_int_t
ngx_http_symbolicate_upload_url_begin(ngx_http_symbolicate_upload_url_t *u)
{
    ngx_int_t                          rc;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    slcf = ngx_http_get_module_loc_conf(u->request,
                                        ngx_http_symbolicate_module);
    smcf = ngx_http_get_module_main_conf(u->request,
                                         ngx_http_symbolicate_module);

    rc = ngx_http_symbolicate_request_sources_confined(u->request, smcf,
                                                       &slcf->policy,
                                                       slcf->upload.hosts,
                                                       slcf->upload.nhosts,
                                                       &u->sources);
    if (rc == NGX_BUSY) {
        u->busy = 1;
        ngx_http_symbolicate_enqueue(u->turn);
        return NGX_OK;
    }

    return rc == NGX_OK ? ngx_http_symbolicate_upload_url_fetch(u) : NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_upload_url_fetch(ngx_http_symbolicate_upload_url_t *u)
{
    sym_object_ref_t                      ref;
    ngx_http_symbolicate_lease_t          lease;
    ngx_http_symbolicate_object_t         object;
    ngx_http_symbolicate_fetch_policy_t  *policy;

    policy = ngx_http_symbolicate_request_sources_policy(u->sources);

    ngx_memzero(&ref, sizeof(sym_object_ref_t));
    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    ref.url = u->url;
    ref.role = SYM_TEXT_BUNDLE;     /* no limit of a text */

    object.first = policy->links;
    object.places = UINT64_MAX;
    object.ref = &ref;
    object.files = NGX_MAX_UINT32_VALUE;

    lease.bytes = u->most;
    lease.whole = 1;

    u->tries++;
    u->download = ngx_http_symbolicate_download_start(
                                           &ngx_http_symbolicate_upload_urls,
                                           u->turn, policy, &object, &lease);

    return u->download ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_upload_url_result(ngx_http_symbolicate_upload_url_t *u,
    ngx_http_symbolicate_upload_file_t *file)
{
    ngx_uint_t                            status;
    sym_str_t                             text;
    ngx_http_symbolicate_fetch_result_t  *result;

    text = u->text;
    status = 0;

    if (u->busy) {
        file->why = SYM_UPLOAD_BUSY;
        return NGX_DECLINED;
    }

    if (u->pause.timer_set) {
        return NGX_DONE;
    }

    if (u->download) {

        if (u->download->too_large) {
            file->why = SYM_UPLOAD_TOO_LARGE;
            return NGX_DECLINED;
        }

        if (!u->download->ended) {
            return NGX_DONE;
        }

        result = ngx_http_symbolicate_fetch_result(u->download->fetch);

        file->url = u->text;
        file->redirects = sym_str((char *) result->trail.data,
                                  result->trail.len);

        if (result->state == SYM_MODULE_READY && !result->spooled) {

            /* the loader appends its report to the file */

            file->why = SYM_UPLOAD_UNAVAILABLE;
            file->reason = SYM_STR("the location of "
                    "symbolicate_request_sources caches, or is no proxy_pass");
            return NGX_DECLINED;
        }

        if (result->state == SYM_MODULE_READY) {
            file->fd = result->fd;
            file->size = result->length;
            return NGX_OK;
        }

        status = result->status;
        u->how = ngx_http_symbolicate_upload_url_judge(u, result, &text);

        if (sym_by_url_may_retry(u->how, status)
            && u->tries < NGX_SYMBOLICATE_URL_TRIES)
        {
            ngx_http_symbolicate_upload_url_pause(u);
            return NGX_DONE;
        }
    }

    file->why = sym_by_url_is_remote(u->how) ? SYM_UPLOAD_REMOTE
                                             : SYM_UPLOAD_MALFORMED;
    file->reason = sym_by_url_text(&u->arena, u->how, text, status);

    return NGX_DECLINED;
}


static void
ngx_http_symbolicate_upload_url_pause(ngx_http_symbolicate_upload_url_t *u)
{
    ngx_msec_t                            pause;
    ngx_http_symbolicate_fetch_policy_t  *policy;

    policy = ngx_http_symbolicate_request_sources_policy(u->sources);
    pause = NGX_SYMBOLICATE_URL_PAUSE << (u->tries - 1);

    ngx_http_symbolicate_download_drop(u->download);
    u->download = NULL;

    u->pause.handler = ngx_http_symbolicate_upload_url_again;
    u->pause.data = u;
    u->pause.log = u->request->connection->log;

    ngx_add_timer(&u->pause, ngx_min(pause, policy->timeout));
}


static void
ngx_http_symbolicate_upload_url_again(ngx_event_t *ev)
{
    ngx_http_symbolicate_upload_url_t  *u;

    u = ev->data;

    if (ngx_http_symbolicate_upload_url_fetch(u) != NGX_OK) {
        ngx_http_symbolicate_enqueue(u->turn);
    }
}


/* *text is the URL that the reason names. */
static sym_by_url_t
ngx_http_symbolicate_upload_url_judge(ngx_http_symbolicate_upload_url_t *u,
    ngx_http_symbolicate_fetch_result_t *result, sym_str_t *text)
{
    sym_str_t                         rest, last, unused;
    const char                       *trouble;
    sym_by_url_t                      how;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    trouble = result->trouble ? result->trouble : "";

    if (ngx_strcmp(trouble, NGX_SYMBOLICATE_TOO_MANY_REDIRECTS) == 0) {
        return SYM_BY_URL_REDIRECTS;
    }

    if (ngx_strcmp(trouble, NGX_SYMBOLICATE_NOT_ALLOWED) != 0
        && ngx_strcmp(trouble, NGX_SYMBOLICATE_RESTRICTED) != 0)
    {
        return sym_by_url_failure(result->status,
                                  result->state == SYM_MODULE_ABSENT);
    }

    rest = sym_str((char *) result->trail.data, result->trail.len);

    while (rest.len) {
        last = sym_str_cut(&rest, '\n');
        *text = last;
    }

    slcf = ngx_http_get_module_loc_conf(u->request,
                                        ngx_http_symbolicate_module);

    how = sym_by_url_check(&u->arena, *text, slcf->upload.hosts,
                           slcf->upload.nhosts, &unused);

    return how == SYM_BY_URL_INSECURE ? how : SYM_BY_URL_HOST;
}


void
ngx_http_symbolicate_upload_url_end(ngx_http_symbolicate_upload_url_t *u)
{
    if (u == NULL) {
        return;
    }

    if (u->pause.timer_set) {
        ngx_del_timer(&u->pause);
    }

    ngx_http_symbolicate_download_drop(u->download);
    u->download = NULL;

    if (u->sources) {
        ngx_http_symbolicate_request_sources_release(u->sources);
        u->sources = NULL;
    }

    sym_arena_drop(&u->arena);
}
