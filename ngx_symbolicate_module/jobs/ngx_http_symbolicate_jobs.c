
/*
 * ngx_http_symbolicate_jobs.c - the table with the jobs of all workers.
 *
 * nginx's lock of the zone protects the table; if a worker dies while it holds
 * the lock, the master releases it.  The replacement of a dead worker notices
 * the death at once, the other workers within a few seconds.
 *
 * In each worker, one timer polls the states of the jobs that its requests wait
 * for; the jobs may belong to any worker.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <ngx_sha1.h>

#include <sys/random.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "jobs/ngx_http_symbolicate_jobs.h"


/* Milliseconds between two polls of jobs: at first, and at most. */
#define NGX_SYMBOLICATE_LOOK_MIN  20
#define NGX_SYMBOLICATE_LOOK_MAX  250

/* Same between two checks for expired results and dead workers. */
#define NGX_SYMBOLICATE_TICK      2000

/*
 * A client that has begun to read a result may continue for this time after it
 * expired.
 */
#define NGX_SYMBOLICATE_GRACE     60000

/* Number of bytes of a result that are copied at a time. */
#define NGX_SYMBOLICATE_COPY      (256 * 1024)


static ngx_int_t ngx_http_symbolicate_jobs_zone_init(ngx_shm_zone_t *zone,
    void *data);
static void ngx_http_symbolicate_jobs_lock(void);
static void ngx_http_symbolicate_jobs_unlock(void);
static void ngx_http_symbolicate_jobs_tick(ngx_event_t *ev);
static ngx_msec_t ngx_http_symbolicate_jobs_next_tick(ngx_core_conf_t *ccf);
static void ngx_http_symbolicate_jobs_bury(void);
static uint64_t ngx_http_symbolicate_jobs_client(ngx_http_request_t *r);
static void ngx_http_symbolicate_jobs_look(ngx_event_t *ev);


/* in a worker */
static sym_jobs_t                        *ngx_http_symbolicate_jobs_table;
static ngx_slab_pool_t                   *ngx_http_symbolicate_jobs_pool;
static ngx_http_symbolicate_main_conf_t  *ngx_http_symbolicate_jobs_conf;
static void                             (*ngx_http_symbolicate_jobs_overdue)(
                                                                        void);

static ngx_queue_t       ngx_http_symbolicate_jobs_waits;
static ngx_event_t       ngx_http_symbolicate_jobs_look_event;
static ngx_msec_t        ngx_http_symbolicate_jobs_interval;

static ngx_event_t       ngx_http_symbolicate_jobs_tick_event;
static ngx_msec_t        ngx_http_symbolicate_jobs_exiting;

/* for nginx's debug log, which expects a connection as a timer's data */
static ngx_connection_t  ngx_http_symbolicate_jobs_no_connection;


ngx_int_t
ngx_http_symbolicate_jobs_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    static ngx_str_t  name = ngx_string("symbolicate_results");

    if (!smcf->has_jobs) {
        return NGX_OK;
    }

    smcf->jobs_zone = ngx_shared_memory_add(cf, &name, smcf->results_size,
                                            &ngx_http_symbolicate_module);
    if (smcf->jobs_zone == NULL) {
        return NGX_ERROR;
    }

    smcf->jobs_zone->init = ngx_http_symbolicate_jobs_zone_init;
    smcf->jobs_zone->data = smcf;

    return NGX_OK;
}


