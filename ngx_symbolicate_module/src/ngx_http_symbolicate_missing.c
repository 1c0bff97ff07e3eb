
/*
 * ngx_http_symbolicate_missing.c - a request waits for what the store has not.
 *
 * Between the look at a request's modules and its answer: those that nothing is
 * known of are wanted (want.c), all at once; when all are settled or the
 * request's time is over, the answer goes on in a new view of the store.
 */


#include "ngx_http_symbolicate_module.h"


/* A module that is ready may be evicted before it is looked at again; but not
 * for ever. */
#define NGX_SYMBOLICATE_ROUNDS  3

/* seconds after which an answer that came too early may be asked for again */
#define NGX_SYMBOLICATE_RETRY   1


struct ngx_http_symbolicate_missing_s {
    ngx_http_symbolicate_wait_t    wait;
    ngx_uint_t                     round;
    ngx_uint_t                     asked;       /* modules */
    ngx_uint_t                     failed;      /* modules */
    ngx_uint_t                     late;        /* modules, when it was over */
    time_t                         retry;       /* seconds until one that failed
                                                 * may be asked for again */
    unsigned                       over:1;      /* the time is */
    ngx_msec_t                     end;
    ngx_msec_t                     began;       /* the present waiting */
};


static void ngx_http_symbolicate_missing_settled(void *data,
    ngx_uint_t module, sym_link_message_t *m);
static void ngx_http_symbolicate_missing_resume(void *data);
static void ngx_http_symbolicate_missing_late(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_missing_fail(
    ngx_http_symbolicate_ctx_t *ctx);


/*
 * The time that a request may wait: the location's, or less if the client says
 * so ("800ms", "5s").  NGX_ERROR: it says what is no time.
 */
ngx_int_t
ngx_http_symbolicate_missing_budget(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_int_t                         ms;
    ngx_table_elt_t                  *h;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    ctx->budget = slcf->budget;

    h = ngx_http_symbolicate_find_header(ctx->request, "X-Symbolicate-Budget");

    if (h == NULL) {
        return NGX_OK;
    }

    ms = ngx_parse_time(&h->value, 0);

    if (ms == NGX_ERROR) {
        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_BAD_REQUEST,
                         SYM_STR("X-Symbolicate-Budget is not a time; want one"
                                 " like 800ms or 5s"), NULL);
    }

    ctx->budget = ngx_min((ngx_msec_t) ms, slcf->budget);

    return NGX_OK;
}


static ngx_http_symbolicate_missing_t *
ngx_http_symbolicate_missing_create(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_missing_t  *missing;

    missing = ngx_pcalloc(ctx->request->pool,
                          sizeof(ngx_http_symbolicate_missing_t));
    if (missing == NULL) {
        return NULL;
    }

    ngx_queue_init(&missing->wait.waiters);
    ngx_queue_init(&missing->wait.shares);

    missing->wait.settled = ngx_http_symbolicate_missing_settled;
    missing->wait.resume = ngx_http_symbolicate_missing_resume;
    missing->wait.data = ctx;

    missing->wait.timer.handler = ngx_http_symbolicate_missing_late;
    missing->wait.timer.data = ctx;
    missing->wait.timer.log = ctx->request->connection->log;

    missing->end = ngx_current_msec + ctx->budget;

    return missing;
}


static void
ngx_http_symbolicate_missing_failed(ngx_http_symbolicate_ctx_t *ctx,
    time_t seconds)
{
    ngx_http_symbolicate_missing_t  *missing;

    missing = ctx->missing;

    seconds = ngx_max(seconds, 1);

    missing->retry = missing->failed++ ? ngx_min(missing->retry, seconds)
                                       : seconds;
}


/*
 * Called when the store does not have all.  NGX_OK: the answer may go on, what
 * is not there is settled; NGX_DONE: the request waits and will be run again;
 * NGX_ERROR: failed.
 */
