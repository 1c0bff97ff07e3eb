
/*
 * ngx_http_symbolicate_metrics.c - counters over all workers, and their page.
 *
 * The counters lie in shared memory of a fixed size that is always there, so
 * that they outlive workers and reloads, whatever directives change.  What they
 * are and how they are written: core/metrics/.
 */


#include "conf/ngx_http_symbolicate_module.h"


/* A window of the page: all of it, unless there are many sources. */
#define NGX_SYMBOLICATE_PAGE  (32 * 1024)


typedef struct {
    ngx_http_request_t   *request;
    ngx_chain_t          *first;
    ngx_chain_t          *last;
} ngx_http_symbolicate_page_chain_t;


static ngx_int_t ngx_http_symbolicate_metrics_zone_init(
    ngx_shm_zone_t *zone, void *data);
static ngx_int_t ngx_http_symbolicate_metrics_log(ngx_http_request_t *r);
static bool ngx_http_symbolicate_metrics_more(sym_out_t *out, size_t need);
static ngx_int_t ngx_http_symbolicate_metrics_send(ngx_http_request_t *r,
    ngx_chain_t *page, off_t length);


/* In a worker: what this process counts into. */
static sym_metrics_t  *ngx_http_symbolicate_counters;


/* --- the zone --- */

ngx_int_t
ngx_http_symbolicate_metrics_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    size_t            size;

    static ngx_str_t  name = ngx_string("symbolicate_metrics");

    /* the counters, and what nginx keeps of the zone in the zone */
    size = ngx_align(sizeof(sym_metrics_t), ngx_pagesize) + 8 * ngx_pagesize;

    smcf->zone = ngx_shared_memory_add(cf, &name, size,
                                       &ngx_http_symbolicate_module);
    if (smcf->zone == NULL) {
        return NGX_ERROR;
    }

    smcf->zone->init = ngx_http_symbolicate_metrics_zone_init;
    smcf->zone->data = smcf;

    return NGX_OK;
}


/* `data`: the configuration before a reload.  nginx gives a zone on only to the
 * same build of the module, so the counters have the layout that we know. */
static ngx_int_t
ngx_http_symbolicate_metrics_zone_init(ngx_shm_zone_t *zone, void *data)
{
    ngx_uint_t                         i;
    sym_metrics_t                     *metrics;
    ngx_slab_pool_t                   *pool;
    ngx_http_symbolicate_metric_t    **source;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = zone->data;
    pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data == NULL) {
        pool->data = ngx_slab_calloc(pool, sizeof(sym_metrics_t));

        if (pool->data == NULL) {
            return NGX_ERROR;
        }
    }

    metrics = pool->data;
    source = smcf->metrics.elts;

    ngx_shmtx_lock(&pool->mutex);

    for (i = 0; i < smcf->metrics.nelts; i++) {
        source[i]->slot = sym_metrics_source(metrics,
                                       sym_str((char *) source[i]->name.data,
                                               source[i]->name.len));
    }

    ngx_shmtx_unlock(&pool->mutex);

    return NGX_OK;
}


/* For a directive that names a source; NULL: it has been told why not. */
ngx_http_symbolicate_metric_t *
ngx_http_symbolicate_metrics_source(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_uint_t                         i;
    ngx_http_symbolicate_metric_t     *source, **p;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    if (name->len == 0 || name->len > SYM_METRICS_NAME_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not possible as a name: it must have 1 "
                           "to %d bytes", name, SYM_METRICS_NAME_MAX);
        return NULL;
    }

    source = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_metric_t));
    if (source == NULL) {
        return NULL;
    }

    source->name = *name;
    p = smcf->metrics.elts;

    for (i = 0; i < smcf->metrics.nelts; i++) {
        if (p[i]->name.len == name->len
            && ngx_strncmp(p[i]->name.data, name->data, name->len) == 0)
        {
            source->lane = p[i]->lane;
            break;
        }
    }

    if (source->lane == NULL) {
        source->lane = ngx_pcalloc(cf->pool,
                                   sizeof(ngx_http_symbolicate_lane_t));
        if (source->lane == NULL) {
            return NULL;
        }

        source->lane->alone = smcf->metrics.nelts == 0;

        if (smcf->metrics.nelts) {
            p[0]->lane->alone = 0;
        }
    }

    p = ngx_array_push(&smcf->metrics);
    if (p == NULL) {
        return NULL;
    }

    *p = source;

    return source;
}


