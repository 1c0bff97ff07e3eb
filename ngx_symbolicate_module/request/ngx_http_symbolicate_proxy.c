
/*
 * ngx_http_symbolicate_proxy.c - symbol files of sources, for clients.
 *
 * Sources are queried one after the other, each by its own fetch.  A fetch
 * that got a file is kept until the client has received it, because it owns
 * the descriptor: of an unnamed temporary file, or of the source's own
 * file.  So the limits on fetches and file size bound the disk space; loader
 * leases are not involved.  A file that is packed, or that is not what the
 * client wants, goes to the loader first (made.c).
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_download.h"
#include "request/ngx_http_symbolicate_made.h"
#include "request/ngx_http_symbolicate_proxy.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


/* Steps (base/steps.h) that patterns of the location's sources may take. */
#define NGX_SYMBOLICATE_PROXY_PATTERNS  2000000

#define NGX_SYMBOLICATE_ETAG_MAX        256


typedef struct ngx_http_symbolicate_proxy_s  ngx_http_symbolicate_proxy_t;


struct ngx_http_symbolicate_proxy_s {
    ngx_http_symbolicate_task_t     task;       /* the first member */
    sym_str_t                       path;
    sym_file_request_t              file;
    ngx_uint_t                      step;       /* of the request */
    ngx_uint_t                      next;       /* next source to query */
    ngx_http_symbolicate_download_t  *download; /* NULL: none so far */
    ngx_http_symbolicate_made_t    *made;       /* NULL: the file itself */
    ngx_http_symbolicate_made_t    *symbols;    /* which `made` follows; NULL:
                                                 * none */
    ngx_str_t                       etag;       /* without its last quote */
    time_t                          modified;
    unsigned                        spooled:1;
    unsigned                        gzipped:1;  /* sent as it is packed */
    ngx_uint_t                      nreason;    /* of the first failure */
    u_char                          reason[SYM_RPC_REASON_MAX];
};


