
/*
 * ngx_http_symbolicate_statistics.c - counts the contents of stores, for the
 * metrics page.
 *
 * It walks over all records, 27 ms for 50,000 modules, so it works in slices.
 * Scrapes that arrive in the worker during a walk share it, and those within a
 * second after a long walk use its result.  So many scrapes cost a worker
 * little.  A walk is stopped when no scrape waits for it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "metrics/ngx_http_symbolicate_statistics.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "store/ngx_http_symbolicate_store.h"


/* The result of a walk with several slices is used for this time. */
#define NGX_SYMBOLICATE_STATISTICS_MS  1000


struct ngx_http_symbolicate_statistics_s {
    ngx_http_symbolicate_main_conf_t  *main;
    sym_metrics_store_t           *shown;       /* result of the last walk */
    sym_metrics_store_t           *next;        /* result of the current walk */
    ngx_queue_t                    waiting;     /* for it */
    ngx_http_symbolicate_turn_t    turn;

    ngx_uint_t                     i;           /* index of the current store */
    ngx_http_symbolicate_db_t     *db;          /* NULL: the store's walk has
                                                 * not begun */
    sym_store_mark_t               mark;
    uint64_t                       budget;      /* records left for the slice */
    sym_status_t                   status;
    sym_error_t                    err;

    ngx_uint_t                     slice;       /* records */
    ngx_msec_t                     done;        /* end of the last walk */
    unsigned                       walking:1;
    unsigned                       lasting:1;   /* see above */
};


static void ngx_http_symbolicate_statistics_begin(
    ngx_http_symbolicate_statistics_t *statistics, ngx_uint_t slice);
static void ngx_http_symbolicate_statistics_turn(void *data);
static ngx_int_t ngx_http_symbolicate_statistics_slice(
    ngx_http_symbolicate_statistics_t *statistics);
static ngx_int_t ngx_http_symbolicate_statistics_store(
    ngx_http_symbolicate_statistics_t *statistics);
static ngx_int_t ngx_http_symbolicate_statistics_part(
    ngx_http_symbolicate_statistics_t *statistics,
    ngx_http_symbolicate_store_t *store);
static void ngx_http_symbolicate_statistics_read(void *data);
static void ngx_http_symbolicate_statistics_put(
    ngx_http_symbolicate_statistics_t *statistics);


ngx_int_t
ngx_http_symbolicate_statistics_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                           i, n;
    sym_metrics_store_t                 *shown;
    ngx_http_symbolicate_store_conf_t  **store;
    ngx_http_symbolicate_statistics_t   *statistics;

    n = smcf->stores.nelts;
    store = smcf->stores.elts;

    statistics = ngx_pcalloc(cf->pool,
                             sizeof(ngx_http_symbolicate_statistics_t));
    shown = ngx_pcalloc(cf->pool, 2 * n * sizeof(sym_metrics_store_t));

    if (statistics == NULL || shown == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < 2 * n; i++) {
        shown[i].path = sym_cstr((char *) store[i % n]->path.data);
    }

    statistics->main = smcf;
    statistics->shown = shown;
    statistics->next = shown + n;
    statistics->turn.run = ngx_http_symbolicate_statistics_turn;
    statistics->turn.data = statistics;

    ngx_queue_init(&statistics->waiting);

    smcf->worker->statistics = statistics;

    return NGX_OK;
}


const sym_metrics_store_t *
ngx_http_symbolicate_statistics_shown(
    ngx_http_symbolicate_statistics_t *statistics)
{
    return statistics->shown;
}


ngx_int_t
ngx_http_symbolicate_statistics_get(
    ngx_http_symbolicate_statistics_t *statistics,
    ngx_http_symbolicate_statistics_wait_t *wait, ngx_uint_t slice)
{
    if (!statistics->walking) {

        if (statistics->lasting && ngx_current_msec - statistics->done
                                < NGX_SYMBOLICATE_STATISTICS_MS)
        {
            return NGX_OK;
        }

        ngx_http_symbolicate_statistics_begin(statistics, slice);

        if (ngx_http_symbolicate_statistics_slice(statistics) == NGX_OK) {
            return NGX_OK;
        }

        statistics->lasting = 1;
        ngx_http_symbolicate_enqueue(&statistics->turn);
    }

    wait->statistics = statistics;
    ngx_queue_insert_tail(&statistics->waiting, &wait->queue);

    return NGX_AGAIN;
}


/* May run twice. */
void
ngx_http_symbolicate_statistics_leave(
    ngx_http_symbolicate_statistics_wait_t *wait)
{
    ngx_http_symbolicate_statistics_t  *statistics;

    statistics = wait->statistics;

    if (statistics == NULL) {
        return;
    }

    wait->statistics = NULL;
    ngx_queue_remove(&wait->queue);

    if (statistics->walking && ngx_queue_empty(&statistics->waiting)) {
        ngx_http_symbolicate_dequeue(&statistics->turn);
        ngx_http_symbolicate_statistics_put(statistics);

        statistics->walking = 0;
        statistics->lasting = 0;
    }
}