ngx_int_t
ngx_http_symbolicate_metrics_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt               *h;
    ngx_http_core_main_conf_t         *cmcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    h = ngx_array_push(&cmcf->phases[NGX_HTTP_LOG_PHASE].handlers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_http_symbolicate_metrics_log;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    return ngx_http_symbolicate_statistics_init(cf, smcf);
}


void
ngx_http_symbolicate_metrics_process(ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_slab_pool_t  *pool;

    pool = (ngx_slab_pool_t *) smcf->zone->shm.addr;
    ngx_http_symbolicate_counters = pool->data;

    /* nginx's cache processes have no number of their own */

    if (ngx_process != NGX_PROCESS_HELPER) {
        sym_metrics_worker(ngx_http_symbolicate_counters, ngx_worker, ngx_pid);
    }
}


/* --- counting --- */

uint64_t
ngx_http_symbolicate_clock_ns(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}


/* When a request ends, however it ends. */
static ngx_int_t
ngx_http_symbolicate_metrics_log(ngx_http_request_t *r)
{
    ngx_uint_t                        status;
    sym_served_t                      served;
    const sym_api_route_t            *route;
    ngx_http_symbolicate_ctx_t       *ctx;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (r->content_handler != ngx_http_symbolicate_handler
        || ngx_http_symbolicate_is_admin(r))
    {
        return NGX_OK;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    route = NULL;
    served = SYM_SERVED_NONE;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx) {
        served = ctx->status;
        route = ctx->call.route;

        if (ctx->started_ns) {
            sym_histogram_observe(&ngx_http_symbolicate_counters->request,
                          ngx_http_symbolicate_clock_ns() - ctx->started_ns);
        }
    }

    status = r->err_status ? r->err_status : r->headers_out.status;

    sym_metrics_request(ngx_http_symbolicate_counters,
                        sym_api_endpoint(slcf->api, route), served, status);

    return NGX_OK;
}


static sym_outcome_t
ngx_http_symbolicate_outcome(sym_asked_t *m)
{
    switch (m->found) {

    case SYM_ASKED_FOUND:
        return SYM_OUTCOME_FOUND;

    case SYM_ASKED_PENDING:
        return SYM_OUTCOME_PENDING;

    default:
        break;
    }

    switch (m->missing.state) {

    case SYM_MODULE_FAILED:
        return SYM_OUTCOME_FAILED;

    case SYM_MODULE_MALFORMED:
        return SYM_OUTCOME_MALFORMED;

    default:
        return SYM_OUTCOME_ABSENT;
    }
}


/* When an answer is complete, before it is sent; the request is still there. */
void
ngx_http_symbolicate_count_answer(ngx_http_symbolicate_ctx_t *ctx)
{
    uint32_t              i, n;
    ngx_uint_t            outcomes[SYM_OUTCOMES];
    sym_request_stats_t   *stats;
    sym_asked_t  *m;

    stats = &ctx->stats;

    sym_count(&ngx_http_symbolicate_counters->frames, stats->frames);
    sym_histogram_observe(&ngx_http_symbolicate_counters->lookup,
                          (uint64_t) (stats->lookup_s * 1e9));

    ngx_http_symbolicate_count_modules(SYM_OUTCOME_FOUND,
                                       stats->modules - stats->missing);

    if (stats->missing == 0) {
        return;
    }

    ngx_memzero(outcomes, sizeof(outcomes));

    m = sym_request_modules(ctx->asked, &n);

    for (i = 0; i < n; i++) {
        outcomes[ngx_http_symbolicate_outcome(&m[i])]++;
    }

    for (i = SYM_OUTCOME_FOUND + 1; i < SYM_OUTCOMES; i++) {
        ngx_http_symbolicate_count_modules(i, outcomes[i]);
    }
}


void
ngx_http_symbolicate_count_modules(sym_outcome_t outcome, ngx_uint_t n)
{
    if (n) {
        sym_count(&ngx_http_symbolicate_counters->modules[outcome], n);
    }
}