static ngx_int_t ngx_http_symbolicate_proxy_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_proxy_next(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_ended(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_found(
    ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result);
static ngx_int_t ngx_http_symbolicate_proxy_make(
    ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result);
static ngx_int_t ngx_http_symbolicate_proxy_made(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_identify(
    ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result);
static void ngx_http_symbolicate_proxy_drop(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_cached(ngx_http_request_t *r,
    const char *value);
static ngx_int_t ngx_http_symbolicate_proxy_cut(ngx_http_request_t *r,
    sym_str_t reason);
static ngx_int_t ngx_http_symbolicate_proxy_nothing(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_send(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_proxy_cleanup(
    ngx_http_symbolicate_task_t *task);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_proxy_work = {
    { NULL,
      NULL,
      ngx_http_symbolicate_proxy_step,
      ngx_http_symbolicate_proxy_send },
    NULL,
    NULL,
    ngx_http_symbolicate_proxy_cleanup,
    NULL
};

/* Downloads of this worker, including those that clients still read. */
static ngx_uint_t  ngx_http_symbolicate_downloads;


ngx_int_t
ngx_http_symbolicate_proxy_handler(ngx_http_request_t *r, sym_str_t path)
{
    ngx_http_symbolicate_proxy_t     *proxy;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    proxy = ngx_http_symbolicate_task_create(r,
                                          sizeof(ngx_http_symbolicate_proxy_t),
                                          &ngx_http_symbolicate_proxy_work);
    if (proxy == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    proxy->path = path;

    if (!slcf->proxy.enable || slcf->policy.sources == NULL
        || !proxy->task.ctx->route->read_file(path,
                                      sym_str((char *) r->args.data,
                                              r->args.len),
                                      &proxy->file))
    {
        if (ngx_http_symbolicate_proxy_cached(r, "no-cache") != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                               SYM_STR("404 Not Found"), NULL);
    }

    return ngx_http_symbolicate_task_start(&proxy->task);
}


static ngx_int_t
ngx_http_symbolicate_proxy_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                          rc;
    ngx_http_symbolicate_proxy_t      *proxy;
    ngx_http_symbolicate_download_t   *download;

    proxy = (ngx_http_symbolicate_proxy_t *) task;
    download = proxy->download;

    if (proxy->made) {
        rc = ngx_http_symbolicate_proxy_made(proxy);

        if (rc != NGX_DECLINED) {
            return rc;
        }

    } else if (download) {

        if (!download->ended && !download->too_large) {
            return NGX_DONE;
        }

        rc = ngx_http_symbolicate_proxy_ended(proxy);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    return ngx_http_symbolicate_proxy_next(proxy);
}


/* Keeps the first reason why a file is not known to be absent. */
static void
ngx_http_symbolicate_proxy_failed(ngx_http_symbolicate_proxy_t *proxy,
    sym_str_t reason)
{
    if (proxy->nreason == 0) {
        proxy->nreason = ngx_min(reason.len, sizeof(proxy->reason));
        ngx_memcpy(proxy->reason, reason.data, proxy->nreason);
    }
}


/* A source has answered.  NGX_OK: it has the file; NGX_DONE: a file is
 * being made from it; NGX_DECLINED: try the next one. */
static ngx_int_t
ngx_http_symbolicate_proxy_ended(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_int_t                             rc;
    ngx_http_symbolicate_fetch_result_t  *result;

    result = ngx_http_symbolicate_fetch_result(proxy->download->fetch);

    if (proxy->download->ended && result->state == SYM_MODULE_READY) {

        if (proxy->symbols == NULL
            && ngx_http_symbolicate_proxy_identify(proxy, result) != NGX_OK)
        {
            return NGX_ERROR;
        }

        rc = ngx_http_symbolicate_proxy_found(proxy, result);

        if (rc != NGX_DECLINED) {
            return rc;
        }

    } else if (proxy->download->too_large || result->need) {
        ngx_http_symbolicate_proxy_failed(proxy,
                  SYM_STR("the file is larger than symbolicate_proxy allows"));

    } else if (result->state != SYM_MODULE_ABSENT) {
        ngx_http_symbolicate_proxy_failed(proxy,
                     sym_str((char *) result->reason.data, result->reason.len));
    }

    ngx_http_symbolicate_proxy_drop(proxy);

    return NGX_DECLINED;
}


/* A source has a file.  Its first bytes say whether it is packed: no symbol
 * file begins with these bytes. */
static ngx_int_t
ngx_http_symbolicate_proxy_found(ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result)
{
    ngx_http_request_t            *r;
    ngx_http_symbolicate_packed_e  packed;

    r = proxy->task.request;
    packed = ngx_http_symbolicate_made_packed(result->fd, result->offset);

    if (proxy->file.is_cabinet) {
        return packed == ngx_http_symbolicate_packed_cab ? NGX_OK
                                                         : NGX_DECLINED;
    }

    if (proxy->file.steps[proxy->step].make == SYM_MAKE_PLAIN) {

        if (packed == ngx_http_symbolicate_packed_none) {
            return NGX_OK;
        }

        if (packed == ngx_http_symbolicate_packed_gzip
            && ngx_http_gzip_ok(r) == NGX_OK)
        {
            proxy->gzipped = 1;
            return NGX_OK;
        }
    }

    return ngx_http_symbolicate_proxy_make(proxy, result);
}


static ngx_int_t
ngx_http_symbolicate_proxy_make(ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result)
{
    u_char                           *p;
    const char                       *why;
    sym_str_t                         name;
    sym_file_step_t                  *step;
    sym_rpc_message_t                 m;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    /* the name and the id of a module, and a slash */

    u_char                            text[SYM_NAME_MAX + SYM_ID_TEXT_MAX + 1];

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    step = &proxy->file.steps[proxy->step];

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.kind = step->make;
    m.offset = result->offset;
    m.length = result->length;
    m.limit = slcf->proxy.size;
    m.source = SYM_STR("a client's file");

    if (step->make == SYM_MAKE_SECTION) {
        m.text = proxy->file.section;

    } else if (step->make != SYM_MAKE_PLAIN) {
        name = sym_object_ref_name(&proxy->file.object);
        p = ngx_cpymem(text, name.data, ngx_min(name.len, SYM_NAME_MAX));
        *p++ = '/';

        if (step->make != SYM_MAKE_NAME) {
            p += sym_debug_id_write_breakpad(&proxy->file.object.debug_id,
                                             (char *) p);
        }

        m.text = sym_str((char *) text, p - text);
    }

    proxy->made = ngx_http_symbolicate_made_start(slcf->loader,
                                                  &proxy->task.turn, &m,
                                                  result->fd, slcf->proxy.files,
                                                  &why);
    if (proxy->made == NULL) {
        ngx_http_symbolicate_proxy_failed(proxy, sym_cstr(why));
        return NGX_DECLINED;
    }

    return NGX_DONE;
}


/* NGX_OK: the loader has made a file; NGX_DONE: it is working;
 * NGX_DECLINED: there is nothing of that kind in the source's file, or it
 * failed. */
static ngx_int_t
ngx_http_symbolicate_proxy_made(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_http_symbolicate_made_t  *made;

    made = proxy->made;

    if (!made->replied) {
        return NGX_DONE;
    }

    if (made->fd != -1 && proxy->symbols == NULL && !made->has_rules
        && proxy->file.steps[proxy->step].make == SYM_MAKE_SYM
        && proxy->file.rules)
    {
        /* a debug file has no unwind rules: they are in the code file */

        proxy->symbols = made;
        proxy->made = NULL;
        proxy->nreason = 0;

        proxy->file.steps[0].files = proxy->file.rules;
        proxy->file.steps[0].make = SYM_MAKE_RULES;
        proxy->file.steps[1].files = 0;
        proxy->step = 0;
        proxy->next = 0;

        ngx_http_symbolicate_download_drop(proxy->download);
        proxy->download = NULL;

        return NGX_DECLINED;
    }

    if (made->fd != -1) {
        return NGX_OK;
    }

    if (!made->nothing) {
        ngx_http_symbolicate_proxy_failed(proxy,
                                sym_str((char *) made->reason, made->nreason));
    }

    ngx_http_symbolicate_proxy_drop(proxy);

    return NGX_DECLINED;
}


/* The next source that may have a file of this step, or of a later one. */
static ngx_http_symbolicate_source_t *
ngx_http_symbolicate_proxy_source(ngx_http_symbolicate_proxy_t *proxy,
    ngx_array_t *sources)
{
    uint64_t                        steps;
    ngx_http_symbolicate_source_t  *source;

    steps = NGX_SYMBOLICATE_PROXY_PATTERNS;

    while (proxy->step < SYM_FILE_STEPS
           && proxy->file.steps[proxy->step].files)
    {
        while (proxy->next < sources->nelts) {
            source = (ngx_http_symbolicate_source_t *) sources->elts
                     + proxy->next++;

            if ((source->rules.files & proxy->file.steps[proxy->step].files)
                && sym_source_takes(&source->rules, &proxy->file.object,
                                    &steps))
            {
                return source;
            }
        }

        proxy->next = 0;
        proxy->step++;
    }

    return NULL;
}


/* Queries the next source that may have the file. */
static ngx_int_t
ngx_http_symbolicate_proxy_next(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_http_symbolicate_lease_t      lease;
    ngx_http_symbolicate_object_t     object;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    source = ngx_http_symbolicate_proxy_source(proxy, slcf->policy.sources);

    if (source == NULL) {
        return ngx_http_symbolicate_proxy_nothing(proxy);
    }

    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    object.places = UINT64_MAX;
    object.ref = &proxy->file.object;
    object.files = proxy->file.steps[proxy->step].files;

    if (ngx_http_symbolicate_downloads >= slcf->proxy.files) {

        if (proxy->task.ctx->route->cuts_failures) {
            return ngx_http_symbolicate_proxy_cut(proxy->task.request,
                                      SYM_STR("maximum number of files"));
        }

        return ngx_http_symbolicate_fail(&proxy->task,
                                  NGX_HTTP_SERVICE_UNAVAILABLE,
                                  SYM_STR("503 Service Unavailable"),
                                  "maximum number of files reached");
    }

    object.first = source;

    lease.bytes = slcf->proxy.size;
    lease.whole = 1;

    proxy->download = ngx_http_symbolicate_download_start(
                                     &ngx_http_symbolicate_downloads,
                                     &proxy->task.turn, &slcf->policy, &object,
                                     &lease);
    if (proxy->download == NULL) {
        return NGX_ERROR;
    }

    return NGX_DONE;
}


/* Resets the connection: libdebuginfod takes the end of an empty answer for
 * the absence of the file.  A stream of HTTP/2 is reset by nginx. */
static ngx_int_t
ngx_http_symbolicate_proxy_cut(ngx_http_request_t *r, sym_str_t reason)
{
    struct linger  linger;

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "symbolicate: a file could not be fetched: %*s",
                  reason.len, reason.data);

    if (r->http_version < NGX_HTTP_VERSION_20) {
        linger.l_onoff = 1;
        linger.l_linger = 0;

        (void) setsockopt(r->connection->fd, SOL_SOCKET, SO_LINGER,
                          (const void *) &linger, sizeof(struct linger));
    }

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_proxy_nothing(ngx_http_symbolicate_proxy_t *proxy)
{
    sym_out_t     out;
    ngx_chain_t  *body;

    if (proxy->nreason == 0 && proxy->symbols) {
        return NGX_OK;
    }

    if (proxy->nreason == 0) {

        if (ngx_http_symbolicate_proxy_cached(proxy->task.request, "no-cache")
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        return ngx_http_symbolicate_fail(&proxy->task, NGX_HTTP_NOT_FOUND,
                                         SYM_STR("404 Not Found"), NULL);
    }

    if (proxy->task.ctx->route->cuts_failures) {
        return ngx_http_symbolicate_proxy_cut(proxy->task.request,
                           sym_str((char *) proxy->reason, proxy->nreason));
    }

    /* a byte may become \u0000 */

    body = ngx_http_symbolicate_body_begin(proxy->task.request,
                                           6 * proxy->nreason + 128, &out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    sym_out_raw(&out, SYM_STR("{\"detail\": \"failed to download object\", "
                              "\"causes\": ["));
    sym_out_string(&out, sym_str((char *) proxy->reason, proxy->nreason));
    sym_out_raw(&out, SYM_STR("]}"));

    if (ngx_http_symbolicate_body_end(proxy->task.request, body, &out)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    proxy->task.error_body = body;

    return ngx_http_symbolicate_fail(&proxy->task,
                                     NGX_HTTP_INTERNAL_SERVER_ERROR,
                                     SYM_STR("500 Internal Server Error"),
                                     NULL);
}


static ngx_int_t
ngx_http_symbolicate_proxy_cached(ngx_http_request_t *r, const char *value)
{
    return ngx_http_symbolicate_add_header(r, "Cache-Control", value,
                                           ngx_strlen(value));
}


/* Keeps what identifies the bytes.  The ETag of a file that was made is
 * another one than the source's. */
static ngx_int_t
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
                              : 'a' + proxy->file.steps[proxy->step].make;
    }

    *p++ = '"';

    h->hash = 1;
    ngx_str_set(&h->key, "ETag");
    h->value.data = proxy->etag.data;
    h->value.len = p - proxy->etag.data;

    r->headers_out.etag = h;

    return NGX_OK;
}


/* debuginfod's headers.  NGX_DECLINED: the client does not want a file of this
 * size. */
static ngx_int_t
ngx_http_symbolicate_proxy_size(ngx_http_symbolicate_proxy_t *proxy,
    off_t size)
{
    u_char              *p;
    off_t                max;
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    if (!proxy->task.ctx->route->cuts_failures || proxy->gzipped) {
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


/* The headers of a file that does not change. */
static ngx_int_t
ngx_http_symbolicate_proxy_headers(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_table_elt_t     *h, *range;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    /* a shared cache may keep what only some may read if the answer is
     * public */

    if (ngx_http_symbolicate_proxy_cached(r, r->headers_in.authorization
                                             ? "private" : "public")
            != NGX_OK
        || ngx_http_symbolicate_proxy_etag(proxy) != NGX_OK)
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

    /* a client that asks for the first bytes asks for the others next, and the
     * file would have to be fetched or made again */

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


/* Sends the client of a code id to the path with the debug id. */
static ngx_int_t
ngx_http_symbolicate_proxy_lead(ngx_http_symbolicate_proxy_t *proxy)
{
    u_char              *p;
    size_t               len;
    ssize_t              n;
    ngx_str_t            base, file;
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;
    u_char               name[SYM_NAME_MAX + SYM_ID_TEXT_MAX + 1];

    r = proxy->task.request;

    if (proxy->made->length > (off_t) sizeof(name)) {
        return NGX_ERROR;
    }

    n = pread(proxy->made->fd, name, proxy->made->length, 0);

    if (n != (ssize_t) proxy->made->length) {
        return NGX_ERROR;
    }

    base.data = r->uri.data;
    base.len = (u_char *) proxy->path.data - r->uri.data;
    file.data = (u_char *) proxy->file.file.data;
    file.len = proxy->file.file.len;

    h = ngx_list_push(&r->headers_out.headers);

    len = 3 * (base.len + n + file.len) + r->args.len + 2;
    p = ngx_pnalloc(r->pool, len);

    if (h == NULL || p == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
    ngx_str_set(&h->key, "Location");

    h->value.data = p;
    p = (u_char *) ngx_escape_uri(p, base.data, base.len, NGX_ESCAPE_URI);
    p = (u_char *) ngx_escape_uri(p, name, n, NGX_ESCAPE_URI);
    *p++ = '/';
    p = (u_char *) ngx_escape_uri(p, file.data, file.len, NGX_ESCAPE_URI);

    if (r->args.len) {
        *p++ = '?';
        p = ngx_cpymem(p, r->args.data, r->args.len);
    }

    h->value.len = p - h->value.data;

    r->headers_out.location = h;
    r->headers_out.status = NGX_HTTP_MOVED_TEMPORARILY;
    r->headers_out.content_length_n = 0;
    r->header_only = 1;

    proxy->task.header_sent = 1;

    return ngx_http_send_header(r) == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* A part of the answer: a file. */
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


static ngx_int_t
ngx_http_symbolicate_proxy_send(ngx_http_symbolicate_task_t *task)
{
    off_t                          length;
    ngx_int_t                      rc;
    ngx_chain_t                    out[2], *cl;
    ngx_http_request_t            *r;
    ngx_http_symbolicate_proxy_t  *proxy;

    r = task->request;
    proxy = (ngx_http_symbolicate_proxy_t *) task;

    if (proxy->made && proxy->symbols == NULL
        && proxy->file.steps[proxy->step].make == SYM_MAKE_NAME)
    {
        return ngx_http_symbolicate_proxy_lead(proxy);
    }

    if (ngx_http_symbolicate_proxy_parts(proxy, out) != NGX_OK) {
        return NGX_ERROR;
    }

    length = 0;

    for (cl = out; cl; cl = cl->next) {
        length += ngx_buf_size(cl->buf);
    }

    rc = ngx_http_symbolicate_proxy_size(proxy, length);

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


/* Drops the file of a source, and the file made from it. */
static void
ngx_http_symbolicate_proxy_drop(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_http_symbolicate_made_drop(proxy->made);
    proxy->made = NULL;

    ngx_http_symbolicate_download_drop(proxy->download);
    proxy->download = NULL;
}


static void
ngx_http_symbolicate_proxy_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_proxy_t  *proxy;

    proxy = (ngx_http_symbolicate_proxy_t *) task;

    ngx_http_symbolicate_proxy_drop(proxy);

    ngx_http_symbolicate_made_drop(proxy->symbols);
    proxy->symbols = NULL;
}