ngx_int_t
ngx_http_symbolicate_missing_step(ngx_http_symbolicate_ctx_t *ctx)
{
    uint32_t                          i, n;
    ngx_int_t                         rc;
    ngx_msec_int_t                    budget;
    sym_asked_t              *m;
    ngx_http_core_srv_conf_t         *cscf;
    ngx_http_symbolicate_missing_t   *missing;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    if (ctx->missing == NULL) {
        ctx->missing = ngx_http_symbolicate_missing_create(ctx);
        if (ctx->missing == NULL) {
            return NGX_ERROR;
        }

        cscf = ngx_http_get_module_srv_conf(ctx->request, ngx_http_core_module);
        slcf->how.server = cscf->ctx;
    }

    missing = ctx->missing;
    missing->round++;

    m = sym_request_modules(ctx->asked, &n);

    for (i = 0; i < n; i++) {

        if (m[i].found == SYM_ASKED_FOUND || m[i].is_settled
            || !sym_asked_is_askable(&m[i]))
        {
            continue;
        }

        if (m[i].missing.state == SYM_MODULE_FAILED) {
            m[i].is_settled = 1;
            ngx_http_symbolicate_missing_failed(ctx,
                               (time_t) m[i].missing.expires_at - ngx_time());
            continue;
        }

        if (m[i].missing.state != 0) {
            continue;
        }

        if (!sym_source_name_ok(m[i].key.name)
            || m[i].id.len > SYM_SOURCE_ID_MAX)
        {
            m[i].is_settled = 1;
            continue;
        }

        rc = NGX_BUSY;

        if (!missing->over && missing->round <= NGX_SYMBOLICATE_ROUNDS
            && missing->asked < slcf->max_missing)
        {
            rc = ngx_http_symbolicate_want(slcf->loader, &slcf->how, &m[i].key,
                                           m[i].id, &missing->wait, i);
        }

        if (rc == NGX_BUSY) {
            m[i].is_settled = 1;
            m[i].found = SYM_ASKED_PENDING;
            missing->late++;
            continue;
        }

        if (rc != NGX_OK) {
            return NGX_ERROR;
        }

        missing->asked++;
    }

    if (missing->wait.pending) {
        missing->began = ngx_current_msec;
        budget = (ngx_msec_int_t) (missing->end - ngx_current_msec);
        ngx_add_timer(&missing->wait.timer, ngx_max(budget, 1));
        return NGX_DONE;
    }

    return ngx_http_symbolicate_missing_verdict(ctx);
}


/*
 * NGX_ERROR: the answer is an error, for modules failed.  To be asked before
 * the store is looked at again: it may not have kept why they did.
 */
ngx_int_t
ngx_http_symbolicate_missing_verdict(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (ctx->missing == NULL || ctx->missing->failed == 0) {
        return NGX_OK;
    }

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    if (slcf->on_failure != ngx_http_symbolicate_on_failure_503) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_missing_fail(ctx);
}


/* Gives up what waits; may run at any time, and twice. */
void
ngx_http_symbolicate_missing_end(ngx_http_symbolicate_ctx_t *ctx)
{
    if (ctx->missing == NULL) {
        return;
    }

    ngx_http_symbolicate_unwant(&ctx->missing->wait, 0);

    if (ctx->missing->wait.timer.timer_set) {
        ngx_del_timer(&ctx->missing->wait.timer);
    }
}


/* A module of the request: READY, or NEGATIVE with its reason. */
static void
ngx_http_symbolicate_missing_settled(void *data, ngx_uint_t module,
    sym_link_message_t *m)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    uint32_t              n;
    sym_asked_t  *modules;

    if (m->type == SYM_LINK_READY) {
        sym_request_fetched(ctx->asked, module);
        return;
    }

    modules = sym_request_modules(ctx->asked, &n);

    modules[module].is_settled = 1;
    modules[module].missing.state = m->state;
    modules[module].missing.reason = sym_arena_copy(&ctx->arena, m->text);

    if (modules[module].missing.reason.data == NULL) {
        modules[module].missing.reason = SYM_STR("");
    }

    if (m->state == SYM_MODULE_FAILED) {
        ngx_http_symbolicate_missing_failed(ctx, m->ttl.failed);
    }
}


