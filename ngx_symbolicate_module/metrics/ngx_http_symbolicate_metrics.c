
/*
 * ngx_http_symbolicate_metrics.c - the page of symbolicate_metrics.
 *
 * core/metrics/ writes its text.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "jobs/ngx_http_symbolicate_jobs.h"
#include "metrics/ngx_http_symbolicate_metrics.h"
#include "metrics/ngx_http_symbolicate_scrape.h"
#include "request/ngx_http_symbolicate_reply.h"


/*
 * Size of a window: enough for the complete page, unless there are many
 * sources.
 */
#define NGX_SYMBOLICATE_PAGE  (32 * 1024)

/* Same for the history, which has 600 numbers. */
#define NGX_SYMBOLICATE_HISTORY  (8 * 1024)


static ngx_uint_t ngx_http_symbolicate_metrics_of_history(ngx_str_t *args);
static ngx_int_t ngx_http_symbolicate_metrics_history(ngx_http_request_t *r);


ngx_int_t
ngx_http_symbolicate_metrics_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    rc = ngx_http_symbolicate_method(r, NGX_HTTP_GET|NGX_HTTP_HEAD,
                                     slcf->cors);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (ngx_http_symbolicate_metrics_of_history(&r->args)) {
        return ngx_http_symbolicate_metrics_history(r);
    }

    return ngx_http_symbolicate_scrape(r);
}


/* Accepts "history" and "history=". */
static ngx_uint_t
ngx_http_symbolicate_metrics_of_history(ngx_str_t *args)
{
    size_t  len;

    len = sizeof("history") - 1;

    return args->len >= len
           && ngx_strncmp(args->data, "history", len) == 0
           && (args->len == len || args->data[len] == '=');
}


/* Answers with the counters of the last hour; this needs no waiting. */
static ngx_int_t
ngx_http_symbolicate_metrics_history(ngx_http_request_t *r)
{
    sym_out_t                        out;
    ngx_chain_t                     *chain;
    sym_totals_t                     totals;
    sym_metrics_t                   *metrics;
    ngx_http_symbolicate_growing_t   body;

    metrics = ngx_http_symbolicate_counters();

    sym_metrics_totals(metrics, &totals);

    ngx_http_symbolicate_growing_begin(&body, r, NGX_SYMBOLICATE_HISTORY, &out);
    sym_history_write(&metrics->history,
                      ngx_http_symbolicate_history_clock_s(), &totals, &out);

    chain = ngx_http_symbolicate_growing_end(&body, &out);

    if (chain == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, NGX_HTTP_OK, NGX_SYMBOLICATE_JSON,
                                          chain);
}


ngx_chain_t *
ngx_http_symbolicate_metrics_page(ngx_http_request_t *r,
    const sym_metrics_store_t *stores, const sym_metrics_loader_t *loaders)
{
    sym_out_t                           out;
    uint32_t                            blocked;
    sym_jobs_stat_t                     jobs;
    ngx_core_conf_t                    *ccf;
    sym_metrics_page_t                  page;
    sym_metrics_endpoint_t              endpoints[SYM_METRICS_ENDPOINTS];
    ngx_http_symbolicate_main_conf_t   *smcf;
    ngx_http_symbolicate_growing_t      body;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);
    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    ngx_memzero(&page, sizeof(sym_metrics_page_t));

    sym_api_endpoints(endpoints);

    page.endpoints = endpoints;
    page.metrics = ngx_http_symbolicate_counters();
    page.workers = ccf->worker_processes;
    page.memory = smcf->memory;
    page.version = SYM_STR(NGX_SYMBOLICATE_VERSION);
    page.n_stores = smcf->stores.nelts;
    page.stores = stores;
    page.jobs = ngx_http_symbolicate_jobs_stat(&jobs) ? &jobs : NULL;
    page.blocked_hosts =
                    ngx_http_symbolicate_denied_hosts(&blocked) == NGX_OK
                    ? &blocked : NULL;
    page.n_loaders = smcf->loaders.nelts;
    page.loaders = loaders;

    ngx_http_symbolicate_growing_begin(&body, r, NGX_SYMBOLICATE_PAGE, &out);
    sym_metrics_page(&page, &out);

    return ngx_http_symbolicate_growing_end(&body, &out);
}
