
/*
 * ngx_http_symbolicate_missing.c - a request waits for missing modules.
 *
 * This runs between the check of a request's modules and its answer.  Modules
 * without a record become pending fetches (pending.c).  They run in parallel,
 * and each tries one source after another.  When all are settled or the
 * request's time is over, the answer is written from a new snapshot of the
 * store.
 *
 * The search ends at a module that names functions; it continues with the next
 * source after a poorer module, an absent one or a failure.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_notes.h"
#include "schedule/ngx_http_symbolicate_pending.h"
#include "request/ngx_http_symbolicate_lookup.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


/* How often a search is repeated because its module was evicted before use. */
#define NGX_SYMBOLICATE_TRIES   3

/* Retry-After, in seconds, of an answer without its pending modules */
#define NGX_SYMBOLICATE_RETRY   1

/* Most modules of a request in the ledger, and most frames that are counted for
 * them. */
#define NGX_SYMBOLICATE_NOTED   64
#define NGX_SYMBOLICATE_FRAMES  65536

/* Steps (base/steps.h) besides those of patterns: for a module, for a source
 * that is considered, and for one that is queried.  The last source of a turn
 * may exceed the turn's steps by 2 million. */
#define NGX_SYMBOLICATE_MODULE  20
#define NGX_SYMBOLICATE_LOOK    20
#define NGX_SYMBOLICATE_ASK     1500

/* Total steps for patterns of a request; each byte of its body adds some. */
#define NGX_SYMBOLICATE_PATTERNS        2000000
#define NGX_SYMBOLICATE_PATTERNS_RATIO  64

#define NGX_SYMBOLICATE_NO_SEARCH  0xffffffff


typedef struct {
    uint16_t                       step;        /* the next source */
    unsigned                       ready:1;     /* found, if only a poor one */
    unsigned                       better:1;    /* found at the start */
    unsigned                       waited:1;    /* for a source, so far */
    unsigned                       tries:2;     /* how often it was started */
    unsigned                       queued:1;    /* sources are to be queried */
    unsigned                       all:1;       /* all sources in parallel */
    unsigned                       upgrade:1;   /* ... for later requests */
    uint16_t                       open;        /* sources that are queried in
                                                 * parallel */
    ngx_msec_t                     began;
    uint32_t                       next;        /* in the queue */
} ngx_http_symbolicate_search_t;


struct ngx_http_symbolicate_missing_s {
    ngx_http_symbolicate_wait_t    wait;
    ngx_uint_t                     requested;   /* modules */
    ngx_uint_t                     failed;      /* modules */
    ngx_uint_t                     late;        /* modules, at the end */
    time_t                         retry;       /* seconds until a failed module
                                                 * may be retried */
    ngx_http_symbolicate_search_t *searches;    /* one a need */
    uint32_t                       nsearches;
    uint32_t                       first;       /* of those that are queued */
    uint32_t                       last;
    uint32_t                       next;        /* need to check next */
    uint64_t                       patterns;    /* steps of the request */
    unsigned                       active:1;    /* from the first step until all
                                                 * needs are settled */
    unsigned                       over:1;      /* the time is */
    ngx_msec_t                     end;
    ngx_msec_t                     began;       /* start of the current wait */
};


static ngx_int_t ngx_http_symbolicate_missing_search(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i);
static ngx_int_t ngx_http_symbolicate_missing_ask(
    ngx_http_symbolicate_lookup_t *lookup, ngx_http_symbolicate_wait_t *wait,
    uint32_t i);
static void ngx_http_symbolicate_missing_weigh(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i,
    sym_module_state_t state, uint32_t ttl, sym_str_t reason);
static void ngx_http_symbolicate_missing_settled(void *data,
    ngx_uint_t module, sym_rpc_message_t *m);
