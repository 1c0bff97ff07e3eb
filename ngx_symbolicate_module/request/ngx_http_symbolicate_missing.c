
/*
 * ngx_http_symbolicate_missing.c - a request waits for missing modules.
 *
 * This runs between the check of a request's modules and its answer.  Modules
 * without a record become pending fetches (pending.c).  They run in parallel;
 * each tries sources in order.  When all fetches are settled, or the request's
 * time is over, the answer is written from a new snapshot of the store.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_missing_state.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "schedule/ngx_http_symbolicate_pending.h"
#include "counters/ngx_http_symbolicate_meter.h"


/*
 * A search is repeated at most this many times if its module is evicted before
 * use.
 */
#define NGX_SYMBOLICATE_TRIES   3

/* Number of steps (base/steps.h) for a module. */
#define NGX_SYMBOLICATE_MODULE  20

/*
 * Total number of steps for the patterns of a request; each byte of its body
 * adds some.
 */
#define NGX_SYMBOLICATE_PATTERNS        2000000
#define NGX_SYMBOLICATE_PATTERNS_RATIO  64

#define NGX_SYMBOLICATE_NO_SEARCH  0xffffffff


static void ngx_http_symbolicate_missing_settled(void *data,
    ngx_uint_t module, sym_rpc_message_t *m);
static void ngx_http_symbolicate_missing_resume(void *data);
static void ngx_http_symbolicate_missing_late(ngx_event_t *ev);


ngx_int_t
ngx_http_symbolicate_missing_budget(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                         ms;
    ngx_table_elt_t                  *h;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    h = ngx_http_symbolicate_find_header(lookup->task.request,
                                         "X-Symbolicate-Budget");

    if (h == NULL) {
        return NGX_OK;
    }

    ms = ngx_parse_time(&h->value, 0);

    if (ms == NGX_ERROR) {
        return ngx_http_symbolicate_fail(&lookup->task, NGX_HTTP_BAD_REQUEST,
                         SYM_STR("X-Symbolicate-Budget is not a time; want one"
                                 " like 800ms or 5s"), NULL);
    }

    lookup->task.budget = ngx_min((ngx_msec_t) ms, slcf->budget);

    return NGX_OK;
}


static ngx_http_symbolicate_missing_t *
ngx_http_symbolicate_missing_create(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_missing_t  *missing;

    missing = ngx_pcalloc(lookup->pool,
                          sizeof(ngx_http_symbolicate_missing_t));
    if (missing == NULL) {
        return NULL;
    }

    ngx_queue_init(&missing->wait.waiters);
    ngx_queue_init(&missing->wait.shares);

    missing->wait.settled = ngx_http_symbolicate_missing_settled;
    missing->wait.resume = ngx_http_symbolicate_missing_resume;
    missing->wait.data = lookup;

    missing->wait.timer.handler = ngx_http_symbolicate_missing_late;
    missing->wait.timer.data = lookup;
    missing->wait.timer.log = lookup->task.request->connection->log;

    missing->end = ngx_current_msec + lookup->task.budget;
    missing->patterns = NGX_SYMBOLICATE_PATTERNS
                        + (uint64_t) lookup->task.body.len
                          * NGX_SYMBOLICATE_PATTERNS_RATIO;

    return missing;
}


/* Makes room for the needs of a later round. */
static ngx_int_t
ngx_http_symbolicate_missing_grow(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t n)
{
    ngx_http_symbolicate_search_t   *searches;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;

    if (n <= missing->nsearches) {
        return NGX_OK;
    }

    searches = ngx_pcalloc(lookup->pool,
                           n * sizeof(ngx_http_symbolicate_search_t));
    if (searches == NULL) {
        return NGX_ERROR;
    }

    if (missing->nsearches) {
        ngx_memcpy(searches, missing->searches,
                   missing->nsearches * sizeof(ngx_http_symbolicate_search_t));
    }

    missing->searches = searches;
    missing->nsearches = n;

    return NGX_OK;
}


/*
 * Returns whether sources should be searched for the module; copies its
 * existing records.
 */
