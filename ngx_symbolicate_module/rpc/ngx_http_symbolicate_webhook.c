
/*
 * ngx_http_symbolicate_webhook.c - delivers batches of modules that have
 * arrived.
 *
 * The loader decides about retries, because it outlives workers, and all of
 * them are connected to it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_background.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_webhook.h"


#define NGX_SYMBOLICATE_WEBHOOK_MS    1000

#define NGX_SYMBOLICATE_WEBHOOK_TEXT  64


struct ngx_http_symbolicate_webhook_s {
    ngx_http_symbolicate_loader_t      *loader;
    ngx_http_symbolicate_loader_conf_t *conf;
    ngx_http_symbolicate_background_t  *bg;     /* NULL: no batch is being
                                                 * sent */
    uint64_t                            number; /* number of the batch in the
                                                 * request body */
    ngx_uint_t                          status;
    ngx_event_t                         timer;
};


static void ngx_http_symbolicate_webhook_tick(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_webhook_send(
    ngx_http_symbolicate_webhook_t *webhook, sym_str_t body);
static void ngx_http_symbolicate_webhook_listen(
    ngx_http_symbolicate_loader_t *loader, uint64_t number,
    ngx_uint_t delivered, sym_str_t text);
static ngx_int_t ngx_http_symbolicate_webhook_header(void *data,
    ngx_http_request_t *r);
static void ngx_http_symbolicate_webhook_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt
    ngx_http_symbolicate_webhook_events =
{
    ngx_http_symbolicate_webhook_header,
    NULL,
    NULL,
    ngx_http_symbolicate_webhook_done
};

static ngx_str_t  ngx_http_symbolicate_webhook_post = ngx_string("POST");
static ngx_str_t  ngx_http_symbolicate_webhook_json =
                                               ngx_string("application/json");


ngx_int_t
ngx_http_symbolicate_webhooks_process(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                            i;
    ngx_http_symbolicate_webhook_t       *webhook;
    ngx_http_symbolicate_loader_conf_t  **conf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    conf = smcf->loaders.elts;

    for (i = 0; i < smcf->loaders.nelts; i++) {

        if (conf[i]->webhook.len == 0) {
            continue;
        }

        webhook = ngx_pcalloc(cycle->pool,
                              sizeof(ngx_http_symbolicate_webhook_t));
        if (webhook == NULL) {
            return NGX_ERROR;
        }

        webhook->conf = conf[i];
        webhook->loader = ngx_http_symbolicate_loader_of(conf[i]);
        webhook->loader->webhook = webhook;

        webhook->timer.handler = ngx_http_symbolicate_webhook_tick;
        webhook->timer.data = webhook;
        webhook->timer.log = cycle->log;
        webhook->timer.cancelable = 1;

        ngx_add_timer(&webhook->timer, 1);
    }

    return NGX_OK;
}


/* Connects to the loader, even if no request needs it. */
static void
ngx_http_symbolicate_webhook_tick(ngx_event_t *ev)
{
    ngx_http_symbolicate_webhook_t *webhook = ev->data;

    if (ngx_exiting) {
        return;
    }

    (void) ngx_http_symbolicate_loader_connect(webhook->loader);

    ngx_add_timer(ev, NGX_SYMBOLICATE_WEBHOOK_MS);
}


void
ngx_http_symbolicate_webhook_connected(ngx_http_symbolicate_loader_t *loader)
{
    if (loader->webhook && loader->welcome && !ngx_exiting) {
        ngx_http_symbolicate_webhook_listen(loader, 0, 0, SYM_STR(""));
    }
}


static void
ngx_http_symbolicate_webhook_listen(ngx_http_symbolicate_loader_t *loader,
    uint64_t number, ngx_uint_t delivered, sym_str_t text)
{
    sym_rpc_message_t  m;

    if (!loader->welcome) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_LISTEN;
    m.flags = delivered ? SYM_RPC_DELIVERED : 0;
    m.offset = number;
    m.text = text;

    ngx_http_symbolicate_loader_send(loader, &m, -1);
}


void
ngx_http_symbolicate_webhook_arrived(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_webhook_t  *webhook;

    webhook = loader->webhook;

    if (webhook == NULL || webhook->bg) {
        ngx_http_symbolicate_webhook_listen(loader, m->offset, 0,
                                     SYM_STR("the worker is sending another"));
        return;
    }

    webhook->number = m->offset;
    webhook->status = 0;

    if (ngx_http_symbolicate_webhook_send(webhook, m->text) != NGX_OK) {

        if (webhook->bg) {
            (void) ngx_http_symbolicate_background_free(webhook->bg);
            webhook->bg = NULL;
        }

        ngx_http_symbolicate_webhook_listen(loader, m->offset, 0,
                                            SYM_STR("out of memory"));
        return;
    }

    /* the connection stays open until the outcome is reported */

    loader->nbusy++;
    ngx_http_symbolicate_loader_idle(loader);
}


static ngx_int_t
ngx_http_symbolicate_webhook_send(ngx_http_symbolicate_webhook_t *webhook,
    sym_str_t body)
{
    ngx_str_t  copy;

    static ngx_str_t  none = ngx_null_string;

    webhook->bg = ngx_http_symbolicate_background_create(
                                         webhook->conf->webhook_server,
                                         &ngx_http_symbolicate_webhook_events,
                                         webhook);
    if (webhook->bg == NULL) {
        return NGX_ERROR;
    }

    copy.len = body.len;
    copy.data = ngx_pnalloc(ngx_http_symbolicate_background_pool(webhook->bg),
                            body.len);
    if (copy.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(copy.data, body.data, body.len);

    if (ngx_http_symbolicate_background_set_body(webhook->bg, &copy) != NGX_OK
        || ngx_http_symbolicate_background_add_header(webhook->bg,
                                           "Content-Type",
                                           &ngx_http_symbolicate_webhook_json)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_start(webhook->bg, NGX_HTTP_POST,
                                           &ngx_http_symbolicate_webhook_post,
                                           &webhook->conf->webhook, &none);
}


static ngx_int_t
ngx_http_symbolicate_webhook_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_webhook_t *webhook = data;

    webhook->status = r->headers_out.status;

    return NGX_OK;
}


static void
ngx_http_symbolicate_webhook_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole)
{
    ngx_http_symbolicate_webhook_t *webhook = data;

    u_char                         *p;
    u_char                          text[NGX_SYMBOLICATE_WEBHOOK_TEXT];
    ngx_http_symbolicate_loader_t  *loader;

    loader = webhook->loader;

    (void) ngx_http_symbolicate_background_free(webhook->bg);
    webhook->bg = NULL;

    if (webhook->status == 0 && rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        webhook->status = rc;
    }

    p = ngx_snprintf(text, sizeof(text), "the webhook answered with status %ui",
                     webhook->status);

    ngx_http_symbolicate_webhook_listen(loader, webhook->number,
                                        webhook->status >= NGX_HTTP_OK
                                        && webhook->status
                                           < NGX_HTTP_SPECIAL_RESPONSE,
                                        sym_str((char *) text, p - text));

    loader->nbusy--;
    ngx_http_symbolicate_loader_idle(loader);
}
