
/*
 * ngx_http_symbolicate_scrape.c - the metrics page waits for its statistics.
 *
 * The worker asks all loaders for their statistics at the same time, while it
 * counts the stores.  The page omits loaders that have not replied in time,
 * because Prometheus drops a page that is late.  The wait for stores needs no
 * limit, because counting always ends.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"
#include "metrics/ngx_http_symbolicate_metrics.h"
#include "metrics/ngx_http_symbolicate_scrape.h"
#include "metrics/ngx_http_symbolicate_statistics.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"


/* Prometheus itself waits ten seconds. */
#define NGX_SYMBOLICATE_SCRAPE_WAIT  1000


typedef struct {
    ngx_http_symbolicate_task_t    task;        /* the first member */
    ngx_http_symbolicate_rpc_t    *calls;
    sym_metrics_loader_t          *shown;
    ngx_uint_t                     n;           /* number of each */
    ngx_uint_t                     pending;     /* number of calls without a
                                                 * reply */
    ngx_http_symbolicate_statistics_wait_t  statistics;
    unsigned                       counting:1;  /* waits for the statistics of
                                                 * stores */
    ngx_event_t                    timer;       /* time limit of the calls */
} ngx_http_symbolicate_scrape_t;


static ngx_int_t ngx_http_symbolicate_scrape_prepare_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_scrape_page_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_scrape_headers(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_scrape_call(
    ngx_http_symbolicate_scrape_t *scrape, ngx_uint_t i,
    ngx_http_symbolicate_loader_t *loader);
static void ngx_http_symbolicate_scrape_reply(ngx_http_symbolicate_rpc_t *call,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_scrape_counted(void *data);
static void ngx_http_symbolicate_scrape_late(ngx_event_t *ev);
static void ngx_http_symbolicate_scrape_give_up(
    ngx_http_symbolicate_scrape_t *scrape);
static void ngx_http_symbolicate_scrape_cleanup(
    ngx_http_symbolicate_task_t *task);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_scrape_work = {
    { NULL,
      ngx_http_symbolicate_scrape_prepare_step,
      ngx_http_symbolicate_scrape_page_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_scrape_headers,
    NULL,
    ngx_http_symbolicate_scrape_cleanup,
    NULL
};


ngx_int_t
ngx_http_symbolicate_scrape(ngx_http_request_t *r)
{
    ngx_http_symbolicate_scrape_t  *scrape;

    scrape = ngx_http_symbolicate_task_create(r,
                                         sizeof(ngx_http_symbolicate_scrape_t),
                                         &ngx_http_symbolicate_scrape_work);
    if (scrape == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    scrape->statistics.on_reply = ngx_http_symbolicate_scrape_counted;
    scrape->statistics.data = scrape;
    scrape->timer.handler = ngx_http_symbolicate_scrape_late;
    scrape->timer.data = scrape;
    scrape->timer.log = r->connection->log;

    return ngx_http_symbolicate_task_start(&scrape->task);
}


/* Sends a request to all loaders, and begins the walk. */
static ngx_int_t
ngx_http_symbolicate_scrape_prepare_step(ngx_http_symbolicate_task_t *task)
{
    size_t                             n;
    ngx_int_t                          rc;
    ngx_uint_t                         i;
    ngx_http_request_t                *r;
    ngx_http_symbolicate_scrape_t     *scrape;
    ngx_http_symbolicate_worker_t     *worker;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    scrape = (ngx_http_symbolicate_scrape_t *) task;
    r = task->request;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);
    worker = smcf->worker;

    n = smcf->loaders.nelts;

    scrape->calls = ngx_pcalloc(r->pool,
                                n * sizeof(ngx_http_symbolicate_rpc_t));
    scrape->shown = ngx_pcalloc(r->pool, n * sizeof(sym_metrics_loader_t));

    if (scrape->calls == NULL || scrape->shown == NULL) {
        return NGX_ERROR;
    }

    scrape->n = n;

    for (i = 0; i < n; i++) {
        ngx_http_symbolicate_scrape_call(scrape, i, &worker->loaders[i]);
    }

    rc = ngx_http_symbolicate_statistics_get(worker->statistics,
                                             &scrape->statistics, slcf->slice);

    scrape->counting = (rc == NGX_AGAIN);

    if (scrape->pending) {
        ngx_add_timer(&scrape->timer, NGX_SYMBOLICATE_SCRAPE_WAIT);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_scrape_page_step(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t                       *page;
    const sym_metrics_store_t         *stores;
    ngx_http_symbolicate_scrape_t     *scrape;
    ngx_http_symbolicate_main_conf_t  *smcf;

    scrape = (ngx_http_symbolicate_scrape_t *) task;

    if (scrape->pending || scrape->counting) {
        return NGX_DONE;
    }

    ngx_http_symbolicate_scrape_cleanup(task);

    smcf = ngx_http_get_module_main_conf(task->request,
                                         ngx_http_symbolicate_module);

    stores = ngx_http_symbolicate_statistics_shown(smcf->worker->statistics);

    page = ngx_http_symbolicate_metrics_page(task->request, stores,
                                             scrape->shown);
    if (page == NULL) {
        return ngx_http_symbolicate_fail(task, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);
    }

    ngx_http_symbolicate_output_take(task, page);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_scrape_headers(ngx_http_symbolicate_task_t *task)
{
    static ngx_str_t  type = ngx_string(SYM_METRICS_PAGE_TYPE);

    task->request->headers_out.content_type = type;
    task->request->headers_out.content_type_len = type.len;

    return NGX_OK;
}


static void
ngx_http_symbolicate_scrape_call(ngx_http_symbolicate_scrape_t *scrape,
    ngx_uint_t i, ngx_http_symbolicate_loader_t *loader)
{
    sym_rpc_message_t  m;

    scrape->shown[i].path = sym_cstr((char *) loader->path.data);
    scrape->calls[i].on_reply = ngx_http_symbolicate_scrape_reply;
    scrape->calls[i].data = scrape;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_STAT;

    if (ngx_http_symbolicate_rpc_call(loader, &scrape->calls[i], &m)
        == NGX_OK)
    {
        scrape->pending++;
    }
}


static void
ngx_http_symbolicate_scrape_reply(ngx_http_symbolicate_rpc_t *call,
    sym_rpc_message_t *m)
{
    sym_metrics_loader_t           *shown;
    ngx_http_symbolicate_scrape_t  *scrape;

    scrape = call->data;
    shown = &scrape->shown[call - scrape->calls];

    if (m) {
        shown->is_up = (m->type == SYM_RPC_STATS
                        && sym_loader_read(m->text, &shown->stats));

        if (!shown->is_up) {
            ngx_log_error(NGX_LOG_ERR, scrape->timer.log, 0,
                          "symbol loader \"unix:%s\": its statistics cannot "
                          "be read", shown->path.data);
        }
    }

    scrape->pending--;
    ngx_http_symbolicate_enqueue(&scrape->task.turn);
}


static void
ngx_http_symbolicate_scrape_counted(void *data)
{
    ngx_http_symbolicate_scrape_t *scrape = data;

    scrape->counting = 0;
    ngx_http_symbolicate_enqueue(&scrape->task.turn);
}


static void
ngx_http_symbolicate_scrape_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_scrape_t *scrape = ev->data;

    ngx_http_symbolicate_scrape_give_up(scrape);
    ngx_http_symbolicate_enqueue(&scrape->task.turn);
}


/* Ends the wait for loaders. */
static void
ngx_http_symbolicate_scrape_give_up(ngx_http_symbolicate_scrape_t *scrape)
{
    ngx_uint_t  i;

    for (i = 0; i < scrape->n; i++) {
        ngx_http_symbolicate_rpc_cancel(&scrape->calls[i]);
    }

    scrape->pending = 0;
}


/* Cancels all waits; may run twice. */
static void
ngx_http_symbolicate_scrape_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_scrape_t  *scrape;

    scrape = (ngx_http_symbolicate_scrape_t *) task;

    ngx_http_symbolicate_scrape_give_up(scrape);
    ngx_http_symbolicate_statistics_leave(&scrape->statistics);

    if (scrape->timer.timer_set) {
        ngx_del_timer(&scrape->timer);
    }
}