/* `data`: the configuration before a reload; its jobs continue. */
static ngx_int_t
ngx_http_symbolicate_jobs_zone_init(ngx_shm_zone_t *zone, void *data)
{
    void             *p;
    size_t            size;
    ngx_slab_pool_t  *pool;

    pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (data) {
        return NGX_OK;
    }

    size = pool->pfree * ngx_pagesize;
    p = ngx_slab_alloc(pool, size);

    if (p) {
        pool->data = sym_jobs_create(p, size);
    }

    return p && pool->data ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_symbolicate_jobs_lock(void)
{
    ngx_shmtx_lock(&ngx_http_symbolicate_jobs_pool->mutex);
    sym_jobs_lock(ngx_http_symbolicate_jobs_table);
}


static void
ngx_http_symbolicate_jobs_unlock(void)
{
    sym_jobs_unlock(ngx_http_symbolicate_jobs_table);
    ngx_shmtx_unlock(&ngx_http_symbolicate_jobs_pool->mutex);
}


/* --- the process --- */

ngx_int_t
ngx_http_symbolicate_jobs_process(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf, void (*overdue)(void))
{
    ngx_event_t  *ev;

    if (smcf->jobs_zone == NULL) {
        return NGX_OK;
    }

    ngx_http_symbolicate_jobs_conf = smcf;
    ngx_http_symbolicate_jobs_overdue = overdue;
    ngx_http_symbolicate_jobs_pool =
                            (ngx_slab_pool_t *) smcf->jobs_zone->shm.addr;
    ngx_http_symbolicate_jobs_table = ngx_http_symbolicate_jobs_pool->data;

    ngx_http_symbolicate_jobs_no_connection.fd = (ngx_socket_t) -1;

    ngx_queue_init(&ngx_http_symbolicate_jobs_waits);

    ev = &ngx_http_symbolicate_jobs_look_event;
    ev->handler = ngx_http_symbolicate_jobs_look;
    ev->data = &ngx_http_symbolicate_jobs_no_connection;
    ev->log = cycle->log;

    ev = &ngx_http_symbolicate_jobs_tick_event;
    ev->handler = ngx_http_symbolicate_jobs_tick;
    ev->data = &ngx_http_symbolicate_jobs_no_connection;
    ev->log = cycle->log;
    ev->cancelable = 1;

    ngx_http_symbolicate_jobs_lock();
    sym_jobs_join(ngx_http_symbolicate_jobs_table,
                  (uint32_t) ngx_process_slot, (uint64_t) ngx_pid,
                  ngx_current_msec + smcf->results_valid);
    ngx_http_symbolicate_jobs_unlock();

    ngx_http_symbolicate_jobs_bury();

    ngx_add_timer(ev, NGX_SYMBOLICATE_LOOK_MIN);

    return NGX_OK;
}


void
ngx_http_symbolicate_jobs_exit(void)
{
    if (ngx_http_symbolicate_jobs_table == NULL) {
        return;
    }

    ngx_http_symbolicate_jobs_lock();
    sym_jobs_lose(ngx_http_symbolicate_jobs_table, (uint32_t) ngx_process_slot,
                  ngx_current_msec
                  + ngx_http_symbolicate_jobs_conf->results_valid);
    ngx_http_symbolicate_jobs_unlock();

    ngx_http_symbolicate_jobs_table = NULL;
}


static void
ngx_http_symbolicate_jobs_tick(ngx_event_t *ev)
{
    ngx_msec_t        tick;
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(ngx_cycle->conf_ctx,
                                           ngx_core_module);
    tick = ngx_http_symbolicate_jobs_next_tick(ccf);

    ngx_http_symbolicate_jobs_bury();

    ngx_http_symbolicate_jobs_lock();
    sym_jobs_expire(ngx_http_symbolicate_jobs_table, ngx_current_msec,
                    NGX_SYMBOLICATE_GRACE);
    ngx_http_symbolicate_jobs_unlock();

    if (ngx_exiting && ccf->shutdown_timeout) {

        if (ngx_http_symbolicate_jobs_exiting == 0) {
            ngx_http_symbolicate_jobs_exiting = ngx_current_msec;
        }

        if (ngx_current_msec - ngx_http_symbolicate_jobs_exiting + 2 * tick
            >= ccf->shutdown_timeout)
        {
            ngx_http_symbolicate_jobs_overdue();
        }
    }

    ngx_add_timer(ev, tick);
}


/*
 * worker_shutdown_timeout closes connections, also those of downloads, but does
 * not know about jobs.  So jobs are ended shortly before it, because otherwise
 * they would complete without the modules that are still being fetched.
 */
static ngx_msec_t
ngx_http_symbolicate_jobs_next_tick(ngx_core_conf_t *ccf)
{
    if (ccf->shutdown_timeout == 0) {
        return NGX_SYMBOLICATE_TICK;
    }

    return ngx_max(ngx_min(ccf->shutdown_timeout / 8, NGX_SYMBOLICATE_TICK),
                   NGX_SYMBOLICATE_LOOK_MIN);
}


/* Ends the jobs of processes that died. */
static void
ngx_http_symbolicate_jobs_bury(void)
{
    uint32_t     i, n;
    uint64_t     pid;
    sym_jobs_t  *table;

    table = ngx_http_symbolicate_jobs_table;
    n = sym_jobs_processes(table);

    for (i = 0; i < n; i++) {
        pid = sym_jobs_process(table, i);

        if (pid == 0 || kill((ngx_pid_t) pid, 0) == 0 || ngx_errno != NGX_ESRCH)
        {
            continue;
        }

        ngx_http_symbolicate_jobs_lock();

        if (sym_jobs_process(table, i) == pid) {
            sym_jobs_lose(table, i, ngx_current_msec
                              + ngx_http_symbolicate_jobs_conf->results_valid);
        }

        ngx_http_symbolicate_jobs_unlock();
    }
}


/* --- requests in progress --- */

ngx_int_t
ngx_http_symbolicate_jobs_enter(void)
{
    return sym_jobs_enter(ngx_http_symbolicate_jobs_table,
                          (uint32_t) ngx_process_slot,
                          (uint32_t)
                          ngx_http_symbolicate_jobs_conf->max_requests)
           ? NGX_OK : NGX_BUSY;
}


void
ngx_http_symbolicate_jobs_leave(void)
{
    if (ngx_http_symbolicate_jobs_table) {
        sym_jobs_leave(ngx_http_symbolicate_jobs_table,
                       (uint32_t) ngx_process_slot);
    }
}


/* --- jobs --- */

ngx_int_t
ngx_http_symbolicate_jobs_add(ngx_http_request_t *r, sym_str_t scope,
    size_t bytes, size_t expected, ngx_msec_t left, sym_job_ref_t *job)
{
    sym_job_t                          new;
    u_char                             digest[20];
    ngx_sha1_t                         sha1;
    sym_status_t                       status;
    sym_jobs_limits_t                  limits;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_symbolicate_jobs_conf;

    if (getrandom(new.id.bytes, sizeof(new.id.bytes), 0)
        != (ssize_t) sizeof(new.id.bytes))
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, ngx_errno,
                      "symbolicate: getrandom() failed");
        return NGX_ERROR;
    }

    sym_job_id_make(&new.id);

    new.process = (uint32_t) ngx_process_slot;
    new.client = ngx_http_symbolicate_jobs_client(r);
    new.tenant = 0;

    if (scope.len) {
        ngx_sha1_init(&sha1);
        ngx_sha1_update(&sha1, scope.data, scope.len);
        ngx_sha1_final(digest, &sha1);
        ngx_memcpy(&new.tenant, digest, sizeof(uint64_t));
    }

    new.bytes = bytes;
    new.expected = expected;
    new.expires_at = ngx_current_msec + left + smcf->results_valid;

    limits.requests = (uint32_t) smcf->max_requests;
    limits.per_client = smcf->max_per_address == NGX_SYMBOLICATE_SHARE
                        ? SYM_JOBS_SHARE : (uint32_t) smcf->max_per_address;

    ngx_http_symbolicate_jobs_lock();

    status = sym_jobs_add(ngx_http_symbolicate_jobs_table, &new, &limits, job);

    ngx_http_symbolicate_jobs_unlock();

    if (status == SYM_FULL) {
        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "symbolicate: no room for another result: "
                      "symbolicate_results has %uz bytes", smcf->results_size);
    }

    return status == SYM_OK ? NGX_OK : NGX_BUSY;
}


