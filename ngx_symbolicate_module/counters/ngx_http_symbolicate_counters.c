
/*
 * ngx_http_symbolicate_counters.c - counters over all workers.
 *
 * They are in shared memory of a fixed size, which always exists.  So they
 * outlive workers and reloads, whatever directives change.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <sys/random.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"


static ngx_int_t ngx_http_symbolicate_counters_zone_init(
    ngx_shm_zone_t *zone, void *data);
static void ngx_http_symbolicate_remember(void);
static void ngx_http_symbolicate_count_modules(sym_outcome_t outcome,
    ngx_uint_t n);


/* The counters that this worker process adds to. */
static sym_metrics_t  *ngx_http_symbolicate_shared;


ngx_int_t
ngx_http_symbolicate_counters_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    size_t  size;

    static ngx_str_t  name = ngx_string("symbolicate_metrics");

    /* room for the counters, and for nginx's own data in the zone */
    size = ngx_align(sizeof(sym_metrics_t), ngx_pagesize) + 8 * ngx_pagesize;

    smcf->zone = ngx_shared_memory_add(cf, &name, size,
                                       &ngx_http_symbolicate_module);
    if (smcf->zone == NULL) {
        return NGX_ERROR;
    }

    smcf->zone->init = ngx_http_symbolicate_counters_zone_init;
    smcf->zone->data = smcf;

    return NGX_OK;
}


/* 0: nothing has to be warm. */
static uint64_t
ngx_http_symbolicate_warm_until(ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                         i;
    ngx_msec_t                         most;
    ngx_http_symbolicate_loc_conf_t  **member;

    most = 0;
    member = smcf->members.elts;

    for (i = 0; i < smcf->members.nelts; i++) {
        most = ngx_max(most, member[i]->policy.share->warm);
    }

    return most ? ngx_current_msec + most : 0;
}


/*
 * `data`: the configuration before a reload.  nginx passes a zone only to the
 * same build of the module, so the layout of the counters is the same.
 */