static ngx_uint_t
ngx_http_symbolicate_missing_is(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m)
{
    sym_ref_key_t  k;

    if (m->is_settled || !sym_request_key(lookup->asked, m, &k)
        || (m->found == SYM_NEED_FOUND
            && (!m->missing.is_open || m->ref->url.len)))
    {
        return 0;
    }

    if (m->found != SYM_NEED_FOUND) {

        if (m->missing.state == SYM_MODULE_FAILED) {
            m->is_settled = 1;
            ngx_http_symbolicate_missing_failed(lookup, m,
                                  (time_t) m->missing.expires_at - ngx_time());
            return 0;
        }

        if (m->missing.state != 0) {
            m->is_settled = 1;
            return 0;
        }
    }

    if (m->ref->is_either
        && (!sym_source_name_ok(k.key.name)
            || k.sent.len > SYM_SOURCE_ID_MAX))
    {
        m->is_settled = 1;
        return 0;
    }

    return 1;
}


/* Queues the search; a later step of the request searches the sources. */
static void
ngx_http_symbolicate_missing_queue(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    ngx_http_symbolicate_search_t   *search;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    search = &missing->searches[i];

    search->queued = 1;
    search->next = NGX_SYMBOLICATE_NO_SEARCH;

    if (missing->first == NGX_SYMBOLICATE_NO_SEARCH) {
        missing->first = i;

    } else {
        missing->searches[missing->last].next = i;
    }

    missing->last = i;
}


static void
ngx_http_symbolicate_missing_begin(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, sym_need_t *m)
{
    ngx_uint_t                        tries;
    ngx_http_symbolicate_search_t    *search;
    ngx_http_symbolicate_missing_t   *missing;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    missing = lookup->missing;
    search = &missing->searches[i];
    tries = search->tries;

    if (missing->over || tries == NGX_SYMBOLICATE_TRIES
        || missing->requested >= slcf->max_missing)
    {
        ngx_http_symbolicate_missing_put_off(lookup, m);
        return;
    }

    ngx_memzero(search, sizeof(ngx_http_symbolicate_search_t));
    ngx_memzero(&m->missing, sizeof(sym_missing_t));

    search->tries = tries + 1;
    search->began = ngx_current_msec;
    search->better = m->found == SYM_NEED_FOUND;
    search->all = m->is_thorough && !m->ref->is_either;

    /*
     * the answer uses the poor module; better ones are fetched at the same time
     */

    if (!m->ref->is_either && m->found == SYM_NEED_FOUND) {
        search->upgrade = 1;
        m->is_settled = 1;

    } else {
        missing->requested++;
    }

    ngx_http_symbolicate_missing_queue(lookup, i);
}


/*
 * Checks the needs, and searches sources for the missing ones, within the limit
 * of a turn.
 */
static ngx_int_t
ngx_http_symbolicate_missing_work(ngx_http_symbolicate_lookup_t *lookup)
{
    uint32_t                         i, n;
    ngx_int_t                        rc;
    sym_need_t                      *m;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    m = sym_request_needs(lookup->asked, &n);

    while (missing->next < n) {

        if (ngx_http_symbolicate_turn_steps == 0) {
            return NGX_AGAIN;
        }

        i = missing->next++;

        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              NGX_SYMBOLICATE_MODULE);

        if (ngx_http_symbolicate_missing_is(lookup, &m[i])) {
            ngx_http_symbolicate_missing_begin(lookup, i, &m[i]);
        }
    }

    while (missing->first != NGX_SYMBOLICATE_NO_SEARCH) {
        i = missing->first;

        rc = ngx_http_symbolicate_missing_search(lookup, i);

        if (rc != NGX_OK) {
            return rc;
        }

        missing->searches[i].queued = 0;
        missing->first = missing->searches[i].next;
    }

    return NGX_OK;
}


static void
ngx_http_symbolicate_missing_stop(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_msec_t                       waited;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;

    if (missing->wait.timer.timer_set) {
        ngx_del_timer(&missing->wait.timer);

        waited = ngx_current_msec - missing->began;
        sym_request_waited(lookup->asked, (double) waited / 1000);
    }

    missing->active = 0;
}


ngx_int_t
ngx_http_symbolicate_missing_step(ngx_http_symbolicate_lookup_t *lookup)
{
    uint32_t                         n;
    ngx_int_t                        rc;
    ngx_msec_int_t                   budget;
    ngx_http_symbolicate_missing_t  *missing;

    if (lookup->missing == NULL) {
        lookup->missing = ngx_http_symbolicate_missing_create(lookup);
        if (lookup->missing == NULL) {
            return NGX_ERROR;
        }
    }

    missing = lookup->missing;

    if (!missing->active) {
        (void) sym_request_needs(lookup->asked, &n);

        if (ngx_http_symbolicate_missing_grow(lookup, n) != NGX_OK) {
            return NGX_ERROR;
        }

        missing->active = 1;
        missing->next = 0;
        missing->first = NGX_SYMBOLICATE_NO_SEARCH;
    }

    rc = ngx_http_symbolicate_missing_work(lookup);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_OK && missing->wait.pending == 0) {
        ngx_http_symbolicate_missing_stop(lookup);
        return ngx_http_symbolicate_missing_verdict(lookup);
    }

    if (!missing->wait.timer.timer_set) {
        missing->began = ngx_current_msec;
        budget = (ngx_msec_int_t) (missing->end - ngx_current_msec);
        ngx_add_timer(&missing->wait.timer, ngx_max(budget, 1));
    }

    return rc == NGX_OK ? NGX_DONE : NGX_AGAIN;
}