/*
 * Key of a client: an IPv4 address, or the first half of an IPv6 address, which
 * identifies one network.
 */
static uint64_t
ngx_http_symbolicate_jobs_client(ngx_http_request_t *r)
{
    uint64_t              client;
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    client = 0;

    switch (r->connection->sockaddr->sa_family) {

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) r->connection->sockaddr;

        if (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr)) {
            ngx_memcpy(&client, &sin6->sin6_addr.s6_addr[12], 4);

        } else {
            ngx_memcpy(&client, &sin6->sin6_addr, sizeof(uint64_t));
        }

        break;
#endif

    case AF_INET:
        sin = (struct sockaddr_in *) r->connection->sockaddr;
        ngx_memcpy(&client, &sin->sin_addr, 4);
        break;
    }

    return client;
}


sym_status_t
ngx_http_symbolicate_jobs_append(sym_job_ref_t *job, sym_str_t text)
{
    sym_status_t  status;

    ngx_http_symbolicate_jobs_lock();
    status = sym_jobs_append(ngx_http_symbolicate_jobs_table, job, text);
    ngx_http_symbolicate_jobs_unlock();

    return status;
}


void
ngx_http_symbolicate_jobs_finish(sym_job_ref_t *job, sym_job_state_t state)
{
    if (ngx_http_symbolicate_jobs_table == NULL) {
        return;
    }

    ngx_http_symbolicate_jobs_lock();
    sym_jobs_finish(ngx_http_symbolicate_jobs_table, job, state,
                    ngx_current_msec
                    + ngx_http_symbolicate_jobs_conf->results_valid);
    ngx_http_symbolicate_jobs_unlock();
}


