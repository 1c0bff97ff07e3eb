
/*
 * ngx_http_symbolicate_handler.c - the life of a request.
 *
 * gather -> parse -> answer -> send: one function a step, one driver that
 * moves from one to the next.  A short request goes through all of them in the
 * event that brought the end of its body; a long one gives way after each slice
 * and is called again from the queue.
 */


#include "conf/ngx_http_symbolicate_module.h"


/* An arena beyond this, and beyond so many times the body, is no request of
 * ours but an attack. */
#define NGX_SYMBOLICATE_ARENA        (16 * 1024 * 1024)
#define NGX_SYMBOLICATE_ARENA_RATIO  256


static ngx_int_t ngx_http_symbolicate_methods(ngx_http_request_t *r,
    const sym_api_route_t *route);
static sym_str_t ngx_http_symbolicate_header(void *data, const char *name);
static void ngx_http_symbolicate_body_handler(ngx_http_request_t *r);
static void ngx_http_symbolicate_take_turn(void *data);
static void ngx_http_symbolicate_cut(ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_step(ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_parse_step(
    ngx_http_symbolicate_ctx_t *ctx);
static double ngx_http_symbolicate_now(void);
static void ngx_http_symbolicate_cleanup(void *data);


ngx_int_t
ngx_http_symbolicate_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    const sym_api_route_t            *route;
    ngx_http_symbolicate_ctx_t       *ctx;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    rc = ngx_http_symbolicate_admin(r);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    route = sym_api_route(slcf->api, &slcf->place,
                          sym_str((char *) r->uri.data, r->uri.len));

    if (route == NULL) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                               SYM_STR("404 Not Found"), NULL);
    }

    rc = ngx_http_symbolicate_methods(r, route);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    ctx = ngx_http_symbolicate_create_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->call.route = route;
    ctx->call.is_query = (r->method == NGX_HTTP_GET);
    ctx->call.query = sym_str((char *) r->args.data, r->args.len);
    ctx->call.header = ngx_http_symbolicate_header;
    ctx->call.ctx = r;
    ctx->started_ns = ngx_http_symbolicate_clock_ns();

    if (slcf->api->answers[1]) {
        ctx->call.answer = sym_api_answer(slcf->api,
                                  ngx_http_symbolicate_header(r, "Accept"));
    }

    if (route->accepts && !ctx->call.is_query
        && !sym_api_accepts(route,
                            ngx_http_symbolicate_header(r, "Content-Type")))
    {
        ctx->status = SYM_SERVED_UNSUPPORTED;

        return ngx_http_symbolicate_send_error(r,
                                       NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                       SYM_STR("415 Unsupported Media Type"),
                                       "this path takes another Content-Type");
    }

    return ngx_http_symbolicate_read_body(r);
}


ngx_http_symbolicate_ctx_t *
ngx_http_symbolicate_create_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t          *cln;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_ctx_t));
    cln = ngx_pool_cleanup_add(r->pool, 0);

    if (ctx == NULL || cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_http_symbolicate_cleanup;
    cln->data = ctx;

    ctx->request = r;
    ctx->turn.run = ngx_http_symbolicate_take_turn;
    ctx->turn.data = ctx;

    ngx_http_set_ctx(r, ctx, ngx_http_symbolicate_module);

    return ctx;
}


