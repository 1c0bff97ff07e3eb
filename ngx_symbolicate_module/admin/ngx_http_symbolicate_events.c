
/*
 * ngx_http_symbolicate_events.c - POST .../events: which modules to forget, as
 * S3 and servers like it tell it.
 */


#include "conf/ngx_http_symbolicate_module.h"

#include "sources/events/sns.h"


/* An arena beyond this, and beyond so many times the body: keys are copied, and
 * records of a hundred bytes become events of as many. */
#define NGX_SYMBOLICATE_EVENTS_ARENA  (1024 * 1024)
#define NGX_SYMBOLICATE_EVENTS_RATIO  16

#define NGX_SYMBOLICATE_EVENTS_TEXT   256


static ngx_int_t ngx_http_symbolicate_events_refuse(
    ngx_http_symbolicate_ctx_t *ctx, sym_error_t *err);
static void ngx_http_symbolicate_events_subscription(
    ngx_http_symbolicate_ctx_t *ctx);


ngx_int_t
ngx_http_symbolicate_events(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_create_ctx(r);

    /* what was loaded by hand is in no bucket, unless somebody says so */

    if (scopes->n > 1) {
        scopes->names++;
        scopes->n--;
    }

    if (ctx == NULL || ngx_http_symbolicate_purge_create(ctx, scopes) == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_read_body(r);
}


ngx_int_t
ngx_http_symbolicate_events_step(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_error_t      err;
    sym_s3_events_t  events;

    sym_arena_init(&ctx->arena, NGX_SYMBOLICATE_EVENTS_ARENA
                                + ctx->body.len * NGX_SYMBOLICATE_EVENTS_RATIO);

    ngx_memzero(&err, sizeof(sym_error_t));

    switch (sym_s3_events_read(&ctx->arena, ctx->body, &events, &err)) {

    case SYM_OK:
        ngx_http_symbolicate_purge_events(ctx, &events);
        return NGX_OK;

    case SYM_NOMEM:
        ngx_log_error(NGX_LOG_ERR, ctx->request->connection->log, 0,
                      "symbolicate: no memory for events of %uz bytes",
                      ctx->body.len);

        return ngx_http_symbolicate_fail(ctx, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);

    case SYM_UNSUPPORTED:
        ngx_http_symbolicate_events_subscription(ctx);
        break;

    default:
        break;
    }

    return ngx_http_symbolicate_events_refuse(ctx, &err);
}


static ngx_int_t
ngx_http_symbolicate_events_refuse(ngx_http_symbolicate_ctx_t *ctx,
    sym_error_t *err)
{
    char  *text;

    text = ngx_pnalloc(ctx->request->pool, NGX_SYMBOLICATE_EVENTS_TEXT);
    if (text == NULL) {
        return NGX_ERROR;
    }

    (void) sym_error_text(err, text, NGX_SYMBOLICATE_EVENTS_TEXT);

    ngx_log_error(NGX_LOG_WARN, ctx->request->connection->log, 0,
                  "symbolicate: events refused: %s", text);

    return ngx_http_symbolicate_fail(ctx, NGX_HTTP_BAD_REQUEST,
                                     SYM_STR("400 Bad Request"), text);
}


/* An address that a stranger sends is shown to somebody who can judge it. */
static void
ngx_http_symbolicate_events_subscription(ngx_http_symbolicate_ctx_t *ctx)
{
    sym_str_t  url;

    if (!sym_sns_subscribe_url(&ctx->arena, ctx->body, &url)) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, ctx->request->connection->log, 0,
                  "symbolicate: an SNS subscription waits to be confirmed; if "
                  "it is yours, open this address: %*s", url.len, url.data);
}
