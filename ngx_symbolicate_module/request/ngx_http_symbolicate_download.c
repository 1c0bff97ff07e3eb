
/*
 * ngx_http_symbolicate_download.c - a download for one request.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_download.h"


static void ngx_http_symbolicate_download_more(void *data, off_t need);
static void ngx_http_symbolicate_download_tick(void *data);
static void ngx_http_symbolicate_download_done(void *data);
static void ngx_http_symbolicate_download_free(
    ngx_http_symbolicate_download_t *download);


static ngx_http_symbolicate_fetch_events_t
    ngx_http_symbolicate_download_events =
{
    ngx_http_symbolicate_download_more,
    ngx_http_symbolicate_download_tick,
    ngx_http_symbolicate_download_done
};


ngx_http_symbolicate_download_t *
ngx_http_symbolicate_download_start(ngx_uint_t *count,
    ngx_http_symbolicate_turn_t *turn,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease)
{
    ngx_http_symbolicate_download_t  *download;

    download = ngx_calloc(sizeof(ngx_http_symbolicate_download_t),
                          ngx_cycle->log);
    if (download == NULL) {
        return NULL;
    }

    download->turn = turn;
    download->count = count;
    download->policy = policy;
    download->fetch = ngx_http_symbolicate_fetch_start(
                                        &ngx_http_symbolicate_download_events,
                                        download, policy, object, lease);

    if (download->fetch == NULL) {
        ngx_free(download);
        return NULL;
    }

    (*count)++;

    if (policy->hold) {
        policy->hold(policy->request_sources);
    }

    return download;
}


void
ngx_http_symbolicate_download_uncount(
    ngx_http_symbolicate_download_t *download)
{
    if (download->count) {
        (*download->count)--;
        download->count = NULL;
    }
}


void
ngx_http_symbolicate_download_drop(ngx_http_symbolicate_download_t *download)
{
    if (download) {
        download->turn = NULL;
        ngx_http_symbolicate_download_free(download);
    }
}


static void
ngx_http_symbolicate_download_free(ngx_http_symbolicate_download_t *download)
{
    if (ngx_http_symbolicate_fetch_free(download->fetch) != NGX_OK) {
        return;
    }

    if (download->policy->release) {
        download->policy->release(download->policy->request_sources);
    }

    ngx_http_symbolicate_download_uncount(download);
    ngx_free(download);
}


/* Deferred, because nginx is still reading the body. */
static void
ngx_http_symbolicate_download_more(void *data, off_t need)
{
    ngx_http_symbolicate_download_t *download = data;

    download->too_large = 1;

    if (download->turn) {
        ngx_http_symbolicate_enqueue(download->turn);
    }
}


static void
ngx_http_symbolicate_download_tick(void *data)
{
    ngx_http_symbolicate_download_t *download = data;

    if (download->turn == NULL) {
        ngx_http_symbolicate_download_free(download);
    }
}


static void
ngx_http_symbolicate_download_done(void *data)
{
    ngx_http_symbolicate_download_t *download = data;

    if (download->turn == NULL) {
        ngx_http_symbolicate_download_free(download);
        return;
    }

    download->ended = 1;
    ngx_http_symbolicate_enqueue(download->turn);
}
