
/*
 * ngx_http_symbolicate_scrape.c - the metrics page waits for its statistics.
 *
 * Each loader that is configured is asked for its statistics, all at once,
 * while the stores are counted.  A page that does not come tells nothing at
 * all, so it goes without the loaders that have not answered in time; a store
 * is only a matter of turns.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "fetch/ngx_http_symbolicate_loader.h"
#include "fetch/ngx_http_symbolicate_rpc.h"
#include "metrics/ngx_http_symbolicate_metrics.h"
#include "metrics/ngx_http_symbolicate_scrape.h"
#include "metrics/ngx_http_symbolicate_statistics.h"


/* Prometheus itself waits ten seconds. */
#define NGX_SYMBOLICATE_SCRAPE_WAIT  1000


typedef struct {
    ngx_http_request_t            *request;
    ngx_http_symbolicate_rpc_t    *asks;
    sym_metrics_loader_t          *shown;
    ngx_uint_t                     n;           /* of either */
    ngx_uint_t                     pending;     /* asked, not told */
    ngx_http_symbolicate_statistics_wait_t  statistics;
    unsigned                       counting:1;  /* waits for these */
    ngx_event_t                    wake;        /* all is told, or late */
} ngx_http_symbolicate_scrape_t;


static void ngx_http_symbolicate_scrape_ask(
    ngx_http_symbolicate_scrape_t *scrape, ngx_uint_t i,
    ngx_http_symbolicate_loader_t *loader);
static void ngx_http_symbolicate_scrape_told(ngx_http_symbolicate_rpc_t *ask,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_scrape_counted(void *data);
static void ngx_http_symbolicate_scrape_check(
    ngx_http_symbolicate_scrape_t *scrape);
static void ngx_http_symbolicate_scrape_wake(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_scrape_page(
    ngx_http_symbolicate_scrape_t *scrape);
static void ngx_http_symbolicate_scrape_unask(
    ngx_http_symbolicate_scrape_t *scrape);
static void ngx_http_symbolicate_scrape_end(void *data);


static ngx_http_symbolicate_scrape_t *
ngx_http_symbolicate_scrape_create(ngx_http_request_t *r, ngx_uint_t n)
{
    ngx_pool_cleanup_t             *cln;
    ngx_http_symbolicate_scrape_t  *scrape;

    scrape = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_scrape_t));
    cln = ngx_pool_cleanup_add(r->pool, 0);

    if (scrape == NULL || cln == NULL) {
        return NULL;
    }

    scrape->asks = ngx_pcalloc(r->pool,
                               n * sizeof(ngx_http_symbolicate_rpc_t));
    scrape->shown = ngx_pcalloc(r->pool, n * sizeof(sym_metrics_loader_t));

    if (scrape->asks == NULL || scrape->shown == NULL) {
        return NULL;
    }

    scrape->request = r;
    scrape->n = n;
    scrape->statistics.on_reply = ngx_http_symbolicate_scrape_counted;
    scrape->statistics.data = scrape;
    scrape->wake.handler = ngx_http_symbolicate_scrape_wake;
    scrape->wake.data = scrape;
    scrape->wake.log = r->connection->log;

    cln->handler = ngx_http_symbolicate_scrape_end;
    cln->data = scrape;

    return scrape;
}


ngx_int_t
ngx_http_symbolicate_scrape(ngx_http_request_t *r)
{
    ngx_int_t                          rc;
    ngx_uint_t                         i;
    ngx_http_symbolicate_loader_t     *loaders;
    ngx_http_symbolicate_scrape_t     *scrape;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);

    scrape = ngx_http_symbolicate_scrape_create(r, smcf->loaders.nelts);
    if (scrape == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    loaders = smcf->worker->loaders;

    for (i = 0; i < scrape->n; i++) {
        ngx_http_symbolicate_scrape_ask(scrape, i, &loaders[i]);
    }

    rc = ngx_http_symbolicate_statistics_get(smcf->worker->statistics,
                                             &scrape->statistics, slcf->slice);

    scrape->counting = (rc == NGX_AGAIN);

    if (scrape->pending == 0 && !scrape->counting) {
        return ngx_http_symbolicate_scrape_page(scrape);
    }

    if (scrape->pending) {
        ngx_add_timer(&scrape->wake, NGX_SYMBOLICATE_SCRAPE_WAIT);
    }

    /* notices a client that goes away */

    if (!r->discard_body) {
        r->read_event_handler = ngx_http_test_reading;
    }

    r->write_event_handler = ngx_http_request_empty_handler;
    r->main->count++;

    return NGX_DONE;
}