static void ngx_http_symbolicate_missing_resume(void *data);
static void ngx_http_symbolicate_missing_late(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_missing_fail(
    ngx_http_symbolicate_lookup_t *lookup);


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


static void
ngx_http_symbolicate_missing_failed(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, time_t seconds)
{
    uint32_t                         n;
    sym_need_t                      *modules;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    modules = sym_request_modules(lookup->asked, &n);

    if (m >= modules + n) {

        /* without the needs of a later round the answer is poorer, but valid */

        missing->late++;
        return;
    }

    seconds = ngx_max(seconds, 1);

    missing->retry = missing->failed++ ? ngx_min(missing->retry, seconds)
                                       : seconds;
}


/* The search for a module has ended: adds its waiting time. */
static void
ngx_http_symbolicate_missing_waited(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    if (!search->waited) {
        return;
    }

    search->waited = 0;

    sym_request_waited_for(lookup->asked, i,
                           (double) (ngx_current_msec - search->began) / 1000);
}


/* The module is not waited for: it stays pending in this answer. */
static void
ngx_http_symbolicate_missing_put_off(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m)
{
    m->is_settled = 1;

    if (m->found != SYM_NEED_FOUND) {
        m->found = SYM_NEED_PENDING;
        lookup->missing->late++;
    }
}


/* True if sources should be queried for the module; copies its existing
 * records. */
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


/* Queues the search, which queries sources in a later step of the request. */
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

    /* the answer uses a poor module; better ones are fetched meanwhile */

    if (!m->ref->is_either && m->found == SYM_NEED_FOUND) {
        search->upgrade = 1;
        m->is_settled = 1;

    } else {
        missing->requested++;
    }

    ngx_http_symbolicate_missing_queue(lookup, i);
}


/* Checks the needs, and queries sources for the missing ones, within the limit
 * of a turn. */
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


/* All sources were queried, or enough of them. */
static void
ngx_http_symbolicate_missing_found(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    sym_need_t                     *m;
    ngx_http_symbolicate_search_t  *search;

    ngx_http_symbolicate_missing_waited(lookup, i);

    search = &lookup->missing->searches[i];
    m = &sym_request_needs(lookup->asked, &n)[i];

    if (search->ready) {

        if (!search->better) {
            sym_request_fetched(lookup->asked, i);
        }

        return;
    }

    m->is_settled = 1;

    if (m->missing.state == SYM_MODULE_FAILED && !search->better) {
        ngx_http_symbolicate_missing_failed(lookup, m,
                                  (time_t) m->missing.expires_at - ngx_time());
    }
}


/* Keeps the worst outcome of the sources: failures may be temporary, malformed
 * files may be replaced. */
static void
ngx_http_symbolicate_missing_weigh(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, sym_module_state_t state, uint32_t ttl, sym_str_t reason)
{
    uint32_t        n, until;
    sym_missing_t  *missing;

    missing = &sym_request_needs(lookup->asked, &n)[i].missing;
    until = (uint32_t) ngx_time() + ttl;

    if (state == missing->state) {
        missing->expires_at = ngx_min(missing->expires_at, until);
        return;
    }

    if (sym_module_state_weight(state)
        < sym_module_state_weight(missing->state))
    {
        return;
    }

    missing->state = state;
    missing->expires_at = until;
    missing->reason = sym_arena_copy(&lookup->arena, reason);

    if (missing->reason.data == NULL) {
        missing->reason = SYM_STR("");
    }
}


/* The text of a source link has only one path. */
static ngx_int_t
ngx_http_symbolicate_missing_ask_link(ngx_http_symbolicate_lookup_t *lookup,
    ngx_http_symbolicate_wait_t *wait, uint32_t i)
{
    uint32_t                          n;
    sym_need_t                       *m;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_wanted_t     wanted;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    m = &sym_request_needs(lookup->asked, &n)[i];
    source = m->is_artifact ? lookup->policy->artifacts : lookup->policy->links;

    if (source == NULL || lookup->missing->searches[i].step++ != 0) {
        return NGX_DONE;
    }

    ngx_memzero(&wanted, sizeof(ngx_http_symbolicate_wanted_t));

    wanted.source = source;
    wanted.kind = m->kind;
    wanted.ref = m->ref;

    return ngx_http_symbolicate_pending(
                              ngx_http_symbolicate_loader_of(slcf->loader),
                              lookup->policy, &wanted, wait, i);
}


