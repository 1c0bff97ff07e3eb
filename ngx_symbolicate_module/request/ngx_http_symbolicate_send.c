
/*
 * ngx_http_symbolicate_send.c - the answer is given to the output filters.
 *
 * A large one goes one buffer a turn: compressing, encrypting or copying some
 * megabytes to a fast client at once would hold up everybody else.  One that is
 * larger than what a request may hold is sent by parts, each written when the
 * one before it is sent: its length is not known when it begins.
 */


#include "conf/ngx_http_symbolicate_module.h"


static ngx_int_t ngx_http_symbolicate_send_start(
    ngx_http_symbolicate_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_wait_write(
    ngx_http_symbolicate_ctx_t *ctx);
static void ngx_http_symbolicate_write_handler(ngx_http_request_t *r);


ngx_int_t
ngx_http_symbolicate_send_step(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_int_t            rc;
    ngx_chain_t         *cl;
    ngx_http_request_t  *r;

    r = ctx->request;

    if (!ctx->header_sent) {
        rc = ngx_http_symbolicate_send_start(ctx);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (ctx->busy == NULL) {

        if (ctx->first == NULL) {
            return NGX_DECLINED;
        }

        cl = ctx->first;
        ctx->first = cl->next;
        cl->next = NULL;

        if (ctx->first == NULL) {
            ctx->last = NULL;
        }

        /* kept back for more (postpone_output) it would be waited for in vain:
         * the socket is writable already */
        cl->buf->flush = (ctx->first != NULL || !ctx->complete);

        rc = ngx_http_output_filter(r, cl);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (ctx->first == NULL && ctx->complete) {
            return NGX_OK;          /* nginx sends what is left */
        }

        ngx_chain_update_chains(r->pool, &ctx->free, &ctx->busy, &cl,
                           (ngx_buf_tag_t) &ngx_http_symbolicate_module);
    }

    if (ctx->busy) {
        return ngx_http_symbolicate_wait_write(ctx);
    }

    /* what is sent is not kept until the slowest client has it all */

    while (ctx->free) {
        cl = ctx->free;
        ctx->free = cl->next;

        ngx_http_symbolicate_answer_free(ctx, cl);
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_http_symbolicate_send_start(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_int_t                         rc;
    const char                       *type;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = ctx->request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    ctx->header_sent = 1;

    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_symbolicate_set_json(r, ctx->complete ? (off_t) ctx->out.before
                                                   : -1);

    type = slcf->api->answers[ctx->call.answer];

    r->headers_out.content_type.data = (u_char *) type;
    r->headers_out.content_type.len = ngx_strlen(type);
    r->headers_out.content_type_len = strcspn(type, ";");

    if (slcf->api->answers[1]
        && ngx_http_symbolicate_add_header(r, "Vary", "Accept", 6) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_symbolicate_missing_headers(ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* As ngx_http_writer() does, but between two buffers of an answer. */
static ngx_int_t
ngx_http_symbolicate_wait_write(ngx_http_symbolicate_ctx_t *ctx)
{
    ngx_event_t               *wev;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = ctx->request;
    wev = r->connection->write;
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    r->write_event_handler = ngx_http_symbolicate_write_handler;

    if (!wev->delayed) {
        ngx_add_timer(wev, clcf->send_timeout);
    }

    if (ngx_handle_write_event(wev, clcf->send_lowat) != NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_DONE;
}


static void
ngx_http_symbolicate_write_handler(ngx_http_request_t *r)
{
    ngx_chain_t                 *none;
    ngx_event_t                 *wev;
    ngx_connection_t            *c;
    ngx_http_symbolicate_ctx_t  *ctx;

    c = r->connection;
    wev = c->write;
    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (wev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      "client timed out");
        c->timedout = 1;

        ngx_http_finalize_request(r, NGX_HTTP_REQUEST_TIME_OUT);
        return;
    }

    if (ctx->turn.queued) {
        return;
    }

    if (!wev->delayed) {

        if (ngx_http_output_filter(r, NULL) == NGX_ERROR) {
            ngx_http_finalize_request(r, NGX_ERROR);
            return;
        }

        none = NULL;
        ngx_chain_update_chains(r->pool, &ctx->free, &ctx->busy, &none,
                           (ngx_buf_tag_t) &ngx_http_symbolicate_module);
    }

    /* limit_rate's timer stays: it alone ends the delay */

    if (ctx->busy == NULL && wev->timer_set && !wev->delayed) {
        ngx_del_timer(wev);
    }

    ngx_http_symbolicate_run(ctx);
}
