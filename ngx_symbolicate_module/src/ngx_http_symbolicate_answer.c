
/*
 * ngx_http_symbolicate_answer.c - frames are looked up and the answer written.
 *
 * All of it runs under sym_store_guarded(): a page that cannot be read ends the
 * slice, not the worker.  The answer goes straight into the buffers that are
 * sent.  One snapshot serves all slices of a request, and ends with them.
 */


#include "ngx_http_symbolicate_module.h"


/* bytes to begin with: what a small request gets, and about what a frame with
 * its file and an inlined call takes */
#define NGX_SYMBOLICATE_FIRST   4096
#define NGX_SYMBOLICATE_FRAME   320


static ngx_int_t ngx_http_symbolicate_miss(ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_unavailable(
    ngx_http_symbolicate_ctx_t *ctx, const char *reason);
static void ngx_http_symbolicate_slice(void *data);
static void ngx_http_symbolicate_snapshot_end(void *data);
static void ngx_http_symbolicate_store_leave(ngx_http_symbolicate_ctx_t *ctx);
static bool ngx_http_symbolicate_more(sym_out_t *out, size_t need);
static void ngx_http_symbolicate_out_close(ngx_http_symbolicate_ctx_t *ctx);


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

    switch (status) {

    case SYM_OK:
        break;

    case SYM_AGAIN:
        return NGX_AGAIN;

    case SYM_NOT_FOUND:
        return ngx_http_symbolicate_miss(ctx);

    case SYM_NOMEM:
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "symbolicate: no memory to answer %uD frames",
                      ctx->stats.frames);

        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);

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

    ngx_http_symbolicate_out_close(ctx);
    ngx_http_symbolicate_leave(ctx);

    ctx->status = ngx_http_symbolicate_missing_some(ctx) ? SYM_SERVED_PARTIAL
                                                         : SYM_SERVED_OK;
    ngx_http_symbolicate_count_answer(ctx);
    ngx_http_symbolicate_answer_end(ctx);

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
        ngx_http_symbolicate_leave(ctx);
        ngx_http_symbolicate_store_leave(ctx);
        sym_request_reopen(ctx->asked);
    }

    return rc;
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

        if (size > NGX_SYMBOLICATE_WHOLE) {
            size = NGX_SYMBOLICATE_BUFFER;
        }

    } else {
        size = ctx->last->buf->end - ctx->last->buf->start;
        size = ngx_min(size, NGX_SYMBOLICATE_BUFFER);
    }

    b = ngx_create_temp_buf(pool, ngx_max(size, need));
    if (b == NULL) {
        return false;
    }

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