/* Whether the source may have the module.  Only the first of its two steps
 * checks this. */
static ngx_uint_t
ngx_http_symbolicate_missing_takes(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, ngx_http_symbolicate_source_t *source, sym_need_t *m)
{
    uint64_t                         before;
    ngx_uint_t                       takes;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    before = missing->patterns;

    takes = sym_source_takes(&source->rules, m->ref, &missing->patterns);

    (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                          before - missing->patterns);

    if (missing->patterns == 0 && source->rules.n_patterns) {
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                                 SYM_STR("the patterns of the sources take too "
                                         "long"));
        return 0;
    }

    return takes;
}


/* Queries the next source that may have the module.  NGX_DONE: no source is
 * left; NGX_AGAIN: not in this turn; else as ngx_http_symbolicate_pending(). */
static ngx_int_t
ngx_http_symbolicate_missing_ask(ngx_http_symbolicate_lookup_t *lookup,
    ngx_http_symbolicate_wait_t *wait, uint32_t i)
{
    uint32_t                          n;
    sym_need_t                       *m;
    sym_ref_key_t                     k;
    ngx_http_symbolicate_wanted_t     wanted;
    ngx_http_symbolicate_loader_t    *loader;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_search_t    *search;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    m = &sym_request_needs(lookup->asked, &n)[i];

    if (m->ref->url.len && lookup->request_sources) {
        return ngx_http_symbolicate_missing_ask_link(lookup, wait, i);
    }

    search = &lookup->missing->searches[i];
    loader = ngx_http_symbolicate_loader_of(slcf->loader);

    ngx_memzero(&wanted, sizeof(ngx_http_symbolicate_wanted_t));

    if (!sym_request_key(lookup->asked, m, &k)) {
        return NGX_ERROR;
    }

    while (search->step < lookup->policy->sources->nelts) {

        if (ngx_http_symbolicate_turn_steps == 0) {
            return NGX_AGAIN;
        }

        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              NGX_SYMBOLICATE_LOOK);

        source = (ngx_http_symbolicate_source_t *) lookup->policy->sources->elts
                 + search->step++;

        /* it has no path for any file from which such an artifact is made */

        if (!sym_layout_takes(source->rules.layout, m->ref)
            || (m->ref->url.len == 0
                && !(source->rules.files & ~m->without
                     & sym_kind_files(m->kind, m->ref->type))))
        {
            continue;
        }

        if (source->is_denied) {
            ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                                 SYM_STR("sources of this type are not allowed "
                                         "in requests"));
            continue;
        }

        if (!ngx_http_symbolicate_missing_takes(lookup, i, source, m)) {
            continue;
        }

        wanted.source = source;
        wanted.kind = m->kind;
        wanted.ref = m->ref;
        wanted.without = m->without;
        wanted.thorough = m->is_thorough && !m->ref->is_either;

        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              NGX_SYMBOLICATE_ASK);

        return ngx_http_symbolicate_pending(loader, lookup->policy,
                                            &wanted, wait, i);
    }

    return NGX_DONE;
}


/* Queries all sources in parallel: the files of each are needed. */
static ngx_int_t
ngx_http_symbolicate_missing_search_all(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    ngx_int_t                       rc;
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    do {
        rc = ngx_http_symbolicate_missing_ask(lookup, &lookup->missing->wait,
                                              i);
        if (rc == NGX_OK) {
            search->open++;
            search->waited = 1;
        }

    } while (rc == NGX_OK);

    if (rc == NGX_ERROR || rc == NGX_AGAIN) {
        return rc;
    }

    if (search->open) {
        return NGX_OK;
    }

    if (rc == NGX_BUSY) {
        ngx_http_symbolicate_missing_put_off(lookup,
                                   &sym_request_needs(lookup->asked, &n)[i]);
        return NGX_OK;
    }

    if (rc == NGX_DECLINED) {
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                               SYM_STR("the symbol loader is not running"));
    }

    ngx_http_symbolicate_missing_found(lookup, i);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_missing_search_better(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i)
{
    ngx_int_t                    rc;
    ngx_http_symbolicate_wait_t  wait;

    ngx_memzero(&wait, sizeof(ngx_http_symbolicate_wait_t));

    ngx_queue_init(&wait.waiters);
    ngx_queue_init(&wait.shares);

    do {
        rc = ngx_http_symbolicate_missing_ask(lookup, &wait, i);
    } while (rc == NGX_OK);

    ngx_http_symbolicate_pending_leave(&wait, 1);

    return rc == NGX_AGAIN ? NGX_AGAIN : NGX_OK;
}