static ngx_int_t
ngx_http_symbolicate_counters_zone_init(ngx_shm_zone_t *zone, void *data)
{
    u_char                              node[SYM_NODE_DIGITS / 2];
    ngx_uint_t                          i;
    sym_metrics_t                      *metrics;
    ngx_slab_pool_t                    *pool;
    ngx_http_symbolicate_metric_t     **source;
    ngx_http_symbolicate_main_conf_t   *smcf;

    smcf = zone->data;
    pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data == NULL) {
        pool->data = ngx_slab_calloc(pool, sizeof(sym_metrics_t));

        metrics = pool->data;

        if (metrics == NULL
            || getrandom(node, sizeof(node), 0) != (ssize_t) sizeof(node)
            || getrandom(metrics->session_key, SYM_SESSION_KEY, 0)
               != SYM_SESSION_KEY)
        {
            return NGX_ERROR;
        }

        (void) ngx_hex_dump((u_char *) metrics->node, node, sizeof(node));
        metrics->warm_until_ms = ngx_http_symbolicate_warm_until(smcf);
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


void
ngx_http_symbolicate_counters_process(ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_slab_pool_t  *pool;

    pool = (ngx_slab_pool_t *) smcf->zone->shm.addr;
    ngx_http_symbolicate_shared = pool->data;

    /* nginx's cache processes have no worker number */

    if (ngx_process != NGX_PROCESS_HELPER) {
        sym_metrics_worker(ngx_http_symbolicate_shared, ngx_worker, ngx_pid);
    }
}


ngx_str_t
ngx_http_symbolicate_node(void)
{
    ngx_str_t  node;

    node.data = (u_char *) ngx_http_symbolicate_shared->node;
    node.len = SYM_NODE_DIGITS;

    return node;
}


ngx_uint_t
ngx_http_symbolicate_is_warming(void)
{
    uint64_t  until;

    until = sym_counted(&ngx_http_symbolicate_shared->warm_until_ms);

    return until && (ngx_msec_int_t) (until - ngx_current_msec) > 0;
}


void
ngx_http_symbolicate_is_warm(void)
{
    __atomic_store_n(&ngx_http_symbolicate_shared->warm_until_ms, 0,
                     __ATOMIC_RELAXED);
}


/* --- counting --- */

sym_metrics_t *
ngx_http_symbolicate_counters(void)
{
    return ngx_http_symbolicate_shared;
}


sym_str_t
ngx_http_symbolicate_session_key(void)
{
    return sym_str((char *) ngx_http_symbolicate_shared->session_key,
                   SYM_SESSION_KEY);
}


uint64_t
ngx_http_symbolicate_clock_ns(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}


/* Seconds of the same clock, from the event loop. */
uint64_t
ngx_http_symbolicate_history_clock_s(void)
{
    return ngx_current_msec / 1000;
}


static void
ngx_http_symbolicate_remember(void)
{
    sym_metrics_remember(ngx_http_symbolicate_shared,
                         ngx_http_symbolicate_history_clock_s());
}


static sym_outcome_t
ngx_http_symbolicate_outcome(const sym_need_t *m)
{
    switch (m->found) {

    case SYM_NEED_FOUND:
        return SYM_OUTCOME_FOUND;

    case SYM_NEED_PENDING:
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


void
ngx_http_symbolicate_count_answer(const sym_request_stats_t *stats,
    const sym_need_t *m, uint32_t n)
{
    uint32_t    i;
    ngx_uint_t  outcomes[SYM_OUTCOMES];

    ngx_http_symbolicate_remember();

    sym_count(&ngx_http_symbolicate_shared->frames, stats->frames);
    sym_histogram_observe(&ngx_http_symbolicate_shared->lookup,
                          (uint64_t) (stats->lookup_s * 1e9));

    ngx_http_symbolicate_count_modules(SYM_OUTCOME_FOUND,
                                       stats->modules - stats->missing);

    if (stats->missing == 0) {
        return;
    }

    ngx_memzero(outcomes, sizeof(outcomes));

    for (i = 0; i < n; i++) {
        outcomes[ngx_http_symbolicate_outcome(&m[i])]++;
    }

    for (i = SYM_OUTCOME_FOUND + 1; i < SYM_OUTCOMES; i++) {
        ngx_http_symbolicate_count_modules(i, outcomes[i]);
    }
}


static void
ngx_http_symbolicate_count_modules(sym_outcome_t outcome, ngx_uint_t n)
{
    if (n) {
        sym_count(&ngx_http_symbolicate_shared->modules[outcome], n);
    }
}


void
ngx_http_symbolicate_count_fetch(ngx_uint_t slot, sym_outcome_t outcome,
    off_t bytes, ngx_msec_t msec)
{
    ngx_http_symbolicate_remember();

    sym_metrics_fetch(ngx_http_symbolicate_shared, slot, outcome, bytes,
                      (uint64_t) msec * 1000000);
}


void
ngx_http_symbolicate_count_turn(uint64_t ns, size_t bytes)
{
    sym_histogram_observe(&ngx_http_symbolicate_shared->turn, ns);
    sym_metrics_memory(ngx_http_symbolicate_shared, ngx_worker, bytes);
}


void
ngx_http_symbolicate_count_refused(sym_refused_t refused)
{
    sym_count(&ngx_http_symbolicate_shared->refused[refused], 1);
}


/* A module of a request waits for a fetch begun by another request. */
void
ngx_http_symbolicate_count_join(void)
{
    sym_count(&ngx_http_symbolicate_shared->joins, 1);
}


/* An artifact was published for other nodes, or was not. */
void
ngx_http_symbolicate_count_publish(sym_publish_outcome_t outcome)
{
    sym_count(&ngx_http_symbolicate_shared->published[outcome], 1);
}


void
ngx_http_symbolicate_count_notification(sym_notify_outcome_t outcome)
{
    sym_count(&ngx_http_symbolicate_shared->notified[outcome], 1);
}


void
ngx_http_symbolicate_count_warm(sym_warm_outcome_t outcome)
{
    sym_count(&ngx_http_symbolicate_shared->warmed[outcome], 1);
}


/*
 * The state of this worker's connection to the loader has changed; may be
 * called twice with the same state.
 */
void
ngx_http_symbolicate_count_loader(ngx_uint_t connected)
{
    sym_metrics_link(ngx_http_symbolicate_shared, ngx_worker, ngx_pid,
                     connected);
}


void
ngx_http_symbolicate_count_request(unsigned endpoint, sym_served_t served,
    ngx_uint_t status, uint64_t started_ns)
{
    ngx_http_symbolicate_remember();

    if (started_ns) {
        sym_histogram_observe(&ngx_http_symbolicate_shared->request,
                              ngx_http_symbolicate_clock_ns() - started_ns);
    }

    sym_metrics_request(ngx_http_symbolicate_shared, endpoint, served, status);
}
