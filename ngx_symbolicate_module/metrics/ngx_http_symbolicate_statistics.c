
/*
 * ngx_http_symbolicate_statistics.c - what the stores hold, for the metrics page.
 *
 * That takes a walk over every record, 27 ms for 50,000 modules, so it is made
 * in slices.  All scrapes of a worker that come meanwhile share the walk, and
 * those that come within a second after a long one take what it found: however
 * often the page is asked for, it costs a worker little.  A walk that nobody
 * waits for any more ends.
 */


#include "conf/ngx_http_symbolicate_module.h"


/* A walk of more than one slice serves for so long. */
#define NGX_SYMBOLICATE_FIGURES_MS  1000


struct ngx_http_symbolicate_statistics_s {
    ngx_http_symbolicate_main_conf_t  *main;
    sym_metrics_store_t           *shown;       /* by the last walk */
    sym_metrics_store_t           *next;        /* by that under way */
    ngx_queue_t                    waiting;     /* for it */
    ngx_http_symbolicate_turn_t    turn;

    ngx_uint_t                     i;           /* the store where it is */
    ngx_http_symbolicate_db_t     *db;          /* NULL: it has not begun */
    sym_store_mark_t               mark;
    uint64_t                       budget;      /* what a slice has left */
    sym_status_t                   status;
    sym_error_t                    err;

    ngx_uint_t                     slice;       /* records */
    ngx_msec_t                     done;        /* when the last one ended */
    unsigned                       walking:1;
    unsigned                       lasting:1;   /* see above */
};


static void ngx_http_symbolicate_statistics_begin(
    ngx_http_symbolicate_statistics_t *figures, ngx_uint_t slice);
static void ngx_http_symbolicate_statistics_turn(void *data);
static ngx_int_t ngx_http_symbolicate_statistics_slice(
    ngx_http_symbolicate_statistics_t *figures);
static ngx_int_t ngx_http_symbolicate_statistics_store(
    ngx_http_symbolicate_statistics_t *figures);
static ngx_int_t ngx_http_symbolicate_statistics_part(
    ngx_http_symbolicate_statistics_t *figures,
    ngx_http_symbolicate_store_t *store);
static void ngx_http_symbolicate_statistics_read(void *data);
static void ngx_http_symbolicate_statistics_put(
    ngx_http_symbolicate_statistics_t *figures);


ngx_int_t
ngx_http_symbolicate_statistics_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                        i, n;
    sym_metrics_store_t              *shown;
    ngx_http_symbolicate_store_t    **store;
    ngx_http_symbolicate_statistics_t   *figures;

    n = smcf->stores.nelts;
    store = smcf->stores.elts;

    figures = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_statistics_t));
    shown = ngx_pcalloc(cf->pool, 2 * n * sizeof(sym_metrics_store_t));

    if (figures == NULL || shown == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < 2 * n; i++) {
        shown[i].path = sym_cstr((char *) store[i % n]->path.data);
    }

    figures->main = smcf;
    figures->shown = shown;
    figures->next = shown + n;
    figures->turn.run = ngx_http_symbolicate_statistics_turn;
    figures->turn.data = figures;

    ngx_queue_init(&figures->waiting);

    smcf->figures = figures;

    return NGX_OK;
}


const sym_metrics_store_t *
ngx_http_symbolicate_statistics_shown(ngx_http_symbolicate_statistics_t *figures)
{
    return figures->shown;
}


ngx_int_t
ngx_http_symbolicate_statistics_get(ngx_http_symbolicate_statistics_t *figures,
    ngx_http_symbolicate_statistics_wait_t *wait, ngx_uint_t slice)
{
    if (!figures->walking) {

        if (figures->lasting && ngx_current_msec - figures->done
                                < NGX_SYMBOLICATE_FIGURES_MS)
        {
            return NGX_OK;
        }

        ngx_http_symbolicate_statistics_begin(figures, slice);

        if (ngx_http_symbolicate_statistics_slice(figures) == NGX_OK) {
            return NGX_OK;
        }

        figures->lasting = 1;
        ngx_http_symbolicate_enqueue(&figures->turn);
    }

    wait->figures = figures;
    ngx_queue_insert_tail(&figures->waiting, &wait->queue);

    return NGX_AGAIN;
}


/* May run twice. */
void
ngx_http_symbolicate_statistics_leave(ngx_http_symbolicate_statistics_wait_t *wait)
{
    ngx_http_symbolicate_statistics_t  *figures;

    figures = wait->figures;

    if (figures == NULL) {
        return;
    }

    wait->figures = NULL;
    ngx_queue_remove(&wait->queue);

    if (figures->walking && ngx_queue_empty(&figures->waiting)) {
        ngx_http_symbolicate_dequeue(&figures->turn);
        ngx_http_symbolicate_statistics_put(figures);

        figures->walking = 0;
        figures->lasting = 0;
    }
}