/* NGX_OK: it waits for a source, or is settled; NGX_AGAIN: not in this turn. */
static ngx_int_t
ngx_http_symbolicate_missing_search(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    if (search->upgrade) {
        return ngx_http_symbolicate_missing_search_better(lookup, i);
    }

    if (search->all) {
        return ngx_http_symbolicate_missing_search_all(lookup, i);
    }

    switch (ngx_http_symbolicate_missing_ask(lookup, &lookup->missing->wait,
                                             i))
    {

    case NGX_OK:
        search->waited = 1;
        return NGX_OK;

    case NGX_AGAIN:
        return NGX_AGAIN;

    case NGX_BUSY:
        ngx_http_symbolicate_missing_waited(lookup, i);
        ngx_http_symbolicate_missing_put_off(lookup,
                                   &sym_request_needs(lookup->asked, &n)[i]);
        return NGX_OK;

    case NGX_DECLINED:
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                               SYM_STR("the symbol loader is not running"));
        break;

    case NGX_DONE:
        break;

    default:
        return NGX_ERROR;
    }

    ngx_http_symbolicate_missing_found(lookup, i);

    return NGX_OK;
}


/* A source's outcome for a module of the request: READY, or NEGATIVE with its
 * reason. */
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
 * The next request may need files of the remaining sources, even if the current
 * source never answers.  So they are queried, too.
 * No request waits for this, so it uses only free slots, and at most one turn.
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


/* The request's time is over: it is answered, and the fetches continue. */
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


ngx_uint_t
ngx_http_symbolicate_missing_some(ngx_http_symbolicate_lookup_t *lookup)
{
    return lookup->stats->lost
           || (lookup->missing
               && (lookup->missing->late || lookup->missing->failed));
}


