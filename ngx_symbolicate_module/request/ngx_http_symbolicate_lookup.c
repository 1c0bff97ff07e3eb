
/*
 * ngx_http_symbolicate_lookup.c - the work of requests for symbols.
 *
 * Matches the path, parses the body, and cleans up at the end of the request;
 * answer.c looks frames up and missing.c waits for modules.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "request_sources/ngx_http_symbolicate_request_sources.h"
#include "request/ngx_http_symbolicate_answer.h"
#include "request/ngx_http_symbolicate_attachment.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_bulk.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_job.h"
#include "request/ngx_http_symbolicate_lookup.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_proxy.h"
#include "request/ngx_http_symbolicate_receive.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_result.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"
#include "request/ngx_http_symbolicate_upload.h"
#include "store/ngx_http_symbolicate_store.h"


/*
 * An arena that exceeds this size, and also this multiple of the body,
 * indicates an attack.
 */
#define NGX_SYMBOLICATE_ARENA        (16 * 1024 * 1024)
#define NGX_SYMBOLICATE_ARENA_RATIO  256

/*
 * Numbers of steps (base/steps.h): for a frame that is read in slices; for a
 * byte of a body that jansson reads in one call.
 */
#define NGX_SYMBOLICATE_READ_FRAME   50
#define NGX_SYMBOLICATE_READ_BYTE    3


static ngx_int_t ngx_http_symbolicate_lookup_start(ngx_http_request_t *r,
    sym_str_t rest);
static ngx_int_t ngx_http_symbolicate_lookup_text(ngx_http_request_t *r,
    sym_str_t rest);
static ngx_int_t ngx_http_symbolicate_lookup_unsupported(ngx_http_request_t *r,
    const sym_api_route_t *route);
static double ngx_http_symbolicate_now(void);
static ngx_int_t ngx_http_symbolicate_lookup_headers(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_lookup_failed(
    ngx_http_symbolicate_task_t *task);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_lookup_work = {
    { ngx_http_symbolicate_read_step,
      ngx_http_symbolicate_parse_step,
      ngx_http_symbolicate_answer_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_lookup_headers,
    ngx_http_symbolicate_lookup_failed,
    ngx_http_symbolicate_lookup_cleanup,
    NULL
};


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_upload_work = {
    { ngx_http_symbolicate_upload_step,
      ngx_http_symbolicate_parse_step,
      ngx_http_symbolicate_answer_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_lookup_headers,
    ngx_http_symbolicate_lookup_failed,
    ngx_http_symbolicate_lookup_cleanup,
    NULL
};


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_bulk_work = {
    { NULL,
      NULL,
      ngx_http_symbolicate_bulk_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_lookup_headers,
    ngx_http_symbolicate_lookup_failed,
    ngx_http_symbolicate_lookup_cleanup,
    NULL
};


/* Handlers by kind of route.  rest: the path after the suffix. */
static ngx_int_t (*const ngx_http_symbolicate_lookup_routes[])(
    ngx_http_request_t *r, sym_str_t rest) = {
    [SYM_ROUTE_REQUEST] = ngx_http_symbolicate_lookup_start,
    [SYM_ROUTE_TEXT] = ngx_http_symbolicate_lookup_text,
    [SYM_ROUTE_UPLOAD] = ngx_http_symbolicate_receive_handler,
    [SYM_ROUTE_RESULT] = ngx_http_symbolicate_result_handler,
    [SYM_ROUTE_FILE] = ngx_http_symbolicate_proxy_handler
};


_Static_assert(SYM_METHOD_GET == NGX_HTTP_GET
               && SYM_METHOD_HEAD == NGX_HTTP_HEAD
               && SYM_METHOD_POST == NGX_HTTP_POST
               && SYM_METHOD_PUT == NGX_HTTP_PUT, "methods of routes");


ngx_int_t
ngx_http_symbolicate_lookup_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    sym_str_t                         path;
    const sym_api_route_t            *route;
    ngx_http_symbolicate_ctx_t       *ctx;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    path = sym_str((char *) r->uri.data, r->uri.len);
    route = sym_api_route(slcf->api, &slcf->place, path);

    if (route == NULL) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                               SYM_STR("404 Not Found"), NULL);
    }

    rc = ngx_http_symbolicate_method(r, route->methods, slcf->cors);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    ctx = ngx_http_symbolicate_ctx_get(r);
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    ctx->route = route;

    return ngx_http_symbolicate_lookup_routes[route->kind](r,
                                    sym_api_rest(route, &slcf->place, path));
}


static ngx_int_t
ngx_http_symbolicate_lookup_text(ngx_http_request_t *r, sym_str_t rest)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    return ngx_http_symbolicate_send_plain(r, ctx->route->status,
                                           ctx->route->text);
}


