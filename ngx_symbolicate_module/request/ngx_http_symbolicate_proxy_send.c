
/*
 * ngx_http_symbolicate_proxy_send.c - the answer with a symbol file.
 *
 * nginx sends the bytes from the descriptor of the source or the loader (with
 * sendfile, if that is on), and handles ranges.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_proxy_names.h"
#include "request/ngx_http_symbolicate_proxy_send.h"
#include "request/ngx_http_symbolicate_reply.h"


#define NGX_SYMBOLICATE_ETAG_MAX  256


sym_make_t
ngx_http_symbolicate_proxy_form(ngx_http_symbolicate_proxy_t *proxy)
{
    return proxy->proved ? SYM_MAKE_PLAIN
                         : proxy->file.steps[proxy->step].make;
}


ngx_int_t
ngx_http_symbolicate_proxy_cached(ngx_http_request_t *r, const char *value)
{
    return ngx_http_symbolicate_add_header(r, "Cache-Control", value,
                                           ngx_strlen(value));
}


/* A file that was made has another ETag than the source's file. */
ngx_int_t
ngx_http_symbolicate_proxy_identify(ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result)
{
    u_char     *p;
    ngx_str_t  *etag;

    etag = &result->etag;

    proxy->modified = result->modified;
    proxy->spooled = result->spooled;

    if (etag->len < 2 || etag->len > NGX_SYMBOLICATE_ETAG_MAX
        || etag->data[etag->len - 1] != '"')
    {
        return NGX_OK;
    }

    p = ngx_pnalloc(proxy->task.request->pool, etag->len + 3);
    if (p == NULL) {
        return NGX_ERROR;
    }

    proxy->etag.data = p;
    p = ngx_cpymem(p, etag->data, etag->len - 1);
    proxy->etag.len = p - proxy->etag.data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_proxy_etag(ngx_http_symbolicate_proxy_t *proxy)
{
    u_char              *p;
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    if (proxy->etag.len == 0) {
        return NGX_OK;
    }

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    p = proxy->etag.data + proxy->etag.len;

    if (proxy->made || proxy->symbols) {
        *p++ = '-';
        *p++ = proxy->symbols ? (proxy->made ? 'r' : 's')
                              : 'a' + ngx_http_symbolicate_proxy_form(proxy);
    }

    *p++ = '"';

    h->hash = 1;
    ngx_str_set(&h->key, "ETag");
    h->value.data = proxy->etag.data;
    h->value.len = p - proxy->etag.data;

    r->headers_out.etag = h;

    return NGX_OK;
}


/* Names the file that the client gets, or that it was made from. */
static ngx_int_t
ngx_http_symbolicate_proxy_file(ngx_http_symbolicate_proxy_t *proxy)
{
    u_char     *p;
    sym_str_t   path;

    path = ngx_http_symbolicate_fetch_result(proxy->download->fetch)->path;

    p = ngx_pnalloc(proxy->task.request->pool, path.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, path.data, path.len);

    return ngx_http_symbolicate_add_header(proxy->task.request,
                                           "X-DEBUGINFOD-FILE", (char *) p,
                                           path.len);
}


/*
 * Adds debuginfod's headers.  NGX_DECLINED: the client does not want a file of
 * this size.
 */
static ngx_int_t
ngx_http_symbolicate_proxy_debuginfod(ngx_http_symbolicate_proxy_t *proxy,
    off_t size)
{
    u_char              *p;
    off_t                max;
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    if (!proxy->task.ctx->route->cuts_failures) {
        return NGX_OK;
    }

    if (ngx_http_symbolicate_proxy_file(proxy) != NGX_OK) {
        return NGX_ERROR;
    }

    if (proxy->gzipped) {
        return NGX_OK;
    }

    h = ngx_http_symbolicate_find_header(r, "X-DEBUGINFOD-MAXSIZE");

    if (h) {
        max = ngx_atoof(h->value.data, h->value.len);

        if (max > 0 && max < size) {
            return NGX_DECLINED;
        }
    }

    p = ngx_pnalloc(r->pool, NGX_OFF_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_add_header(r, "X-DEBUGINFOD-SIZE",
                                           (char *) p,
                                           ngx_sprintf(p, "%O", size) - p);
}


/* Seconds of the search, for clients of Tecken with "Debug: true". */
ngx_int_t
ngx_http_symbolicate_proxy_debug(ngx_http_symbolicate_proxy_t *proxy)
{
    u_char              *p;
    ngx_str_t           *value;
    ngx_uint_t           i;
    ngx_msec_t           ms;
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;

    static const ngx_str_t  yes[] = {
        ngx_string("true"), ngx_string("yes"), ngx_string("1")
    };

    r = proxy->task.request;

    h = proxy->task.ctx->route->absent
        ? ngx_http_symbolicate_find_header(r, "Debug") : NULL;

    if (h == NULL) {
        return NGX_OK;
    }

    value = &h->value;

    for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {

        if (value->len == yes[i].len
            && ngx_strncasecmp(value->data, yes[i].data, yes[i].len) == 0)
        {
            p = ngx_pnalloc(r->pool, NGX_TIME_T_LEN + sizeof(".000") - 1);
            if (p == NULL) {
                return NGX_ERROR;
            }

            ms = ngx_current_msec - proxy->started;

            return ngx_http_symbolicate_add_header(r, "Debug-Time", (char *) p,
                                      ngx_sprintf(p, "%M.%03M", ms / 1000,
                                                  ms % 1000) - p);
        }
    }

    return NGX_OK;
}


/* Adds the headers of a file that never changes. */
static ngx_int_t
ngx_http_symbolicate_proxy_headers(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_table_elt_t     *h, *range;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    /*
     * if the answer is public, shared caches may keep a file that only some
     * clients may read
     */

    if (ngx_http_symbolicate_proxy_cached(r, r->headers_in.authorization
                                             ? "private" : "public")
            != NGX_OK
        || ngx_http_symbolicate_proxy_etag(proxy) != NGX_OK
        || ngx_http_symbolicate_proxy_debug(proxy) != NGX_OK)
    {
        return NGX_ERROR;
    }

    r->headers_out.last_modified_time = proxy->modified;

    if (proxy->gzipped) {
        h = ngx_list_push(&r->headers_out.headers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        h->hash = 1;
        ngx_str_set(&h->key, "Content-Encoding");
        ngx_str_set(&h->value, "gzip");
        r->headers_out.content_encoding = h;
    }

    /*
     * a client that requests the first bytes requests the others next, and the
     * file would have to be fetched or made again
     */

    range = r->headers_in.range;

    r->single_range = (proxy->symbols && proxy->made);
    r->allow_ranges = !((proxy->spooled || proxy->made || proxy->symbols)
                        && range
                        && range->value.len >= sizeof("bytes=0-") - 1
                        && ngx_strncasecmp(range->value.data,
                                           (u_char *) "bytes=0-",
                                           sizeof("bytes=0-") - 1)
                           == 0);

    return NGX_OK;
}


/* Adds a part of the answer: a file. */
static ngx_int_t
ngx_http_symbolicate_proxy_part(ngx_http_request_t *r, ngx_chain_t *cl,
    ngx_fd_t fd, off_t offset, off_t length)
{
    ngx_buf_t  *b;

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->file = ngx_pcalloc(r->pool, sizeof(ngx_file_t));
    if (b->file == NULL) {
        return NGX_ERROR;
    }

    b->in_file = 1;
    b->file_pos = offset;
    b->file_last = offset + length;

    b->file->fd = fd;
    b->file->log = r->connection->log;
    ngx_str_set(&b->file->name, "a file of a source");

    cl->buf = b;
    cl->next = NULL;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_proxy_parts(ngx_http_symbolicate_proxy_t *proxy,
    ngx_chain_t out[2])
{
    ngx_int_t                             rc;
    ngx_chain_t                          *last;
    ngx_http_request_t                   *r;
    ngx_http_symbolicate_fetch_result_t  *result;

    r = proxy->task.request;
    rc = NGX_OK;
    last = &out[0];

    if (proxy->symbols) {
        rc = ngx_http_symbolicate_proxy_part(r, last, proxy->symbols->fd, 0,
                                             proxy->symbols->length);
    }

    if (rc == NGX_OK && proxy->made) {

        if (proxy->symbols) {
            last->next = &out[1];
            last = &out[1];
        }

        rc = ngx_http_symbolicate_proxy_part(r, last, proxy->made->fd, 0,
                                             proxy->made->length);

    } else if (rc == NGX_OK && proxy->symbols == NULL) {
        result = ngx_http_symbolicate_fetch_result(proxy->download->fetch);
        rc = ngx_http_symbolicate_proxy_part(r, last, result->fd,
                                             result->offset, result->length);
    }

    if (rc == NGX_OK) {
        last->buf->last_buf = (r == r->main) ? 1 : 0;
        last->buf->last_in_chain = 1;
    }

    return rc;
}


ngx_int_t
ngx_http_symbolicate_proxy_send(ngx_http_symbolicate_task_t *task)
{
    off_t                          length;
    ngx_int_t                      rc;
    ngx_chain_t                    out[2], *cl;
    ngx_http_request_t            *r;
    ngx_http_symbolicate_proxy_t  *proxy;

    r = task->request;
    proxy = (ngx_http_symbolicate_proxy_t *) task;

    if (proxy->names
        || (proxy->made && proxy->symbols == NULL
            && proxy->file.steps[proxy->step].make == SYM_MAKE_NAME))
    {
        return ngx_http_symbolicate_proxy_send_names(proxy);
    }

    if (ngx_http_symbolicate_proxy_parts(proxy, out) != NGX_OK) {
        return NGX_ERROR;
    }

    length = 0;

    for (cl = out; cl; cl = cl->next) {
        length += ngx_buf_size(cl->buf);
    }

    if (!proxy->spooled && proxy->made == NULL && proxy->symbols == NULL) {

        /* a slow client holds only a descriptor of the source's own file */

        ngx_http_symbolicate_download_uncount(proxy->download);
    }

    rc = ngx_http_symbolicate_proxy_debuginfod(proxy, length);

    if (rc == NGX_DECLINED) {
        return ngx_http_symbolicate_fail(task, 406,
                                         SYM_STR("406 Not Acceptable"),
                                         "File too large");
    }

    if (rc != NGX_OK || ngx_http_symbolicate_proxy_headers(proxy) != NGX_OK) {
        return NGX_ERROR;
    }

    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_symbolicate_set_type(r, "application/octet-stream", length);

    rc = ngx_http_send_header(r);

    if (rc == NGX_HTTP_RANGE_NOT_SATISFIABLE) {
        return ngx_http_symbolicate_fail(task, rc,
                                      SYM_STR("416 Range Not Satisfiable"),
                                      NULL);
    }

    task->header_sent = 1;

    if (rc == NGX_ERROR || rc > NGX_OK) {
        return NGX_ERROR;
    }

    if (r->header_only) {
        return NGX_OK;
    }

    /* nginx sends the rest */

    return ngx_http_output_filter(r, out) == NGX_ERROR ? NGX_ERROR : NGX_OK;
}