ngx_int_t
ngx_http_symbolicate_missing_headers(ngx_http_symbolicate_lookup_t *lookup)
{
    time_t   seconds;
    u_char  *p;

    if (!ngx_http_symbolicate_missing_some(lookup)) {
        return NGX_OK;
    }

    seconds = NGX_SYMBOLICATE_RETRY;

    if (lookup->missing && !lookup->missing->late && !lookup->stats->lost) {
        seconds = lookup->missing->retry;
    }

    p = ngx_pnalloc(lookup->task.request->pool, NGX_TIME_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_add_header(lookup->task.request, "Retry-After",
                                           (char *) p,
                                           ngx_sprintf(p, "%T", seconds) - p);
}


/*
 * Answers 503 with each module and its reason.  The body is made here, while
 * the request is still in memory, and sent by task.c.
 */
static ngx_int_t
ngx_http_symbolicate_missing_fail(ngx_http_symbolicate_lookup_t *lookup)
{
    size_t         size;
    uint32_t       i, n;
    sym_out_t      out;
    ngx_uint_t     first;
    ngx_chain_t   *body;
    sym_need_t    *m;
    sym_ref_key_t  k;

    m = sym_request_modules(lookup->asked, &n);
    size = 256;

    for (i = 0; i < n; i++) {
        if (m[i].is_settled && m[i].missing.state == SYM_MODULE_FAILED
            && sym_request_key(lookup->asked, &m[i], &k))
        {
            size += 6 * (k.key.name.len + k.sent.len
                         + m[i].missing.reason.len)
                    + 64;
        }
    }

    body = ngx_http_symbolicate_body_begin(lookup->task.request, size, &out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    sym_out_raw(&out, SYM_STR("{\"title\": \"503 Service Unavailable\", "
                              "\"description\": \"symbols could not be "
                              "fetched\", \"modules\": ["));
    first = 1;

    for (i = 0; i < n; i++) {

        if (!m[i].is_settled || m[i].missing.state != SYM_MODULE_FAILED
            || !sym_request_key(lookup->asked, &m[i], &k))
        {
            continue;
        }

        sym_out_raw(&out, first ? SYM_STR("{\"debug_file\": ")
                                : SYM_STR(", {\"debug_file\": "));
        sym_out_string(&out, k.key.name);
        sym_out_raw(&out, SYM_STR(", \"debug_id\": "));
        sym_out_string(&out, k.sent);
        sym_out_raw(&out, SYM_STR(", \"reason\": "));
        sym_out_string(&out, m[i].missing.reason);
        sym_out_raw(&out, SYM_STR("}"));

        first = 0;
    }

    sym_out_raw(&out, SYM_STR("]}"));

    if (ngx_http_symbolicate_body_end(lookup->task.request, body, &out)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    lookup->task.error_body = body;

    (void) ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"), NULL);

    lookup->task.ctx->served = SYM_SERVED_FETCH_FAILED;
    *lookup->stats = *sym_request_stats(lookup->asked);
    ngx_http_symbolicate_lookup_count(lookup);

    return NGX_ERROR;
}


static void
ngx_http_symbolicate_missing_note_one(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, uint32_t frames)
{
    sym_ref_key_t                     k;
    sym_rpc_message_t                 note;
    sym_module_state_t                state;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (!sym_request_key(lookup->asked, m, &k)) {
        return;
    }

    ngx_memzero(&note, sizeof(sym_rpc_message_t));

    if (m->found == SYM_NEED_PENDING) {
        state = 0;

    } else {
        state = m->missing.state ? m->missing.state : SYM_MODULE_ABSENT;
        note.text = m->missing.reason;
    }

    if (state == SYM_MODULE_READY) {
        state = SYM_MODULE_FAILED;
    }

    note.flags = state << SYM_RPC_STATE_SHIFT | m->ref->type;
    note.offset = 1;
    note.length = frames;
    note.key = k.key;
    note.kind = m->kind;
    note.source = sym_str((char *) slcf->missing_in.data, slcf->missing_in.len);

    ngx_http_symbolicate_note(ngx_http_symbolicate_loader_of(slcf->loader),
                              &note);
}


/*
 * Records the missing modules.  Sources of requests belong to the clients, so
 * their modules are not recorded.  A request with very many modules records
 * some of them, starting at a random one.
 */
void
ngx_http_symbolicate_missing_note(ngx_http_symbolicate_lookup_t *lookup)
{
    uint32_t                          i, n, at, noted, *frames;
    sym_need_t                       *m;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (!slcf->missing || slcf->loader == NULL || lookup->request_sources) {
        return;
    }

    m = sym_request_modules(lookup->asked, &n);

    frames = sym_arena_calloc(&lookup->arena, n, sizeof(uint32_t));
    if (frames == NULL) {
        return;
    }

    if (lookup->asked->ops->count_frames) {
        lookup->asked->ops->count_frames(lookup->asked,
                                         NGX_SYMBOLICATE_FRAMES, frames);
    }

    at = (n > NGX_SYMBOLICATE_NOTED) ? (uint32_t) ngx_random() % n : 0;
    noted = 0;

    for (i = 0; i < n && noted < NGX_SYMBOLICATE_NOTED; i++) {

        if (sym_need_is_askable(&m[at])
            && (m[at].found == SYM_NEED_MISSING
                || m[at].found == SYM_NEED_PENDING))
        {
            ngx_http_symbolicate_missing_note_one(lookup, &m[at], frames[at]);
            noted++;
        }

        at = (at + 1 == n) ? 0 : at + 1;
    }
}