static ngx_int_t
ngx_http_symbolicate_lookup_start(ngx_http_request_t *r, sym_str_t rest)
{
    ngx_int_t                         rc;
    const sym_api_route_t            *route;
    ngx_http_symbolicate_ctx_t       *ctx;
    ngx_http_symbolicate_lookup_t    *lookup;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx->route->needs_proxy && !slcf->proxy.enable) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                               SYM_STR("404 Not Found"), NULL);
    }

    lookup = ngx_http_symbolicate_task_create(r,
                                         sizeof(ngx_http_symbolicate_lookup_t),
                                         ctx->route->is_upload
                                         ? &ngx_http_symbolicate_upload_work
                                         : ctx->route->is_stream
                                         ? &ngx_http_symbolicate_bulk_work
                                         : &ngx_http_symbolicate_lookup_work);
    if (lookup == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    lookup->pool = r->pool;
    lookup->stats = &lookup->task.ctx->stats;
    lookup->store = ngx_http_symbolicate_store_of(slcf->store);
    lookup->task.is_query = (r->method == NGX_HTTP_GET);
    lookup->task.ctx->started_ns = ngx_http_symbolicate_clock_ns();

    route = lookup->task.ctx->route;

    lookup->call.route = route;
    lookup->call.is_query = lookup->task.is_query;
    lookup->call.query = sym_str((char *) r->args.data, r->args.len);
    lookup->call.header = ngx_http_symbolicate_header;
    lookup->call.ctx = r;

    if (slcf->api->answers[1]) {
        lookup->call.answer = sym_api_answer(slcf->api,
                              ngx_http_symbolicate_header(r, "Accept"));
    }

    rc = ngx_http_symbolicate_job_query(lookup);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (route->accepts && !lookup->call.is_query
        && !sym_api_accepts(route, ngx_http_symbolicate_header(r,
                                                            "Content-Type")))
    {
        lookup->task.ctx->served = SYM_SERVED_UNSUPPORTED;

        return ngx_http_symbolicate_lookup_unsupported(r, route);
    }

    if (route->is_stream) {
        return ngx_http_symbolicate_bulk_start(lookup);
    }

    if (route->is_upload) {
        ngx_http_symbolicate_upload_spool(r);
    }

    return ngx_http_symbolicate_task_read(&lookup->task);
}


static ngx_int_t
ngx_http_symbolicate_lookup_unsupported(ngx_http_request_t *r,
    const sym_api_route_t *route)
{
    u_char  *p;

    static const char  words[] = "Expected request with `Content-Type: %s`%Z";

    p = ngx_pnalloc(r->pool, sizeof(words) + ngx_strlen(route->accepts));
    if (p == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_sprintf(p, words, route->accepts);

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                       SYM_STR("415 Unsupported Media Type"),
                                       (char *) p);
}