static void
ngx_http_symbolicate_scrape_ask(ngx_http_symbolicate_scrape_t *scrape,
    ngx_uint_t i, ngx_http_symbolicate_loader_t *loader)
{
    sym_rpc_message_t  m;

    scrape->shown[i].path = sym_cstr((char *) loader->path.data);
    scrape->asks[i].on_reply = ngx_http_symbolicate_scrape_told;
    scrape->asks[i].data = scrape;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_STAT;

    if (ngx_http_symbolicate_rpc_call(loader, &scrape->asks[i], &m) == NGX_OK) {
        scrape->pending++;
    }
}


static void
ngx_http_symbolicate_scrape_told(ngx_http_symbolicate_rpc_t *ask,
    sym_rpc_message_t *m)
{
    sym_metrics_loader_t           *shown;
    ngx_http_symbolicate_scrape_t  *scrape;

    scrape = ask->data;
    shown = &scrape->shown[ask - scrape->asks];

    if (m) {
        shown->is_up = (m->type == SYM_RPC_STATS
                        && sym_loader_read(m->text, &shown->stats));

        if (!shown->is_up) {
            ngx_log_error(NGX_LOG_ERR, scrape->wake.log, 0,
                          "symbol loader \"unix:%s\": its statistics cannot "
                          "be read", shown->path.data);
        }
    }

    scrape->pending--;
    ngx_http_symbolicate_scrape_check(scrape);
}


static void
ngx_http_symbolicate_scrape_counted(void *data)
{
    ngx_http_symbolicate_scrape_t *scrape = data;

    scrape->counting = 0;
    ngx_http_symbolicate_scrape_check(scrape);
}


static void
ngx_http_symbolicate_scrape_check(ngx_http_symbolicate_scrape_t *scrape)
{
    if (scrape->pending == 0 && !scrape->counting) {
        ngx_post_event(&scrape->wake, &ngx_posted_events);
    }
}


static void
ngx_http_symbolicate_scrape_wake(ngx_event_t *ev)
{
    ngx_http_symbolicate_scrape_t *scrape = ev->data;

    ngx_connection_t    *c;
    ngx_http_request_t  *r;

    if (ev->timedout) {
        ev->timedout = 0;
        ngx_http_symbolicate_scrape_unask(scrape);

        if (scrape->counting) {
            return;
        }
    }

    r = scrape->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_symbolicate_scrape_end(scrape);
    ngx_http_finalize_request(r, ngx_http_symbolicate_scrape_page(scrape));
    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_http_symbolicate_scrape_page(ngx_http_symbolicate_scrape_t *scrape)
{
    const sym_metrics_store_t         *stores;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(scrape->request,
                                         ngx_http_symbolicate_module);

    stores = ngx_http_symbolicate_statistics_shown(smcf->worker->statistics);

    return ngx_http_symbolicate_metrics_page(scrape->request, stores,
                                             scrape->shown);
}


/* No loader is waited for any more. */
static void
ngx_http_symbolicate_scrape_unask(ngx_http_symbolicate_scrape_t *scrape)
{
    ngx_uint_t  i;

    for (i = 0; i < scrape->n; i++) {
        ngx_http_symbolicate_unask(&scrape->asks[i]);
    }

    scrape->pending = 0;
}


/* Nobody is waited for any more; may run twice. */
static void
ngx_http_symbolicate_scrape_end(void *data)
{
    ngx_http_symbolicate_scrape_t *scrape = data;

    ngx_http_symbolicate_scrape_unask(scrape);
    ngx_http_symbolicate_statistics_leave(&scrape->statistics);

    if (scrape->wake.timer_set) {
        ngx_del_timer(&scrape->wake);
    }

    if (scrape->wake.posted) {
        ngx_delete_posted_event(&scrape->wake);
    }
}