static void
ngx_http_symbolicate_statistics_begin(ngx_http_symbolicate_statistics_t *figures,
    ngx_uint_t slice)
{
    figures->walking = 1;
    figures->lasting = 0;
    figures->slice = slice;
    figures->i = 0;
    figures->mark.len = 0;
}


static void
ngx_http_symbolicate_statistics_turn(void *data)
{
    ngx_http_symbolicate_statistics_t *figures = data;

    ngx_queue_t                          *q;
    ngx_http_symbolicate_statistics_wait_t  *wait;

    if (ngx_http_symbolicate_statistics_slice(figures) == NGX_AGAIN) {
        ngx_http_symbolicate_enqueue(&figures->turn);
        return;
    }

    while (!ngx_queue_empty(&figures->waiting)) {
        q = ngx_queue_head(&figures->waiting);
        wait = ngx_queue_data(q, ngx_http_symbolicate_statistics_wait_t, queue);

        ngx_http_symbolicate_statistics_leave(wait);
        wait->told(wait->data);
    }
}


/* NGX_OK: that was the last one. */
static ngx_int_t
ngx_http_symbolicate_statistics_slice(ngx_http_symbolicate_statistics_t *figures)
{
    sym_metrics_store_t  *shown;

    figures->budget = figures->slice;

    while (figures->i < figures->main->stores.nelts) {

        if (figures->budget == 0
            || ngx_http_symbolicate_statistics_store(figures) == NGX_AGAIN)
        {
            return NGX_AGAIN;
        }

        ngx_http_symbolicate_statistics_put(figures);
        figures->mark.len = 0;
        figures->i++;
    }

    shown = figures->shown;
    figures->shown = figures->next;
    figures->next = shown;

    figures->walking = 0;
    figures->done = ngx_current_msec;

    return NGX_OK;
}


/* NGX_OK: all is known of this store. */
static ngx_int_t
ngx_http_symbolicate_statistics_store(ngx_http_symbolicate_statistics_t *figures)
{
    const char                     *reason;
    ngx_http_symbolicate_store_t  **store;

    store = figures->main->stores.elts;
    store += figures->i;

    if (figures->db == NULL) {
        figures->next[figures->i].is_up = 0;
        figures->db = ngx_http_symbolicate_store_get(*store, ngx_cycle->log,
                                                     &reason);
    }

    /* damaged: met by a request since our last slice */

    if (figures->db == NULL || figures->db->damaged) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_statistics_part(figures, *store);
}


static ngx_int_t
ngx_http_symbolicate_statistics_part(ngx_http_symbolicate_statistics_t *figures,
    ngx_http_symbolicate_store_t *store)
{
    sym_status_t          status;
    sym_metrics_store_t  *shown;

    shown = &figures->next[figures->i];

    ngx_memzero(&figures->err, sizeof(sym_error_t));

    status = sym_store_guarded(figures->db->db,
                               ngx_http_symbolicate_statistics_read, figures,
                               &figures->err);

    if (status == SYM_OK) {
        status = figures->status;
    }

    switch (status) {

    case SYM_OK:
        shown->is_up = 1;
        return NGX_OK;

    case SYM_AGAIN:
        return NGX_AGAIN;

    case SYM_DAMAGED:
        ngx_http_symbolicate_store_damaged(store, figures->db, &figures->err,
                                           ngx_cycle->log);
        return NGX_OK;

    default:
        ngx_http_symbolicate_store_trouble(store, &figures->err,
                                           ngx_cycle->log);
        return NGX_OK;
    }
}


/* Runs under the guard. */
static void
ngx_http_symbolicate_statistics_read(void *data)
{
    ngx_http_symbolicate_statistics_t *figures = data;

    uint64_t           before, n;
    sym_store_stat_t  *stat;

    stat = &figures->next[figures->i].stat;
    before = figures->mark.len ? stat->modules : 0;

    figures->status = sym_store_stat_part(figures->db->db, &figures->mark,
                                          figures->budget, stat,
                                          &figures->err);

    n = stat->modules - before;
    figures->budget -= ngx_min(n, figures->budget);
}


static void
ngx_http_symbolicate_statistics_put(ngx_http_symbolicate_statistics_t *figures)
{
    if (figures->db) {
        ngx_http_symbolicate_store_put(figures->db);
        figures->db = NULL;
    }
}