sym_job_state_t
ngx_http_symbolicate_jobs_find(sym_job_id_t *id, sym_job_ref_t *job)
{
    sym_job_state_t  state;

    ngx_http_symbolicate_jobs_lock();
    state = sym_jobs_find(ngx_http_symbolicate_jobs_table, id,
                          ngx_current_msec, job);
    ngx_http_symbolicate_jobs_unlock();

    return state;
}


ngx_int_t
ngx_http_symbolicate_jobs_read(sym_job_ref_t *job, sym_job_cursor_t *cursor,
    sym_out_t *out)
{
    size_t        n;
    ngx_int_t     rc;
    sym_str_t     piece;
    sym_status_t  status;

    rc = NGX_AGAIN;

    ngx_http_symbolicate_jobs_lock();

    for (n = 0; n < NGX_SYMBOLICATE_COPY && !out->is_full; n += piece.len) {
        status = sym_jobs_read(ngx_http_symbolicate_jobs_table, job, cursor,
                               &piece);

        if (status != SYM_OK) {
            rc = NGX_DECLINED;
            break;
        }

        if (piece.len == 0) {
            rc = NGX_OK;
            break;
        }

        sym_out_raw(out, piece);
    }

    ngx_http_symbolicate_jobs_unlock();

    return rc;
}


/* --- waiting --- */

void
ngx_http_symbolicate_jobs_wait(ngx_http_symbolicate_jobs_wait_t *wait)
{
    ngx_event_t  *ev;

    ngx_queue_insert_tail(&ngx_http_symbolicate_jobs_waits, &wait->queue);
    wait->waiting = 1;

    ngx_http_symbolicate_jobs_interval = NGX_SYMBOLICATE_LOOK_MIN;

    ev = &ngx_http_symbolicate_jobs_look_event;

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    ngx_add_timer(ev, NGX_SYMBOLICATE_LOOK_MIN);
}


void
ngx_http_symbolicate_jobs_unwait(ngx_http_symbolicate_jobs_wait_t *wait)
{
    if (wait->waiting) {
        ngx_queue_remove(&wait->queue);
        wait->waiting = 0;
    }
}


static void
ngx_http_symbolicate_jobs_look(ngx_event_t *ev)
{
    ngx_queue_t                       *q, waits;
    ngx_http_symbolicate_jobs_wait_t  *wait;

    /* ended() may change the list, so entries are moved from one list to
     * another */

    ngx_queue_init(&waits);

    if (!ngx_queue_empty(&ngx_http_symbolicate_jobs_waits)) {
        ngx_queue_add(&waits, &ngx_http_symbolicate_jobs_waits);
        ngx_queue_init(&ngx_http_symbolicate_jobs_waits);
    }

    while (!ngx_queue_empty(&waits)) {
        q = ngx_queue_head(&waits);
        wait = ngx_queue_data(q, ngx_http_symbolicate_jobs_wait_t, queue);

        ngx_queue_remove(q);

        if (sym_jobs_is_running(ngx_http_symbolicate_jobs_table, &wait->job)) {
            ngx_queue_insert_tail(&ngx_http_symbolicate_jobs_waits, q);
            continue;
        }

        wait->waiting = 0;
        wait->ended(wait->data);
    }

    if (!ngx_queue_empty(&ngx_http_symbolicate_jobs_waits) && !ev->timer_set) {
        ngx_http_symbolicate_jobs_interval =
                              ngx_min(ngx_http_symbolicate_jobs_interval * 2,
                                      NGX_SYMBOLICATE_LOOK_MAX);
        ngx_add_timer(ev, ngx_http_symbolicate_jobs_interval);
    }
}


ngx_uint_t
ngx_http_symbolicate_jobs_stat(sym_jobs_stat_t *stat)
{
    if (ngx_http_symbolicate_jobs_table == NULL) {
        return 0;
    }

    ngx_http_symbolicate_jobs_lock();
    *stat = sym_jobs_stat(ngx_http_symbolicate_jobs_table);
    ngx_http_symbolicate_jobs_unlock();

    return 1;
}
