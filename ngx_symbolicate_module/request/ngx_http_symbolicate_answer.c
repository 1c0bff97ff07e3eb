
/*
 * ngx_http_symbolicate_answer.c - frames are looked up and the answer written.
 *
 * All of it runs under sym_store_guarded(): a page that cannot be read ends the
 * slice, not the worker.  The answer goes straight into the buffers that are
 * sent.  One snapshot serves all slices of a request, and ends with them.
 *
 * A request that holds as much as it may pauses until its client has taken
 * that.  Meanwhile it keeps neither its place among the long requests nor its
 * snapshot, which would keep the loader from pages that it has freed; what is
 * evicted by then is said to be pending.
 */


#include "conf/ngx_http_symbolicate_module.h"


/* bytes to begin with: what a small request gets, and about what a frame with
 * its file and an inlined call takes */
#define NGX_SYMBOLICATE_FIRST   4096
#define NGX_SYMBOLICATE_FRAME   320

/* what a frame that is begun gets when the request holds all that it may */
#define NGX_SYMBOLICATE_REST    (16 * 1024)

/* An answer that met damaged modules begins again, but not for ever. */
#define NGX_SYMBOLICATE_RESTARTS  3


/* bytes of buffers of all answers in this worker */
static size_t  ngx_http_symbolicate_held;


