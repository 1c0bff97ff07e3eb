
/*
 * ngx_http_symbolicate_proxy.c - sends symbol files from sources to clients.
 *
 * Sources are searched in order, each by its own fetch.  A fetch with a file is
 * kept until the client has received the file, because it owns the descriptor:
 * of an unnamed temporary file, or of the source's own file.  The former counts
 * until then, so the limits on fetches and file size also limit the disk space,
 * and no lease from the loader is needed.  If a file is packed, or if the
 * client wants something made from it, it is sent to the loader first (made.c).
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
#include "request/ngx_http_symbolicate_proxy_names.h"
#include "request/ngx_http_symbolicate_proxy_send.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


/*
 * Maximum number of steps (base/steps.h) for the patterns of the location's
 * sources.
 */
#define NGX_SYMBOLICATE_PROXY_PATTERNS  2000000


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
static void ngx_http_symbolicate_proxy_drop(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_cut(ngx_http_request_t *r,
    sym_str_t reason);
static ngx_int_t ngx_http_symbolicate_proxy_absent(
    ngx_http_symbolicate_proxy_t *proxy);
static ngx_int_t ngx_http_symbolicate_proxy_nothing(
    ngx_http_symbolicate_proxy_t *proxy);
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

/*
 * Number of downloads of this worker, including temporary files that clients
 * still read.
 */
static ngx_uint_t  ngx_http_symbolicate_downloads;


/* Returns the number of addresses in all headers X-Forwarded-For. */
static ngx_uint_t
ngx_http_symbolicate_proxy_forwarded(ngx_http_request_t *r)
{
    u_char           *p, *last;
    ngx_uint_t        i, n;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    n = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len != sizeof("X-Forwarded-For") - 1
                || ngx_strncasecmp(h[i].key.data, (u_char *) "X-Forwarded-For",
                                   h[i].key.len)
                   != 0)
            {
                continue;
            }

            n++;
            last = h[i].value.data + h[i].value.len;

            for (p = h[i].value.data; p < last; p++) {
                n += *p == ',';
            }
        }
    }

    return n;
}


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
    proxy->started = ngx_current_msec;
    proxy->forwarded = ngx_http_symbolicate_proxy_forwarded(r);

    if (!slcf->proxy.enable || slcf->policy.sources == NULL
        || proxy->forwarded > NGX_SYMBOLICATE_FORWARDED_MAX
        || !proxy->task.ctx->route->read_file(path,
                                      sym_str((char *) r->args.data,
                                              r->args.len),
                                      &proxy->file))
    {
        /* nothing to search for */
        proxy->file.steps[0].files = 0;
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


/*
 * Handles a source's answer.  NGX_OK: it has the file; NGX_DONE: a file is
 * being made from it; NGX_DECLINED: try the next one.
 */
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


/*
 * Handles a file from a source.  Its first bytes show whether it is packed: no
 * symbol file begins with these bytes, but a source file may.
 */
static ngx_int_t
ngx_http_symbolicate_proxy_found(ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result)
{
    ngx_http_request_t            *r;
    ngx_http_symbolicate_packed_e  packed;

    r = proxy->task.request;

    if (proxy->file.steps[proxy->step].by != SYM_FILE_BY_IDS) {
        return NGX_OK;
    }

    packed = ngx_http_symbolicate_made_packed(result->fd, result->offset);

    if (proxy->file.is_cabinet) {
        return packed == ngx_http_symbolicate_packed_cab ? NGX_OK
                                                         : NGX_DECLINED;
    }

    if (ngx_http_symbolicate_proxy_form(proxy) == SYM_MAKE_PLAIN) {

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
    sym_make_t                        make;
    sym_rpc_message_t                 m;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    /* name and id of a module, and a slash */

    u_char                            text[SYM_NAME_MAX + SYM_ID_TEXT_MAX + 1];

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    make = ngx_http_symbolicate_proxy_form(proxy);

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.kind = make;
    m.offset = result->offset;
    m.length = result->length;
    m.limit = slcf->proxy.size;
    m.source = SYM_STR("a client's file");

    if (make == SYM_MAKE_SECTION || make == SYM_MAKE_SOURCE) {
        m.text = proxy->file.part;

    } else if (make == SYM_MAKE_SYM || make == SYM_MAKE_RULES
               || make == SYM_MAKE_NAME)
    {
        name = sym_object_ref_name(&proxy->file.object);
        p = ngx_cpymem(text, name.data, ngx_min(name.len, SYM_NAME_MAX));
        *p++ = '/';

        if (make != SYM_MAKE_NAME) {
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


/*
 * Handles the loader's reply.  NGX_OK: it has made a file; NGX_DONE: it is
 * working; NGX_DECLINED: the source's file does not contain the requested part,
 * or it failed.
 */
static ngx_int_t
ngx_http_symbolicate_proxy_made(ngx_http_symbolicate_proxy_t *proxy)
{
    sym_make_t                    make;
    ngx_http_symbolicate_made_t  *made;

    made = proxy->made;
    make = ngx_http_symbolicate_proxy_form(proxy);

    if (!made->replied) {
        return NGX_DONE;
    }

    if (made->fd != -1 && make == SYM_MAKE_PROOF) {

        /* the client gets the file itself */

        ngx_http_symbolicate_made_drop(made);
        proxy->made = NULL;
        proxy->proved = 1;

        return ngx_http_symbolicate_proxy_ended(proxy);
    }

    if (made->fd != -1 && proxy->symbols == NULL && !made->has_rules
        && make == SYM_MAKE_SYM && proxy->file.rules)
    {
        /*
         * a debug file has no unwind rules, because they are in the code file
         */

        proxy->symbols = made;
        proxy->made = NULL;
        proxy->nreason = 0;

        proxy->file.steps[0].files = proxy->file.rules;
        proxy->file.steps[0].make = SYM_MAKE_RULES;
        proxy->file.steps[1].files = 0;
        proxy->step = 0;
        proxy->next = 0;
        proxy->is_try = 0;

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


/* Whether a source may have a file of this step.  A debuginfod server has
 * already looked for debug information in the executable. */
static ngx_uint_t
ngx_http_symbolicate_proxy_may_have(ngx_http_symbolicate_proxy_t *proxy,
    ngx_array_t *sources, ngx_http_symbolicate_source_t *source,
    uint64_t *steps)
{
    sym_file_step_t  *step;

    step = &proxy->file.steps[proxy->step];

    return (source->rules.files & step->files)
           && (proxy->file.sources == SYM_FILE_ALL_SOURCES
               || ngx_http_symbolicate_proxy_is_try(sources, &source->name)
                  == proxy->is_try)
           && (step->make != SYM_MAKE_PROOF
               || source->rules.layout != SYM_LAYOUT_DEBUGINFOD)
           && sym_source_takes(&source->rules, &proxy->file.object, steps);
}


/*
 * Finds the next source that may have a file of this step, or of a later one.
 * NGX_DONE: *found is that source; NGX_DECLINED: no source is left; NGX_OK: the
 * store has answered, so no source is asked.
 */
static ngx_int_t
ngx_http_symbolicate_proxy_source(ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_loc_conf_t *slcf,
    ngx_http_symbolicate_source_t **found)
{
    ngx_int_t                       rc;
    uint64_t                        steps;
    ngx_array_t                    *sources;
    ngx_http_symbolicate_source_t  *source;

    steps = NGX_SYMBOLICATE_PROXY_PATTERNS;
    sources = slcf->policy.sources;
    *found = NULL;

    for ( ;; ) {

        while (proxy->step < SYM_FILE_STEPS
               && proxy->file.steps[proxy->step].files)
        {
            /* without a loader, the contents of an executable are unknown */

            if (proxy->file.steps[proxy->step].make == SYM_MAKE_PROOF
                && slcf->loader == NULL)
            {
                proxy->next = sources->nelts;
            }

            if (proxy->file.steps[proxy->step].make == SYM_MAKE_NAME
                && proxy->next == 0)
            {
                rc = ngx_http_symbolicate_proxy_look(proxy);

                if (rc != NGX_DECLINED) {
                    return rc;
                }
            }

            while (proxy->next < sources->nelts) {
                source = (ngx_http_symbolicate_source_t *) sources->elts
                         + proxy->next++;

                if (ngx_http_symbolicate_proxy_may_have(proxy, sources, source,
                                                        &steps))
                {
                    *found = source;
                    return NGX_DONE;
                }
            }

            proxy->next = 0;
            proxy->step++;
        }

        if (proxy->is_try || proxy->file.sources != SYM_FILE_TRY_LAST) {
            return NGX_DECLINED;
        }

        proxy->is_try = 1;
        proxy->step = 0;
    }
}


/* Requests the file from the next source that may have it. */
static ngx_int_t
ngx_http_symbolicate_proxy_next(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_int_t                         rc;
    sym_object_ref_t                  ref;
    sym_file_step_t                  *step;
    ngx_http_symbolicate_lease_t      lease;
    ngx_http_symbolicate_object_t     object;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    rc = ngx_http_symbolicate_proxy_source(proxy, slcf, &source);

    if (rc == NGX_DECLINED) {
        return ngx_http_symbolicate_proxy_nothing(proxy);
    }

    if (rc != NGX_DONE) {
        return rc;
    }

    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    step = &proxy->file.steps[proxy->step];
    ref = proxy->file.object;

    if (step->by != SYM_FILE_BY_IDS) {
        ref.url = proxy->file.url;
    }

    if (step->by == SYM_FILE_BY_PATH) {
        ref.code_id.len = 0;
    }

    object.places = UINT64_MAX;
    object.ref = &ref;
    object.files = step->files;
    object.forwarded = proxy->forwarded + 1;

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


/*
 * Resets the connection, because libdebuginfod interprets the end of an empty
 * answer as absence of the file.  For HTTP/2, nginx resets the stream.
 */
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


/* No source has the file. */
static ngx_int_t
ngx_http_symbolicate_proxy_absent(ngx_http_symbolicate_proxy_t *proxy)
{
    sym_out_t                     out;
    ngx_chain_t                  *body;
    const char                   *text;
    ngx_http_request_t           *r;
    ngx_http_symbolicate_task_t  *task;

    task = &proxy->task;
    r = task->request;

    if (ngx_http_symbolicate_proxy_cached(r, "no-cache") != NGX_OK) {
        return NGX_ERROR;
    }

    text = task->ctx->route->absent ? task->ctx->route->absent(proxy->path)
                                    : NULL;
    if (text) {
        body = ngx_http_symbolicate_body_begin(r, ngx_strlen(text), &out);

        if (body == NULL
            || ngx_http_symbolicate_proxy_debug(proxy) != NGX_OK)
        {
            return NGX_ERROR;
        }

        sym_out_raw(&out, sym_cstr(text));

        if (ngx_http_symbolicate_body_end(r, body, &out) != NGX_OK) {
            return NGX_ERROR;
        }

        task->error_body = body;
        task->error_type = "text/html; charset=utf-8";
    }

    return ngx_http_symbolicate_fail(task, NGX_HTTP_NOT_FOUND,
                                     SYM_STR("404 Not Found"), NULL);
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
        return ngx_http_symbolicate_proxy_absent(proxy);
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


/* Frees the file of a source, and the file made from it. */
static void
ngx_http_symbolicate_proxy_drop(ngx_http_symbolicate_proxy_t *proxy)
{
    ngx_http_symbolicate_made_drop(proxy->made);
    proxy->made = NULL;
    proxy->proved = 0;

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