/* The request runs when its body is there. */
ngx_int_t
ngx_http_symbolicate_read_body(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    /* a body that fits a buffer is then parsed where it was received */
    r->request_body_in_single_buf = 1;

    rc = ngx_http_read_client_request_body(r,
                                           ngx_http_symbolicate_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


/* As ngx_http_symbolicate_method(). */
static ngx_int_t
ngx_http_symbolicate_methods(ngx_http_request_t *r,
    const sym_api_route_t *route)
{
    switch (route->methods) {

    case SYM_METHOD_GET:
        return ngx_http_symbolicate_method(r, NGX_HTTP_GET, "GET");

    case SYM_METHOD_POST:
        return ngx_http_symbolicate_method(r, NGX_HTTP_POST, "POST");

    default:
        return ngx_http_symbolicate_method(r, NGX_HTTP_GET|NGX_HTTP_POST,
                                           "GET, POST");
    }
}


static sym_str_t
ngx_http_symbolicate_header(void *data, const char *name)
{
    ngx_table_elt_t  *h;

    h = ngx_http_symbolicate_find_header(data, name);

    return h ? sym_str((char *) h->value.data, h->value.len)
             : sym_str(NULL, 0);
}


static void
ngx_http_symbolicate_body_handler(ngx_http_request_t *r)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    /* a part of another page has no body */

    if (r->request_body == NULL && !ctx->call.is_query) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    /* notices a client that goes away while its request waits in the queue */

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    ngx_http_symbolicate_run(ctx);
}


static void
ngx_http_symbolicate_take_turn(void *data)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    ngx_connection_t  *c;

    c = ctx->request->connection;
    ngx_http_set_log_request(c->log, ctx->request);

    ngx_http_symbolicate_run(ctx);
    ngx_http_run_posted_requests(c);
}


/* Only this function moves ctx->state.  ctx may be gone when it returns. */
void
ngx_http_symbolicate_run(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = ctx->request;

    for ( ;; ) {
        rc = ngx_http_symbolicate_step(ctx);

        if (rc == NGX_AGAIN) {
            ngx_http_symbolicate_enqueue(&ctx->turn);
            return;
        }

        if (rc == NGX_DONE) {
            return;
        }

        if (rc == NGX_DECLINED) {
            ctx->state = ngx_http_symbolicate_answer;
            continue;
        }

        if (rc == NGX_ERROR && ctx->header_sent) {
            ngx_http_symbolicate_cut(ctx);
            return;
        }

        if (rc == NGX_ERROR && ctx->error_body) {
            rc = ngx_http_symbolicate_missing_headers(ctx);
            ngx_http_symbolicate_cleanup(ctx);

            if (rc == NGX_OK) {
                rc = ngx_http_symbolicate_send_body(r, ctx->http_status,
                                                    ctx->error_body);
            }

            ngx_http_finalize_request(r, rc);
            return;
        }

        if (rc == NGX_ERROR && ctx->http_status) {
            ngx_http_symbolicate_cleanup(ctx);

            rc = ngx_http_symbolicate_send_error(r, ctx->http_status,
                                                 ctx->title, ctx->description);
            ngx_http_finalize_request(r, rc);
            return;
        }

        if (rc != NGX_OK || ctx->state == ngx_http_symbolicate_send) {
            ngx_http_finalize_request(r, rc);
            return;
        }

        ctx->state++;
    }
}


/* The client has part of an answer that cannot go on: without its last chunk it
 * is known to be no whole one. */
static void
ngx_http_symbolicate_cut(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_request_t  *r;

    r = ctx->request;

    if (ctx->http_status) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "symbolicate: an answer is cut short after %uL bytes: "
                      "%*s%s%s", ctx->out.before,
                      ctx->title.len, ctx->title.data,
                      ctx->description ? ": " : "",
                      ctx->description ? ctx->description : "");
    }

    ngx_http_symbolicate_cleanup(ctx);
    ngx_http_finalize_request(r, NGX_ERROR);
}


static ngx_int_t
ngx_http_symbolicate_step(ngx_http_symbolicate_ctx_t *ctx)
{
    switch (ctx->state) {

    case ngx_http_symbolicate_gather:
        return ngx_http_symbolicate_gather_step(ctx);

    case ngx_http_symbolicate_parse:
        return ctx->purge ? ngx_http_symbolicate_events_step(ctx)
                          : ngx_http_symbolicate_parse_step(ctx);

    case ngx_http_symbolicate_answer:
        return ctx->purge ? ngx_http_symbolicate_purge_step(ctx)
                          : ngx_http_symbolicate_answer_step(ctx);

    default: /* ngx_http_symbolicate_send */
        return ngx_http_symbolicate_send_step(ctx);
    }
}