static void
ngx_http_symbolicate_missing_resume(void *data)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    if (ctx->missing->wait.timer.timer_set) {
        ngx_del_timer(&ctx->missing->wait.timer);
    }

    sym_request_waited(ctx->asked,
                      (double) (ngx_current_msec - ctx->missing->began) / 1000);

    ngx_http_symbolicate_enqueue(&ctx->turn);
}


/* The request's time is over: what is there is answered, the fetches go on. */
static void
ngx_http_symbolicate_missing_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_ctx_t *ctx = ev->data;

    ctx->missing->over = 1;

    ngx_http_symbolicate_unwant(&ctx->missing->wait, 1);
    ngx_http_symbolicate_missing_resume(ctx);
}


/* True if modules could not be had, or not in time. */
ngx_uint_t
ngx_http_symbolicate_missing_some(ngx_http_symbolicate_ctx_t *ctx)
{
    return ctx->missing && (ctx->missing->late || ctx->missing->failed);
}


/* A header for whoever got less than asked for. */
ngx_int_t
ngx_http_symbolicate_missing_headers(ngx_http_symbolicate_ctx_t *ctx)
{
    time_t   seconds;
    u_char  *p;

    if (!ngx_http_symbolicate_missing_some(ctx)) {
        return NGX_OK;
    }

    seconds = ctx->missing->failed ? ctx->missing->retry
                                   : NGX_SYMBOLICATE_RETRY;

    if (ctx->missing->late) {
        seconds = NGX_SYMBOLICATE_RETRY;
    }

    p = ngx_pnalloc(ctx->request->pool, NGX_TIME_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_add_header(ctx->request, "Retry-After",
                                           (char *) p,
                                           ngx_sprintf(p, "%T", seconds) - p);
}


/*
 * 503 that names each module and why.  The body is made here, while the request
 * is still in memory, and sent by handler.c.
 */
static ngx_int_t
ngx_http_symbolicate_missing_fail(ngx_http_symbolicate_ctx_t *ctx)
{
    size_t                size;
    uint32_t              i, n;
    sym_out_t             out;
    ngx_uint_t            first;
    ngx_chain_t          *body;
    sym_asked_t  *m;

    m = sym_request_modules(ctx->asked, &n);
    size = 256;

    for (i = 0; i < n; i++) {
        if (m[i].is_settled && m[i].missing.state == SYM_MODULE_FAILED) {
            size += 6 * (m[i].name.len + m[i].id.len + m[i].missing.reason.len)
                    + 64;
        }
    }

    body = ngx_http_symbolicate_body_begin(ctx->request, size, &out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    sym_out_raw(&out, SYM_STR("{\"title\": \"503 Service Unavailable\", "
                              "\"description\": \"symbols could not be "
                              "fetched\", \"modules\": ["));
    first = 1;

    for (i = 0; i < n; i++) {

        if (!m[i].is_settled || m[i].missing.state != SYM_MODULE_FAILED) {
            continue;
        }

        sym_out_raw(&out, first ? SYM_STR("{\"debug_file\": ")
                                : SYM_STR(", {\"debug_file\": "));
        sym_out_string(&out, m[i].name);
        sym_out_raw(&out, SYM_STR(", \"debug_id\": "));
        sym_out_string(&out, m[i].id);
        sym_out_raw(&out, SYM_STR(", \"reason\": "));
        sym_out_string(&out, m[i].missing.reason);
        sym_out_raw(&out, SYM_STR("}"));

        first = 0;
    }

    sym_out_raw(&out, SYM_STR("]}"));

    if (ngx_http_symbolicate_body_end(ctx->request, body, &out) != NGX_OK) {
        return NGX_ERROR;
    }

    ctx->error_body = body;

    (void) ngx_http_symbolicate_fail(ctx, NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"), NULL);

    ctx->status = SYM_SERVED_FETCH_FAILED;
    ctx->stats = *sym_request_stats(ctx->asked);
    ngx_http_symbolicate_count_answer(ctx);

    return NGX_ERROR;
}
