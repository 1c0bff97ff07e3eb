
/*
 * ngx_http_symbolicate_proxy.c - symbol files of sources, for clients.
 *
 * Sources are queried one after the other, each by its own fetch.  A fetch that
 * got a file is kept until the client has received it, because it owns the
 * descriptor: of an unnamed temporary file, or of the source's own file.  So
 * the limits on fetches and file size bound the disk space; loader leases are
 * not involved.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_download.h"
#include "request/ngx_http_symbolicate_proxy.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


/* Steps (base/steps.h) that patterns of the location's sources may take. */
#define NGX_SYMBOLICATE_PROXY_PATTERNS  2000000


typedef struct ngx_http_symbolicate_proxy_s  ngx_http_symbolicate_proxy_t;


struct ngx_http_symbolicate_proxy_s {
    ngx_http_symbolicate_task_t     task;       /* the first member */
    sym_str_t                       path;
    sym_object_ref_t                 object;
    unsigned                        files;      /* a bit for each
                                                 * sym_source_file_t */
    ngx_uint_t                      next;       /* next source to query */
    ngx_http_symbolicate_download_t  *download; /* NULL: none so far */
    ngx_uint_t                      nreason;    /* of the first failure */
    u_char                          reason[SYM_RPC_REASON_MAX];
};


static ngx_int_t ngx_http_symbolicate_proxy_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_proxy_next(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_ended(
    ngx_http_symbolicate_proxy_t *proxy);
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
        || !proxy->task.ctx->route->read_file(path, &proxy->object,
                                              &proxy->files))
    {
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

    if (download) {

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


/* A source has answered.  NGX_OK: it has the file; NGX_DECLINED: try the next
 * one. */
static ngx_int_t
ngx_http_symbolicate_proxy_ended(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_str_t                             reason;
    ngx_http_symbolicate_fetch_result_t  *result;

    result = ngx_http_symbolicate_fetch_result(proxy->download->fetch);

    if (proxy->download->ended && result->state == SYM_MODULE_READY) {
        return NGX_OK;
    }

    if (proxy->download->too_large || result->need) {
        ngx_str_set(&reason,
                    "the file is larger than symbolicate_proxy allows");

    } else {
        reason = result->reason;
    }

    if (proxy->nreason == 0
        && (proxy->download->too_large || result->state != SYM_MODULE_ABSENT))
    {
        proxy->nreason = ngx_min(reason.len, sizeof(proxy->reason));
        ngx_memcpy(proxy->reason, reason.data, proxy->nreason);
    }

    ngx_http_symbolicate_proxy_cleanup(&proxy->task);

    return NGX_DECLINED;
}


/* Queries the next source that may have the file. */
static ngx_int_t
ngx_http_symbolicate_proxy_next(ngx_http_symbolicate_proxy_t *proxy)
{
    uint64_t                          steps;
    ngx_http_symbolicate_lease_t      lease;
    ngx_http_symbolicate_object_t     object;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    object.places = UINT64_MAX;
    object.ref = &proxy->object;
    object.files = proxy->files;
    steps = NGX_SYMBOLICATE_PROXY_PATTERNS;

    for ( ;; ) {
        if (proxy->next == slcf->policy.sources->nelts) {
            return ngx_http_symbolicate_proxy_nothing(proxy);
        }

        source = (ngx_http_symbolicate_source_t *) slcf->policy.sources->elts
                 + proxy->next++;

        if ((source->rules.files & proxy->files)
            && sym_source_takes(&source->rules, &proxy->object, &steps))
        {
            break;
        }
    }

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


/* Resets the connection: libdebuginfod takes the end of an empty answer for the
 * absence of the file.  A stream of HTTP/2 is reset by nginx. */
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

    if (proxy->nreason == 0) {
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
ngx_http_symbolicate_proxy_send(ngx_http_symbolicate_task_t *task)
{
    ngx_buf_t                            *b;
    ngx_int_t                             rc;
    ngx_chain_t                           out;
    ngx_http_request_t                   *r;
    ngx_http_symbolicate_proxy_t         *proxy;
    ngx_http_symbolicate_fetch_result_t  *result;

    r = task->request;
    proxy = (ngx_http_symbolicate_proxy_t *) task;
    result = ngx_http_symbolicate_fetch_result(proxy->download->fetch);

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->file = ngx_pcalloc(r->pool, sizeof(ngx_file_t));
    if (b->file == NULL) {
        return NGX_ERROR;
    }

    task->header_sent = 1;

    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_symbolicate_set_type(r, "application/octet-stream",
                                  result->length);

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK) {
        return NGX_ERROR;
    }

    if (r->header_only) {
        return NGX_OK;
    }

    b->in_file = 1;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;
    b->file_pos = result->offset;
    b->file_last = result->offset + result->length;

    b->file->fd = result->fd;
    b->file->log = r->connection->log;
    ngx_str_set(&b->file->name, "a file of a source");

    out.buf = b;
    out.next = NULL;

    /* nginx sends the rest */

    return ngx_http_output_filter(r, &out) == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


static void
ngx_http_symbolicate_proxy_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_proxy_t  *proxy;

    proxy = (ngx_http_symbolicate_proxy_t *) task;

    ngx_http_symbolicate_download_drop(proxy->download);
    proxy->download = NULL;
}