ngx_int_t
ngx_http_symbolicate_fail(ngx_http_symbolicate_ctx_t *ctx, ngx_uint_t status,
    sym_str_t title, const char *description)
{
    ctx->http_status = status;
    ctx->title = title;
    ctx->description = description;

    if (ctx->purge) {
        return NGX_ERROR;
    }

    switch (status) {

    case NGX_HTTP_BAD_REQUEST:
        ctx->status = SYM_SERVED_INVALID;
        break;

    case NGX_HTTP_REQUEST_ENTITY_TOO_LARGE:
        ctx->status = SYM_SERVED_TOO_LARGE;
        break;

    case NGX_HTTP_UNSUPPORTED_MEDIA_TYPE:
        ctx->status = SYM_SERVED_UNSUPPORTED;
        break;

    case NGX_HTTP_SERVICE_UNAVAILABLE:
        ctx->status = SYM_SERVED_UNAVAILABLE;
        break;

    default:
        ctx->status = SYM_SERVED_FAILED;
    }

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_parse_start(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_request_options_t              common;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(ctx->request,
                                         ngx_http_symbolicate_module);
    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    ngx_memzero(&common, sizeof(sym_request_options_t));

    common.limits.jobs = slcf->max_jobs;
    common.limits.stacks = slcf->max_stacks;
    common.limits.frames = slcf->max_frames;
    common.limits.modules = slcf->max_modules;
    common.now_s = ngx_http_symbolicate_now;
    common.scopes = &slcf->scopes;
    common.tells_missing = slcf->loader != NULL;
    common.names = slcf->demangle ? smcf->names : NULL;

    sym_arena_init(&ctx->arena, NGX_SYMBOLICATE_ARENA
                                + ctx->body.len * NGX_SYMBOLICATE_ARENA_RATIO);

    ctx->call.body = ctx->body;
    ctx->asked = sym_api_create(slcf->api, &ctx->arena, &common, &ctx->call);

    return ctx->asked ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_parse_step(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_str_t                         message;
    sym_status_t                      status;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    if (ctx->asked == NULL
        && ngx_http_symbolicate_missing_budget(ctx) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->asked == NULL
        && ngx_http_symbolicate_parse_start(ctx) != NGX_OK)
    {
        status = SYM_NOMEM;

    } else {
        status = sym_request_parse(ctx->asked, slcf->slice);
        ctx->stats = *sym_request_stats(ctx->asked);
    }

    switch (status) {

    case SYM_OK:
        return NGX_OK;

    case SYM_AGAIN:
        return NGX_AGAIN;

    case SYM_MALFORMED:
    case SYM_LIMIT:
        message = sym_request_message(ctx->asked);

        /* the arena goes before the reply is made */

        ctx->title.data = ngx_pnalloc(ctx->request->pool, message.len);
        if (ctx->title.data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy((char *) ctx->title.data, message.data, message.len);

        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_BAD_REQUEST,
                                         sym_str(ctx->title.data, message.len),
                                         NULL);

    default:
        ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                      "symbolicate: no memory to parse %uz bytes",
                      ctx->body.len);

        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);
    }
}


static double
ngx_http_symbolicate_now(void)
{
    return (double) ngx_http_symbolicate_clock_ns() * 1e-9;
}


/* Whatever a request holds that its pool does not free; may run twice. */
static void
ngx_http_symbolicate_cleanup(void *data)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    ngx_http_symbolicate_leave(ctx);
    ngx_http_symbolicate_gather_end(ctx);
    ngx_http_symbolicate_missing_end(ctx);
    ngx_http_symbolicate_purge_end(ctx);
    ngx_http_symbolicate_answer_drop(ctx);
}
