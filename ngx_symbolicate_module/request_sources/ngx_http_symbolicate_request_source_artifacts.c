
/*
 * ngx_http_symbolicate_request_source_artifacts.c - lists and files of Sentry's
 * artifacts of JavaScript, at any URLs.
 *
 * A list may have several pages; the header Link of each page contains the URL
 * of the next one.  Pages are joined, and passed on as one list.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <sys/mman.h>

#include "sources/request/sentry_files.h"

#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_request_source_artifacts.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_files.h"
#include "request_sources/ngx_http_symbolicate_request_source_links.h"
#include "request_sources/ngx_http_symbolicate_request_source_sentry.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


#define NGX_SYMBOLICATE_LIST_PAGES   16
#define NGX_SYMBOLICATE_LIST_BYTES   (1024 * 1024)

#define NGX_SYMBOLICATE_NOT_READABLE  "its list of artifacts is not readable"


static ngx_int_t
ngx_http_symbolicate_request_source_try_artifact(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    if (g->fetch->ref.role == SYM_TEXT_LIST) {

        ngx_memzero(&g->list, sizeof(sym_text_t));
        g->list.arena = &g->arena;
        g->pages = 0;

        if (ngx_http_symbolicate_request_source_read(g,
                ngx_http_symbolicate_request_source_files)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_symbolicate_request_source_try_link(g, source, place);
}


/* Adds the elements of a page; returns 0 if it is not a list. */
static ngx_uint_t
ngx_http_symbolicate_request_source_add_page(
    ngx_http_symbolicate_request_attempt_t *g)
{
    u_char  *p, *last;

    p = g->text;
    last = p + g->ntext;

    while (p < last && ngx_strchr(" \t\r\n", *p)) { p++; }
    while (p < last && ngx_strchr(" \t\r\n", last[-1])) { last--; }

    if (last - p < 2 || *p != '[' || last[-1] != ']'
        || g->list.len + (last - p) > NGX_SYMBOLICATE_LIST_BYTES)
    {
        return 0;
    }

    p++;
    last--;

    while (p < last && ngx_strchr(" \t\r\n", *p)) { p++; }

    if (p < last) {
        sym_text_byte(&g->list, g->list.len ? ',' : '[');
        sym_text_add(&g->list, sym_str((char *) p, last - p));
    }

    return !g->list.failed;
}


/* Requests the next page.  NGX_DECLINED: this was the last. */
static ngx_int_t
ngx_http_symbolicate_request_source_next_page(
    ngx_http_symbolicate_request_attempt_t *g)
{
    sym_url_t    url;
    ngx_str_t    next;
    sym_error_t  err;

    next = g->fetch->next_page;

    ngx_memzero(&err, sizeof(sym_error_t));

    if (next.len == 0 || ++g->pages == NGX_SYMBOLICATE_LIST_PAGES
        || sym_url_resolve(&g->arena, &g->url,
                           sym_str((char *) next.data, next.len), &url, &err)
           != SYM_OK
        || !sym_url_is_same_origin(&g->first, &url)
        || ngx_http_symbolicate_request_source_read(g,
                ngx_http_symbolicate_request_source_files)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    g->url = url;

    ngx_http_symbolicate_fetch_reset(g->fetch);
    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


/* Passes all pages on as a file. */
static ngx_int_t
ngx_http_symbolicate_request_source_end_list(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_fd_t   fd;
    sym_str_t  text;

    if (g->list.len == 0) {
        sym_text_byte(&g->list, '[');
    }

    sym_text_byte(&g->list, ']');
    text = sym_text_end(&g->list);

    if (g->list.failed) {
        return NGX_ERROR;
    }

    fd = memfd_create("list", MFD_CLOEXEC);

    if (fd == NGX_INVALID_FILE) {
        return NGX_ERROR;
    }

    if (pwrite(fd, text.data, text.len, 0) != (ssize_t) text.len
        || ngx_http_symbolicate_request_source_take(g->fetch, fd, text.len)
           != NGX_OK)
    {
        (void) ngx_close_file(fd);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_request_source_page(
    ngx_http_symbolicate_request_attempt_t *g, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;
    g->step = ngx_http_symbolicate_request_source_file;

    if (fetch->trouble || fetch->status != NGX_HTTP_OK) {
        return NGX_DECLINED;
    }

    if (!is_whole || !ngx_http_symbolicate_request_source_add_page(g)) {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                               NGX_SYMBOLICATE_NOT_READABLE);
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_request_source_next_page(g) == NGX_OK) {
        return NGX_OK;
    }

    g->step = ngx_http_symbolicate_request_source_file;

    if (ngx_http_symbolicate_request_source_end_list(g) != NGX_OK) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    return NGX_DECLINED;
}


/* Credentials are sent to URLs that begin with the source's URL. */
static ngx_uint_t
ngx_http_symbolicate_request_source_is_own(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    return sym_url_is_same_origin(&g->first, &source->url)
           && sym_str_starts(g->first.path, source->url.path);
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_artifacts =
{
    .try = ngx_http_symbolicate_request_source_try_artifact,
    .add_keys = ngx_http_symbolicate_request_source_add_sentry_keys,
    .is_trusted = ngx_http_symbolicate_request_source_is_own,
    .answered = ngx_http_symbolicate_request_source_page,
    .max = SYM_SENTRY_FILES_BYTES,
    .too_long = "a page of its list is too long"
};