static ngx_int_t
ngx_http_symbolicate_parse_start(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_str_t                         *text;
    ngx_str_t                          node;
    sym_request_options_t              common;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(lookup->task.request,
                                         ngx_http_symbolicate_module);
    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    lookup->policy = &slcf->policy;

    ngx_memzero(&common, sizeof(sym_request_options_t));

    common.limits.jobs = slcf->max_jobs;
    common.limits.stacks = slcf->max_stacks;
    common.limits.frames = slcf->max_frames;
    common.limits.modules = slcf->max_modules;
    common.now_s = ngx_http_symbolicate_now;
    common.scopes = &slcf->scopes;
    common.tells_missing = slcf->loader != NULL;
    node = ngx_http_symbolicate_node();
    common.node = sym_str((char *) node.data, node.len);
    common.names = slcf->demangle ? smcf->worker->names : NULL;

    if (slcf->policy.request_sources_conf) {
        text = &slcf->policy.request_sources_conf->text;
        common.source_policy = sym_str((char *) text->data, text->len);
    }

    sym_arena_init(&lookup->arena,
                   NGX_SYMBOLICATE_ARENA
                   + lookup->task.body.len * NGX_SYMBOLICATE_ARENA_RATIO);

    lookup->arena.account = &lookup->task.memory;

    lookup->call.body = lookup->task.body;
    lookup->call.rewrite = sym_rewrite;
    lookup->asked = sym_api_create(slcf->api, &lookup->arena, &common,
                                   &lookup->call);

    return lookup->asked ? NGX_OK : NGX_ERROR;
}