static void
ngx_http_symbolicate_statistics_begin(
    ngx_http_symbolicate_statistics_t *statistics, ngx_uint_t slice)
{
    statistics->walking = 1;
    statistics->lasting = 0;
    statistics->slice = slice;
    statistics->i = 0;
    statistics->mark.len = 0;
    statistics->mark.table = 0;
}


static void
ngx_http_symbolicate_statistics_turn(void *data)
{
    ngx_http_symbolicate_statistics_t *statistics = data;

    ngx_queue_t                          *q;
    ngx_http_symbolicate_statistics_wait_t  *wait;

    if (ngx_http_symbolicate_statistics_slice(statistics) == NGX_AGAIN) {
        ngx_http_symbolicate_enqueue(&statistics->turn);
        return;
    }

    while (!ngx_queue_empty(&statistics->waiting)) {
        q = ngx_queue_head(&statistics->waiting);
        wait = ngx_queue_data(q, ngx_http_symbolicate_statistics_wait_t, queue);

        ngx_http_symbolicate_statistics_leave(wait);
        wait->on_reply(wait->data);
    }
}


/* NGX_OK: that was the last store. */
static ngx_int_t
ngx_http_symbolicate_statistics_slice(
    ngx_http_symbolicate_statistics_t *statistics)
{
    sym_metrics_store_t  *shown;

    statistics->budget = statistics->slice;

    while (statistics->i < statistics->main->stores.nelts) {

        if (statistics->budget == 0
            || ngx_http_symbolicate_statistics_store(statistics) == NGX_AGAIN)
        {
            return NGX_AGAIN;
        }

        ngx_http_symbolicate_statistics_put(statistics);
        statistics->mark.len = 0;
        statistics->mark.table = 0;
        statistics->i++;
    }

    shown = statistics->shown;
    statistics->shown = statistics->next;
    statistics->next = shown;

    statistics->walking = 0;
    statistics->done = ngx_current_msec;

    return NGX_OK;
}


/* NGX_OK: the walk over this store is complete. */
static ngx_int_t
ngx_http_symbolicate_statistics_store(
    ngx_http_symbolicate_statistics_t *statistics)
{
    const char                    *reason;
    ngx_http_symbolicate_store_t  *store;

    store = &statistics->main->worker->stores[statistics->i];

    if (statistics->db == NULL) {
        statistics->next[statistics->i].is_up = 0;
        statistics->db = ngx_http_symbolicate_store_get(store, ngx_cycle->log,
                                                        &reason);
    }

    /* damaged: a request noticed it after our last slice */

    if (statistics->db == NULL || statistics->db->damaged) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_statistics_part(statistics, store);
}


static ngx_int_t
ngx_http_symbolicate_statistics_part(
    ngx_http_symbolicate_statistics_t *statistics,
    ngx_http_symbolicate_store_t *store)
{
    sym_status_t          status;
    sym_metrics_store_t  *shown;

    shown = &statistics->next[statistics->i];

    ngx_memzero(&statistics->err, sizeof(sym_error_t));

    status = sym_store_guarded(statistics->db->db,
                               ngx_http_symbolicate_statistics_read, statistics,
                               &statistics->err);

    if (status == SYM_OK) {
        status = statistics->status;
    }

    switch (status) {

    case SYM_OK:
        shown->is_up = 1;
        return NGX_OK;

    case SYM_AGAIN:
        return NGX_AGAIN;

    case SYM_DAMAGED:
        ngx_http_symbolicate_store_damaged(store, statistics->db,
                                           &statistics->err, ngx_cycle->log);
        return NGX_OK;

    default:
        ngx_http_symbolicate_store_trouble(store, &statistics->err,
                                           ngx_cycle->log);
        return NGX_OK;
    }
}


/* Runs under the guard. */
static void
ngx_http_symbolicate_statistics_read(void *data)
{
    ngx_http_symbolicate_statistics_t *statistics = data;

    uint64_t           before, n;
    sym_store_stat_t  *stat;

    stat = &statistics->next[statistics->i].stat;
    before = statistics->mark.len || statistics->mark.table
             ? stat->modules + stat->paths : 0;

    statistics->status = sym_store_stat_part(statistics->db->db,
                                             &statistics->mark,
                                             statistics->budget, stat,
                                             &statistics->err);

    n = stat->modules + stat->paths - before;
    statistics->budget -= ngx_min(n, statistics->budget);
}


static void
ngx_http_symbolicate_statistics_put(
    ngx_http_symbolicate_statistics_t *statistics)
{
    if (statistics->db) {
        ngx_http_symbolicate_store_put(statistics->db);
        statistics->db = NULL;
    }
}