static ngx_int_t ngx_http_symbolicate_pause(ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_miss(ngx_http_symbolicate_ctx_t *ctx);
static void ngx_http_symbolicate_restart(ngx_http_symbolicate_ctx_t *ctx);
static void ngx_http_symbolicate_reopen(ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_unavailable(
    ngx_http_symbolicate_ctx_t *ctx, const char *reason);
static void ngx_http_symbolicate_slice(void *data);
static void ngx_http_symbolicate_snapshot_end(void *data);
static void ngx_http_symbolicate_store_leave(ngx_http_symbolicate_ctx_t *ctx);
static bool ngx_http_symbolicate_more(sym_out_t *out, size_t need);
static size_t ngx_http_symbolicate_share(ngx_http_symbolicate_ctx_t *ctx);
static ngx_uint_t ngx_http_symbolicate_is_too_long(
    ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_too_long(
    ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_end_mark(
    ngx_http_symbolicate_ctx_t *ctx);
static void ngx_http_symbolicate_out_close(ngx_http_symbolicate_ctx_t *ctx);
static void ngx_http_symbolicate_chain_free(ngx_http_symbolicate_ctx_t *ctx);


ngx_int_t
ngx_http_symbolicate_answer_step(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_status_t                      status;
    ngx_log_t                        *log;
    const char                       *reason;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    log = ctx->request->connection->log;
    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    if (ngx_http_symbolicate_missing_verdict(ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ctx->stats.frames > slcf->slice && !ngx_http_symbolicate_admit(ctx)) {
        return NGX_DONE;
    }

    if (ctx->db == NULL) {
        ctx->db = ngx_http_symbolicate_store_get(slcf->store, log, &reason);

        if (ctx->db == NULL) {
            return ngx_http_symbolicate_unavailable(ctx, reason);
        }

        if (ctx->paused && ctx->exchanges != slcf->store->exchanges) {
            return ngx_http_symbolicate_unavailable(ctx,
                                          "the symbol store was exchanged");
        }

        ctx->exchanges = slcf->store->exchanges;
        ctx->out.more = ngx_http_symbolicate_more;
        ctx->out.ctx = ctx;
    }

    if (ctx->db->damaged) {

        /* met by another request since our last slice */

        return ngx_http_symbolicate_unavailable(ctx,
                               ngx_http_symbolicate_store_reason(SYM_DAMAGED));
    }

    ngx_memzero(&ctx->err, sizeof(sym_error_t));
    ctx->result = SYM_DAMAGED;

    status = sym_store_guarded(ctx->db->db, ngx_http_symbolicate_slice, ctx,
                               &ctx->err);

    if (status == SYM_OK) {
        status = ctx->result;
    }

    ctx->stats = *sym_request_stats(ctx->asked);

    if ((status == SYM_OK || status == SYM_AGAIN)
        && ctx->stats.is_unsound && !ctx->header_sent
        && ctx->restarts < NGX_SYMBOLICATE_RESTARTS)
    {
        ngx_http_symbolicate_restart(ctx);
        return NGX_AGAIN;
    }

    switch (status) {

    case SYM_OK:
        break;

    case SYM_AGAIN:
        return ctx->out.is_full ? ngx_http_symbolicate_pause(ctx) : NGX_AGAIN;

    case SYM_NOT_FOUND:
        return ngx_http_symbolicate_miss(ctx);

    case SYM_NOMEM:
        if (ngx_http_symbolicate_is_too_long(ctx)) {
            return ngx_http_symbolicate_too_long(ctx);
        }

        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "symbolicate: no memory to answer %uD frames",
                      ctx->stats.frames);

        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);

    case SYM_TRUNCATED:
        return ngx_http_symbolicate_unavailable(ctx,
                                   "a module was evicted while the client took "
                                   "one of its addresses");

    case SYM_DAMAGED:
        ngx_http_symbolicate_store_damaged(slcf->store, ctx->db, &ctx->err,
                                           log);

        return ngx_http_symbolicate_unavailable(ctx,
                                   ngx_http_symbolicate_store_reason(status));

    default:
        ngx_http_symbolicate_store_trouble(slcf->store, &ctx->err, log);

        return ngx_http_symbolicate_unavailable(ctx,
                                   ngx_http_symbolicate_store_reason(status));
    }

    if (ctx->stats.damaged) {
        ngx_http_symbolicate_store_bytes(slcf->store, ctx->stats.damaged, log);
    }

    if (ngx_http_symbolicate_is_too_long(ctx)) {
        return ngx_http_symbolicate_too_long(ctx);
    }

    ngx_http_symbolicate_out_close(ctx);
    ngx_http_symbolicate_leave(ctx);

    if (ngx_http_symbolicate_end_mark(ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    ctx->complete = 1;
    ctx->status = ngx_http_symbolicate_missing_some(ctx)
                  ? SYM_SERVED_PARTIAL : SYM_SERVED_OK;
    ngx_http_symbolicate_count_answer(ctx);
    ngx_http_symbolicate_answer_end(ctx);

    return NGX_OK;
}


/* What is written is sent first. */
static ngx_int_t
ngx_http_symbolicate_pause(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_out_close(ctx);
    ngx_http_symbolicate_leave(ctx);
    ngx_http_symbolicate_store_leave(ctx);

    ctx->out.is_full = 0;
    ctx->paused = 1;

    return NGX_OK;
}


/*
 * Modules are missing.  No view of the store is held while they are waited for,
 * nor a place among the long requests.
 */
static ngx_int_t
ngx_http_symbolicate_miss(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_int_t  rc;

    rc = ngx_http_symbolicate_missing_step(ctx);

    if (rc == NGX_OK) {
        return NGX_AGAIN;
    }

    if (rc == NGX_DONE) {
        ngx_http_symbolicate_reopen(ctx);
    }

    return rc;
}


/*
 * A module was found, and proved to be damaged.  Nothing is sent yet: all that
 * is written is given up, and the module looked for as one that is missing.
 */
static void
ngx_http_symbolicate_restart(ngx_http_symbolicate_ctx_t *ctx)
{
    ctx->restarts++;

    ngx_http_symbolicate_chain_free(ctx);

    ctx->out.pos = NULL;
    ctx->out.end = NULL;
    ctx->out.before = 0;
    ctx->out.is_full = 0;

    ngx_http_symbolicate_reopen(ctx);
}


/* The next slice begins the answer in another view of the store. */
static void
ngx_http_symbolicate_reopen(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (ctx->stats.damaged) {
        slcf = ngx_http_get_module_loc_conf(ctx->request,
                                            ngx_http_symbolicate_module);
        ngx_http_symbolicate_store_bytes(slcf->store, ctx->stats.damaged,
                                         ctx->request->connection->log);
    }

    ngx_http_symbolicate_leave(ctx);
    ngx_http_symbolicate_store_leave(ctx);
    sym_request_reopen(ctx->asked);
}


static ngx_int_t
ngx_http_symbolicate_unavailable(ngx_http_symbolicate_ctx_t *ctx,
    const char *reason)
{
    return ngx_http_symbolicate_fail(ctx, NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"),
                                     reason);
}


/* Runs under the guard: may end at any access to the store. */
static void
ngx_http_symbolicate_slice(void *data)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    sym_view_t                        view;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    if (ctx->snapshot == NULL) {
        ctx->result = sym_snapshot_begin(ctx->db->db, &ctx->snapshot,
                                         &ctx->err);
        if (ctx->result != SYM_OK) {
            ctx->snapshot = NULL;
            return;
        }
    }

    view.store = ctx->db->db;
    view.snapshot = ctx->snapshot;
    view.kept = ctx->db->kept;
    view.now_s = (uint32_t) ngx_time();

    if (ctx->paused) {

        if (!sym_request_resume(ctx->asked, &view)) {
            ctx->result = SYM_TRUNCATED;
            return;
        }

        ctx->paused = 0;
    }

    ctx->result = sym_request_answer(ctx->asked, &view, &ctx->out,
                                     (uint32_t) slcf->slice);

    if (ctx->result == SYM_OK) {
        ngx_http_symbolicate_snapshot_end(ctx);
    }
}


static void
ngx_http_symbolicate_snapshot_end(void *data)
{
    ngx_http_symbolicate_ctx_t *ctx = data;

    sym_snapshot_end(ctx->snapshot);
    ctx->snapshot = NULL;
}


/* The next window: another buffer of the answer. */
static bool
ngx_http_symbolicate_more(sym_out_t *out, size_t need)
{
    size_t                       size;
    ngx_buf_t                   *b;
    ngx_pool_t                  *pool;
    ngx_chain_t                 *cl;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = out->ctx;
    pool = ctx->request->pool;

    if (ctx->last == NULL) {
        size = NGX_SYMBOLICATE_FIRST
               + (size_t) ctx->stats.frames * NGX_SYMBOLICATE_FRAME;

        if (size > NGX_SYMBOLICATE_WHOLE || ctx->header_sent) {
            size = NGX_SYMBOLICATE_BUFFER;
        }

    } else {

        if (ngx_http_symbolicate_is_too_long(ctx)) {
            return false;
        }

        size = ctx->last->buf->end - ctx->last->buf->start;
        size = ngx_min(size, NGX_SYMBOLICATE_BUFFER);

        if (ctx->held >= ngx_http_symbolicate_share(ctx)) {
            out->is_full = 1;
            size = NGX_SYMBOLICATE_REST;
        }
    }

    size = ngx_max(size, need);

    b = ngx_create_temp_buf(pool, size);
    if (b == NULL) {
        return false;
    }

    ctx->held += size;
    ngx_http_symbolicate_held += size;

    cl = ngx_alloc_chain_link(pool);
    if (cl == NULL) {
        return false;
    }

    cl->buf = b;
    cl->next = NULL;

    b->tag = (ngx_buf_tag_t) &ngx_http_symbolicate_module;

    ngx_http_symbolicate_out_close(ctx);

    if (ctx->last) {
        ctx->last->next = cl;

    } else {
        ctx->first = cl;
    }

    ctx->last = cl;

    out->pos = (char *) b->pos;
    out->end = (char *) b->end;

    return true;
}


/* Says of the window that is written how much of it is. */
static void
ngx_http_symbolicate_out_close(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_buf_t  *b;

    if (ctx->last == NULL) {
        return;
    }

    b = ctx->last->buf;

    b->last = (u_char *) ctx->out.pos;
    ctx->out.before += b->last - b->pos;

    ctx->out.pos = NULL;
    ctx->out.end = NULL;
}


/*
 * Bytes of its answer that a request may hold: half of what the other requests
 * leave of the worker's limit.  Any number of clients that do not read share
 * that limit, and never keep a client waiting that reads.
 */
static size_t
ngx_http_symbolicate_share(ngx_http_symbolicate_ctx_t *ctx)
{
    size_t                             others, share;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(ctx->request,
                                         ngx_http_symbolicate_module);

    others = ngx_http_symbolicate_held - ctx->held;
    share = others < smcf->buffers ? (smcf->buffers - others) / 2 : 0;

    return ngx_min(share, NGX_SYMBOLICATE_HELD);
}


void
ngx_http_symbolicate_answer_free(ngx_http_symbolicate_ctx_t *ctx,
    ngx_chain_t *cl)
{
    size_t  size;

    size = cl->buf->end - cl->buf->start;

    ctx->held -= size;
    ngx_http_symbolicate_held -= size;

    (void) ngx_pfree(ctx->request->pool, cl->buf->start);
    ngx_free_chain(ctx->request->pool, cl);
}


/* Marks the last buffer of the answer; there is none where all of them were
 * sent already. */
static ngx_int_t
ngx_http_symbolicate_end_mark(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_chain_t  *cl;

    if (ctx->last == NULL) {
        cl = ngx_alloc_chain_link(ctx->request->pool);
        if (cl == NULL) {
            return NGX_ERROR;
        }

        cl->buf = ngx_calloc_buf(ctx->request->pool);
        if (cl->buf == NULL) {
            return NGX_ERROR;
        }

        cl->next = NULL;
        ctx->first = cl;
        ctx->last = cl;
    }

    ctx->last->buf->last_buf = (ctx->request == ctx->request->main) ? 1 : 0;
    ctx->last->buf->last_in_chain = 1;

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_is_too_long(ngx_http_symbolicate_ctx_t *ctx)
{
    uint64_t                          len;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    len = ctx->out.before;

    if (ctx->last) {
        len += ctx->out.pos - (char *) ctx->last->buf->pos;
    }

    return slcf->max_answer && len > (uint64_t) slcf->max_answer;
}


static ngx_int_t
ngx_http_symbolicate_too_long(ngx_http_symbolicate_ctx_t *ctx)
{
    u_char                           *p, *last;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    static const char  words[] = "please ask for less in a single request: its "
                                 "answer is longer than ";

    slcf = ngx_http_get_module_loc_conf(ctx->request,
                                        ngx_http_symbolicate_module);

    p = ngx_pnalloc(ctx->request->pool,
                    sizeof(words) + NGX_OFF_T_LEN + sizeof(" bytes"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    last = ngx_sprintf(p, "%s%O bytes", words, slcf->max_answer);

    return ngx_http_symbolicate_fail(ctx, NGX_HTTP_BAD_REQUEST,
                                     sym_str((char *) p, last - p), NULL);
}


/* Gives up the view of the store, and the store. */
static void
ngx_http_symbolicate_store_leave(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_error_t                       err;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (ctx->db) {

        if (ctx->snapshot && !ctx->db->damaged) {
            slcf = ngx_http_get_module_loc_conf(ctx->request,
                                                ngx_http_symbolicate_module);
            ngx_memzero(&err, sizeof(sym_error_t));

            if (sym_store_guarded(ctx->db->db,
                                  ngx_http_symbolicate_snapshot_end, ctx, &err)
                != SYM_OK)
            {
                ngx_http_symbolicate_store_damaged(slcf->store, ctx->db, &err,
                                               ctx->request->connection->log);
            }
        }

        ctx->snapshot = NULL;

        ngx_http_symbolicate_store_put(ctx->db);
        ctx->db = NULL;
    }
}


/* Gives up what the answer needed; may run at any time, and twice. */
void
ngx_http_symbolicate_answer_end(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_store_leave(ctx);

    ctx->asked = NULL;
    sym_arena_drop(&ctx->arena);
}


/* Frees what is written and not yet sent. */
static void
ngx_http_symbolicate_chain_free(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_chain_t  *cl;

    /* nginx takes the pool off a request that it frees */

    while (ctx->first && ctx->request->pool) {
        cl = ctx->first;
        ctx->first = cl->next;

        ngx_http_symbolicate_answer_free(ctx, cl);
    }

    ctx->last = NULL;
}


/* The request ends, and with it all its buffers; may run twice. */
void
ngx_http_symbolicate_answer_drop(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_http_symbolicate_answer_end(ctx);
    ngx_http_symbolicate_chain_free(ctx);

    ngx_http_symbolicate_held -= ctx->held;
    ctx->held = 0;
}