/* Uses the sources defined by the request instead of the location's. */
static ngx_int_t
ngx_http_symbolicate_parse_request_sources(
    ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                          rc;
    ngx_http_request_t                *r;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    if (lookup->asked->request_sources == NULL || lookup->request_sources) {
        return NGX_OK;
    }

    r = lookup->task.request;
    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    rc = ngx_http_symbolicate_request_sources_create(r, smcf, &slcf->policy,
                                           lookup->asked->request_sources,
                                                     &lookup->request_sources);

    if (rc == NGX_BUSY) {
        ngx_http_symbolicate_count_refused(SYM_REFUSED_WHOLE);

        return ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"),
                                     "too many requests with sources");
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    lookup->policy =
        ngx_http_symbolicate_request_sources_policy(lookup->request_sources);
    lookup->asked->scopes =
        ngx_http_symbolicate_request_sources_scopes(lookup->request_sources);

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_parse_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                         rc;
    sym_str_t                         message;
    sym_status_t                      status;
    ngx_http_symbolicate_lookup_t    *lookup;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    lookup = (ngx_http_symbolicate_lookup_t *) task;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (lookup->asked && lookup->asked->link) {
        rc = ngx_http_symbolicate_attachment_step(lookup);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (lookup->asked == NULL
        && ngx_http_symbolicate_missing_budget(lookup) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (lookup->asked == NULL
        && ngx_http_symbolicate_parse_start(lookup) != NGX_OK)
    {
        status = SYM_NOMEM;

    } else {
        status = sym_request_parse(lookup->asked, slcf->slice);
        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              status == SYM_AGAIN
                              ? slcf->slice * NGX_SYMBOLICATE_READ_FRAME
                              : lookup->task.body.len
                                * NGX_SYMBOLICATE_READ_BYTE);
        *lookup->stats = *sym_request_stats(lookup->asked);
    }

    switch (status) {

    case SYM_OK:
        if (lookup->asked->link) {
            return NGX_AGAIN;
        }

        lookup->task.expected = (size_t) lookup->stats->frames
                                * NGX_SYMBOLICATE_FRAME;

        if (ngx_http_symbolicate_parse_request_sources(lookup) != NGX_OK) {
            return NGX_ERROR;
        }

        return ngx_http_symbolicate_job_begin(lookup);

    case SYM_AGAIN:
        return NGX_AGAIN;

    case SYM_MALFORMED:
    case SYM_LIMIT:
        message = sym_request_message(lookup->asked);

        /*
         * the arena is freed before the reply is made, so the message is copied
         */

        lookup->task.title.data = ngx_pnalloc(lookup->task.request->pool,
                                              message.len);
        if (lookup->task.title.data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy((char *) lookup->task.title.data, message.data, message.len);

        return ngx_http_symbolicate_fail(&lookup->task,
                                         lookup->asked->refused_as
                                         ? lookup->asked->refused_as
                                         : NGX_HTTP_BAD_REQUEST,
                                         sym_str(lookup->task.title.data,
                                                 message.len),
                                         NULL);

    default:
        if (lookup->task.memory.refused) {
            return ngx_http_symbolicate_fail_memory(&lookup->task);
        }

        ngx_log_error(NGX_LOG_ERR, lookup->task.request->connection->log, 0,
                      "symbolicate: no memory to parse %uz bytes",
                      lookup->task.body.len);

        return ngx_http_symbolicate_fail(&lookup->task,
                                         NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);
    }
}


static double
ngx_http_symbolicate_now(void)
{
    return (double) ngx_http_symbolicate_clock_ns() * 1e-9;
}


static ngx_int_t
ngx_http_symbolicate_lookup_age(ngx_http_request_t *r, uint32_t seconds)
{
    u_char  *value;
    size_t   len;

    if (seconds == 0) {
        return NGX_OK;
    }

    len = sizeof("max-age=") - 1 + NGX_INT32_LEN;

    value = ngx_pnalloc(r->pool, len);
    if (value == NULL) {
        return NGX_ERROR;
    }

    len = ngx_sprintf(value, "max-age=%uD", seconds) - value;

    return ngx_http_symbolicate_add_header(r, "Cache-Control", (char *) value,
                                           len);
}


static ngx_int_t
ngx_http_symbolicate_lookup_headers(ngx_http_symbolicate_task_t *task)
{
    const char                       *type;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_lookup_t    *lookup;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    lookup = (ngx_http_symbolicate_lookup_t *) task;
    r = task->request;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (task->status == 0) {
        type = lookup->answer_type ? lookup->answer_type
               : lookup->call.route->answer ? lookup->call.route->answer
               : slcf->api->answers[lookup->call.answer];

        ngx_http_symbolicate_name_type(r, type);

        if (slcf->api->answers[1]
            && ngx_http_symbolicate_add_header(r, "Vary", "Accept", 6)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (ngx_http_symbolicate_lookup_age(r, lookup->max_age_s) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_job_answered(lookup);

    /* such an API reports failed modules in its answer */

    return (slcf->api->tells_failures || lookup->bulk)
           ? NGX_OK : ngx_http_symbolicate_missing_headers(lookup);
}


static void
ngx_http_symbolicate_lookup_failed(ngx_http_symbolicate_task_t *task)
{
    task->ctx->served = ngx_http_symbolicate_lookup_served(task->status);
}


sym_served_t
ngx_http_symbolicate_lookup_served(ngx_uint_t status)
{
    switch (status) {

    case NGX_HTTP_BAD_REQUEST:
        return SYM_SERVED_INVALID;

    case NGX_HTTP_REQUEST_ENTITY_TOO_LARGE:
        return SYM_SERVED_TOO_LARGE;

    case NGX_HTTP_UNSUPPORTED_MEDIA_TYPE:
        return SYM_SERVED_UNSUPPORTED;

    case NGX_HTTP_SERVICE_UNAVAILABLE:
        return SYM_SERVED_UNAVAILABLE;

    default:
        return SYM_SERVED_FAILED;
    }
}


void
ngx_http_symbolicate_lookup_count(ngx_http_symbolicate_lookup_t *lookup)
{
    uint32_t     n;
    sym_need_t  *m;

    m = sym_request_modules(lookup->asked, &n);

    ngx_http_symbolicate_count_answer(lookup->stats, m, n);

    if (lookup->stats->missing) {
        ngx_http_symbolicate_missing_note(lookup);
    }
}


void
ngx_http_symbolicate_lookup_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_lookup_t  *lookup;

    lookup = (ngx_http_symbolicate_lookup_t *) task;

    ngx_http_symbolicate_upload_end(lookup);
    ngx_http_symbolicate_attachment_end(lookup);
    ngx_http_symbolicate_job_end(lookup);
    ngx_http_symbolicate_missing_end(lookup);
    ngx_http_symbolicate_answer_end(lookup);
    ngx_http_symbolicate_bulk_end(lookup);

    if (lookup->request_sources) {
        ngx_http_symbolicate_request_sources_release(lookup->request_sources);
        lookup->request_sources = NULL;
    }
}
