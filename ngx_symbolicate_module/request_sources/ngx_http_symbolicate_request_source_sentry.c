
/*
 * ngx_http_symbolicate_request_source_sentry.c - Sentry's own store of debug
 * files.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/request/sentry_files.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_headers.h"
#include "request_sources/ngx_http_symbolicate_request_source_sentry.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


/*
 * Requests the file in the list that is of the attempt's type.  NGX_DECLINED:
 * the list has no such file.
 */
static ngx_int_t
ngx_http_symbolicate_request_source_pick(
    ngx_http_symbolicate_request_attempt_t *g)
{
    uint32_t            i;
    sym_str_t           shown;
    sym_sentry_file_t  *file;

    for (i = 0; i < g->nfiles; i++) {
        file = &g->files[i];

        if (!(file->files & (1u << g->fetch->file))) {
            continue;
        }

        file->files = 0;

        if (sym_sentry_file_url(&g->arena, &g->listed->url, file->id, &g->url,
                                &shown)
                != SYM_OK
            || ngx_http_symbolicate_request_source_show(g->fetch,
                                                        shown) != NGX_OK)
        {
            return NGX_ERROR;
        }

        g->first = g->url;
        g->fetch->remote = 1;

        return ngx_http_symbolicate_request_source_ask(g);
    }

    return NGX_DECLINED;
}


/* Requests the list, once in a fetch, before the first file. */
static ngx_int_t
ngx_http_symbolicate_request_source_try_sentry(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    sym_status_t  status;

    if (g->listed == source) {
        return ngx_http_symbolicate_request_source_pick(g);
    }

    g->listed = source;
    g->nfiles = 0;

    if (g->fetch->ref.is_either) {
        return NGX_DECLINED;
    }

    status = sym_sentry_list_url(&g->arena, &source->url,
                                 &g->fetch->ref, &g->url);

    if (status == SYM_NOT_FOUND) {
        return NGX_DECLINED;
    }

    if (g->files == NULL) {
        g->files = ngx_palloc(g->fetch->pool, SYM_SENTRY_FILES_MAX
                                              * sizeof(sym_sentry_file_t));
    }

    if (status != SYM_OK || g->files == NULL
        || ngx_http_symbolicate_request_source_read(g,
                ngx_http_symbolicate_request_source_files)
           != NGX_OK
        || ngx_http_symbolicate_request_source_show(g->fetch,
                                       sym_url_shown(&g->arena, &source->url))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    g->first = g->url;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


/* Handles the list; NGX_DECLINED: the attempt ends. */
static ngx_int_t
ngx_http_symbolicate_request_sources_list(
    ngx_http_symbolicate_request_attempt_t *g,
    ngx_uint_t is_whole)
{
    ngx_int_t                      rc;
    sym_error_t                    err;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    g->step = ngx_http_symbolicate_request_source_file;

    if (fetch->trouble || fetch->status != NGX_HTTP_OK) {
        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (!is_whole
        || sym_sentry_files_read(&g->arena, sym_str((char *) g->text, g->ntext),
                                 g->files, &g->nfiles, &err)
           != SYM_OK)
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                          "its list of files is not readable");
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_fetch_reset(fetch);

    rc = ngx_http_symbolicate_request_source_pick(g);

    if (rc == NGX_ERROR) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
        return NGX_DECLINED;
    }

    if (rc == NGX_DECLINED) {
        fetch->status = NGX_HTTP_NOT_FOUND;
    }

    return rc;
}


ngx_int_t
ngx_http_symbolicate_request_source_add_sentry_keys(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    return source->token.len
           ? ngx_http_symbolicate_request_source_add_bearer(g, source->token)
           : ngx_http_symbolicate_request_source_add(g, "Cookie",
                                                     source->cookies);
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_sentry =
{
    .try = ngx_http_symbolicate_request_source_try_sentry,
    .add_keys = ngx_http_symbolicate_request_source_add_sentry_keys,
    .answered = ngx_http_symbolicate_request_sources_list,
    .max = SYM_SENTRY_FILES_BYTES,
    .too_long = "its list of files is too long"
};