ngx_uint_t
ngx_http_symbolicate_missing_is_active(ngx_http_symbolicate_lookup_t *lookup)
{
    return lookup->missing && lookup->missing->active;
}


ngx_int_t
ngx_http_symbolicate_missing_verdict(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (lookup->missing == NULL || lookup->missing->failed == 0) {
        return NGX_OK;
    }

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (slcf->on_failure != ngx_http_symbolicate_on_failure_503
        || slcf->api->tells_failures || lookup->bulk)
    {
        return NGX_OK;
    }

    return ngx_http_symbolicate_missing_fail(lookup);
}


void
ngx_http_symbolicate_missing_end(ngx_http_symbolicate_lookup_t *lookup)
{
    if (lookup->missing == NULL) {
        return;
    }

    ngx_http_symbolicate_pending_leave(&lookup->missing->wait, 0);

    if (lookup->missing->wait.timer.timer_set) {
        ngx_del_timer(&lookup->missing->wait.timer);
    }
}


/*
 * Handles a source's outcome for a module of the request: READY, or NEGATIVE
 * with a reason.
 */
static void
ngx_http_symbolicate_missing_settled(void *data, ngx_uint_t module,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_lookup_t *lookup = data;

    uint32_t                        ttl;
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[module];

    if (m->type == SYM_RPC_READY) {
        search->ready = 1;

        if (!(m->flags & SYM_RPC_POOR) && !search->all) {
            ngx_http_symbolicate_missing_found(lookup, module);
            return;
        }

    } else {
        ttl = (m->state == SYM_MODULE_ABSENT) ? m->ttl.absent
              : (m->state == SYM_MODULE_MALFORMED) ? m->ttl.malformed
              : m->ttl.failed;

        ngx_http_symbolicate_missing_weigh(lookup, module, m->state, ttl,
                                           m->text);

        if ((m->flags & NGX_SYMBOLICATE_NO_LOADER) && !search->all) {
            ngx_http_symbolicate_missing_found(lookup, module);
            return;
        }
    }

    if (!search->all) {
        ngx_http_symbolicate_missing_queue(lookup, module);
        ngx_http_symbolicate_enqueue(&lookup->task.turn);

    } else if (--search->open == 0 && !search->queued) {
        ngx_http_symbolicate_missing_found(lookup, module);
    }
}


static void
ngx_http_symbolicate_missing_resume(void *data)
{
    ngx_http_symbolicate_lookup_t *lookup = data;

    ngx_http_symbolicate_enqueue(&lookup->task.turn);
}


/*
 * Searches the remaining sources, too, because the next request may need their
 * files even if the current source never answers.  No request waits for this,
 * so it uses only free slots, and at most one turn.
 */
static void
ngx_http_symbolicate_missing_ask_rest(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    while (ngx_http_symbolicate_missing_ask(lookup, &lookup->missing->wait, i)
           == NGX_OK)
    {
    }
}


/*
 * Called when the request's time is over: it is answered, and the fetches
 * continue.
 */
static void
ngx_http_symbolicate_missing_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_lookup_t *lookup = ev->data;

    uint32_t    i, n;
    ngx_msec_t  waited;

    lookup->missing->over = 1;

    (void) sym_request_needs(lookup->asked, &n);

    for (i = 0; i < n; i++) {

        if (lookup->missing->searches[i].waited) {
            ngx_http_symbolicate_missing_waited(lookup, i);
            ngx_http_symbolicate_missing_ask_rest(lookup, i);
        }
    }

    ngx_http_symbolicate_pending_leave(&lookup->missing->wait, 1);

    waited = ngx_current_msec - lookup->missing->began;
    sym_request_waited(lookup->asked, (double) waited / 1000);

    lookup->missing->active = 0;
    ngx_http_symbolicate_enqueue(&lookup->task.turn);
}