void
ngx_http_symbolicate_count_fetch(ngx_uint_t slot, sym_outcome_t outcome,
    off_t bytes, ngx_msec_t msec)
{
    sym_metrics_fetch(ngx_http_symbolicate_counters, slot, outcome, bytes,
                      (uint64_t) msec * 1000000);
}


/* A module of a request waits for what another request has begun. */
void
ngx_http_symbolicate_count_join(void)
{
    sym_count(&ngx_http_symbolicate_counters->joins, 1);
}


/* This worker's connection to the loader stands, or has ended; what it was
 * before need not be known. */
void
ngx_http_symbolicate_count_loader(ngx_uint_t connected)
{
    sym_metrics_link(ngx_http_symbolicate_counters, ngx_worker, ngx_pid,
                     connected);
}


/* --- the page --- */

ngx_int_t
ngx_http_symbolicate_metrics_handler(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    rc = ngx_http_symbolicate_method(r, NGX_HTTP_GET|NGX_HTTP_HEAD,
                                     "GET, HEAD");
    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_http_symbolicate_scrape(r);
}


ngx_int_t
ngx_http_symbolicate_metrics_page(ngx_http_request_t *r,
    const sym_metrics_store_t *stores, const sym_metrics_loader_t *loaders)
{
    sym_out_t                           out;
    ngx_buf_t                          *b;
    ngx_core_conf_t                    *ccf;
    sym_metrics_page_t                  page;
    sym_metrics_endpoint_t              endpoints[SYM_METRICS_ENDPOINTS];
    ngx_http_symbolicate_main_conf_t   *smcf;
    ngx_http_symbolicate_page_chain_t   chain;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);
    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);

    ngx_memzero(&page, sizeof(sym_metrics_page_t));

    sym_api_endpoints(endpoints);

    page.metrics = ngx_http_symbolicate_counters;
    page.endpoints = endpoints;
    page.workers = ccf->worker_processes;
    page.version = SYM_STR(NGX_SYMBOLICATE_VERSION);
    page.n_stores = smcf->stores.nelts;
    page.stores = stores;
    page.n_loaders = smcf->loaders.nelts;
    page.loaders = loaders;

    ngx_memzero(&chain, sizeof(ngx_http_symbolicate_page_chain_t));
    ngx_memzero(&out, sizeof(sym_out_t));

    chain.request = r;
    out.more = ngx_http_symbolicate_metrics_more;
    out.ctx = &chain;

    sym_metrics_page(&page, &out);

    if (out.failed) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b = chain.last->buf;

    b->last = (u_char *) out.pos;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    return ngx_http_symbolicate_metrics_send(r, chain.first,
                                             out.before + (b->last - b->pos));
}


static bool
ngx_http_symbolicate_metrics_more(sym_out_t *out, size_t need)
{
    ngx_buf_t                          *b;
    ngx_chain_t                        *cl;
    ngx_http_symbolicate_page_chain_t  *chain;

    chain = out->ctx;

    b = ngx_create_temp_buf(chain->request->pool,
                            ngx_max(need, NGX_SYMBOLICATE_PAGE));
    cl = ngx_alloc_chain_link(chain->request->pool);

    if (b == NULL || cl == NULL) {
        return false;
    }

    cl->buf = b;
    cl->next = NULL;

    if (chain->last) {
        chain->last->buf->last = (u_char *) out->pos;
        out->before += chain->last->buf->last - chain->last->buf->pos;
        chain->last->next = cl;

    } else {
        chain->first = cl;
    }

    chain->last = cl;

    out->pos = (char *) b->pos;
    out->end = (char *) b->end;

    return true;
}


static ngx_int_t
ngx_http_symbolicate_metrics_send(ngx_http_request_t *r, ngx_chain_t *page,
    off_t length)
{
    ngx_int_t         rc;

    static ngx_str_t  type = ngx_string(SYM_METRICS_PAGE_TYPE);

    r->headers_out.status = NGX_HTTP_OK;

    ngx_http_symbolicate_set_json(r, length);

    r->headers_out.content_type = type;
    r->headers_out.content_type_len = type.len;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, page);
}
