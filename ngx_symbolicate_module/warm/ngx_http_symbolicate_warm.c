
/*
 * ngx_http_symbolicate_warm.c - fills the store of a new node with what its
 * fleet uses most, before the node says that it is ready.
 *
 * It reads the fleet's list, and wants each of its artifacts that the store
 * lacks, the heaviest first, some at a time, from the fleet's bucket and from
 * nowhere else: a forged list makes no source and no peer work.  It ends when
 * all are settled, when a part of the store's quota is used, or when its time
 * is over.  Whatever fails, the node is ready then.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "artifacts/kinds.h"
#include "store/object.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending.h"
#include "store/ngx_http_symbolicate_store.h"
#include "warm/ngx_http_symbolicate_ranks.h"
#include "warm/ngx_http_symbolicate_uses.h"
#include "warm/ngx_http_symbolicate_warm.h"


/* Number of artifacts that are wanted at a time. */
#define NGX_SYMBOLICATE_WARM_PENDING  32

/* Number of artifacts that are looked up in the store in a turn. */
#define NGX_SYMBOLICATE_WARM_TURN     200

/* Interval of attempts while there is no store or loader. */
#define NGX_SYMBOLICATE_WARM_AGAIN    100


typedef struct {
    ngx_http_symbolicate_loc_conf_t  *slcf;
    ngx_event_t                    deadline;
    ngx_event_t                    again;
    ngx_http_symbolicate_ranks_t   ranks;
    ngx_http_symbolicate_wait_t    wait;
    uint32_t                       next;        /* entry of the list */
    uint64_t                       bytes;       /* of artifacts that came */
    uint64_t                       limit;       /* 0: not known yet */
    uint64_t                       counts[SYM_WARM_OUTCOMES];
    unsigned                       ended:1;

    /* a look into the store */
    const sym_rank_t              *rank;
    const sym_object_ref_t        *ref;
    sym_object_record_t            record;
} ngx_http_symbolicate_warm_t;


static ngx_int_t ngx_http_symbolicate_warm_start(
    ngx_http_symbolicate_loc_conf_t *slcf);
static void ngx_http_symbolicate_warm_read(ngx_event_t *ev);
static void ngx_http_symbolicate_warm_listed(void *data,
    ngx_http_symbolicate_ranks_result_t *result);
static void ngx_http_symbolicate_warm_again(ngx_event_t *ev);
static void ngx_http_symbolicate_warm_run(void *data);
static ngx_int_t ngx_http_symbolicate_warm_want(
    ngx_http_symbolicate_warm_t *warm, ngx_uint_t n);
static ngx_int_t ngx_http_symbolicate_warm_look(
    ngx_http_symbolicate_warm_t *warm, const sym_rank_t *rank,
    const sym_object_ref_t *ref);
static sym_status_t ngx_http_symbolicate_warm_find(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err);
static void ngx_http_symbolicate_warm_settled(void *data, ngx_uint_t n,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_warm_late(ngx_event_t *ev);
static void ngx_http_symbolicate_warm_end(ngx_http_symbolicate_warm_t *warm,
    const char *what, ngx_str_t *why);


/* Number of stores that this worker fills now. */
static ngx_uint_t  ngx_http_symbolicate_warming;


ngx_int_t
ngx_http_symbolicate_warm_process(ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                         i;
    ngx_http_symbolicate_loc_conf_t  **slcf;

    if (ngx_process == NGX_PROCESS_HELPER || ngx_worker != 0) {
        return NGX_OK;
    }

    slcf = smcf->members.elts;

    for (i = 0; i < smcf->members.nelts; i++) {

        if (ngx_http_symbolicate_uses_start(slcf[i]) != NGX_OK
            || (ngx_http_symbolicate_is_warming()
                && ngx_http_symbolicate_warm_start(slcf[i]) != NGX_OK))
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_http_symbolicate_warm_event(ngx_http_symbolicate_warm_t *warm,
    ngx_event_t *ev, ngx_event_handler_pt handler, ngx_msec_t delay)
{
    ev->handler = handler;
    ev->data = warm;
    ev->log = ngx_cycle->log;
    ev->cancelable = 1;

    ngx_add_timer(ev, delay);
}


static ngx_int_t
ngx_http_symbolicate_warm_start(ngx_http_symbolicate_loc_conf_t *slcf)
{
    ngx_http_symbolicate_warm_t  *warm;

    warm = ngx_pcalloc(ngx_cycle->pool, sizeof(ngx_http_symbolicate_warm_t));
    if (warm == NULL) {
        return NGX_ERROR;
    }

    warm->slcf = slcf;

    warm->ranks.policy = &slcf->policy;
    warm->ranks.done = ngx_http_symbolicate_warm_listed;
    warm->ranks.data = warm;
    warm->ranks.fd = NGX_INVALID_FILE;

    ngx_queue_init(&warm->wait.waiters);
    ngx_queue_init(&warm->wait.shares);
    warm->wait.settled = ngx_http_symbolicate_warm_settled;
    warm->wait.resume = ngx_http_symbolicate_warm_run;
    warm->wait.data = warm;

    ngx_http_symbolicate_warm_event(warm, &warm->deadline,
                                    ngx_http_symbolicate_warm_late,
                                    slcf->policy.share->warm);
    ngx_http_symbolicate_warm_event(warm, &warm->again,
                                    ngx_http_symbolicate_warm_read, 0);

    ngx_http_symbolicate_warming++;

    return NGX_OK;
}


/* --- the list --- */

static void
ngx_http_symbolicate_warm_read(ngx_event_t *ev)
{
    ngx_http_symbolicate_warm_t *warm = ev->data;

    static ngx_str_t  memory = ngx_string("out of memory");

    if (ngx_http_symbolicate_ranks_read(&warm->ranks) != NGX_OK) {
        ngx_http_symbolicate_warm_end(warm, "has ended", &memory);
    }
}


static void
ngx_http_symbolicate_warm_listed(void *data,
    ngx_http_symbolicate_ranks_result_t *result)
{
    ngx_http_symbolicate_warm_t *warm = data;

    if (result->trouble.len) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "symbolicate_share: warm start: the list could not be "
                      "read: %V", &result->trouble);
    }

    sym_ranks_order(warm->ranks.list, SYM_RANKS_MAX);

    warm->again.handler = ngx_http_symbolicate_warm_again;
    ngx_http_symbolicate_warm_run(warm);
}


/* --- artifacts --- */

static void
ngx_http_symbolicate_warm_again(ngx_event_t *ev)
{
    ngx_http_symbolicate_warm_run(ev->data);
}


static ngx_uint_t
ngx_http_symbolicate_warm_is_over(ngx_http_symbolicate_warm_t *warm)
{
    return warm->next == warm->ranks.list->n
           || (warm->limit && warm->bytes >= warm->limit);
}


static void
ngx_http_symbolicate_warm_wait(ngx_http_symbolicate_warm_t *warm,
    ngx_msec_t delay)
{
    if (!warm->again.timer_set) {
        ngx_add_timer(&warm->again, delay);
    }
}


/* Wants as many artifacts as may be pending. */
static void
ngx_http_symbolicate_warm_run(void *data)
{
    ngx_http_symbolicate_warm_t *warm = data;

    ngx_int_t   rc;
    ngx_uint_t  n;

    if (warm->ended || ngx_exiting) {
        return;
    }

    for (n = 0;
         !ngx_http_symbolicate_warm_is_over(warm)
         && warm->wait.pending < NGX_SYMBOLICATE_WARM_PENDING;
         n++)
    {
        if (n == NGX_SYMBOLICATE_WARM_TURN) {
            ngx_http_symbolicate_warm_wait(warm, 0);
            return;
        }

        rc = ngx_http_symbolicate_warm_want(warm, warm->next);

        if (rc == NGX_AGAIN) {
            ngx_http_symbolicate_warm_wait(warm, NGX_SYMBOLICATE_WARM_AGAIN);
            return;
        }

        warm->next++;
    }

    if (warm->wait.pending == 0) {
        ngx_http_symbolicate_warm_end(warm, "is complete", NULL);
    }
}


static void
ngx_http_symbolicate_warm_count(ngx_http_symbolicate_warm_t *warm,
    sym_warm_outcome_t outcome)
{
    warm->counts[outcome]++;
    ngx_http_symbolicate_count_warm(outcome);
}


/* The source of an entry; NULL: this node does not have it. */
static ngx_http_symbolicate_source_t *
ngx_http_symbolicate_warm_source(ngx_http_symbolicate_warm_t *warm,
    const sym_rank_t *rank)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *source;

    source = warm->slcf->policy.sources->elts;

    for (i = 0; i < warm->slcf->policy.sources->nelts; i++) {

        if (sym_str_eq(rank->source, sym_str((char *) source[i].name.data,
                                             source[i].name.len)))
        {
            return &source[i];
        }
    }

    return NULL;
}


/* NGX_AGAIN: that is not possible now. */
static ngx_int_t
ngx_http_symbolicate_warm_want(ngx_http_symbolicate_warm_t *warm, ngx_uint_t n)
{
    ngx_int_t                       rc;
    const sym_rank_t               *rank;
    sym_object_ref_t                ref;
    ngx_http_symbolicate_wanted_t   wanted;

    rank = warm->ranks.list->at[n];

    ngx_memzero(&wanted, sizeof(ngx_http_symbolicate_wanted_t));

    wanted.source = ngx_http_symbolicate_warm_source(warm, rank);
    wanted.kind = rank->kind;
    wanted.ref = &ref;
    wanted.shared = 1;

    if (wanted.source == NULL || sym_kind_find(rank->kind) == NULL
        || !sym_rank_ref_read(rank->ref, &ref))
    {
        ngx_http_symbolicate_warm_count(warm, SYM_WARM_ABSENT);
        return NGX_OK;
    }

    rc = ngx_http_symbolicate_warm_look(warm, rank, &ref);

    if (rc == NGX_OK) {
        ngx_http_symbolicate_warm_count(warm, SYM_WARM_PRESENT);
    }

    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_http_symbolicate_pending(
                         ngx_http_symbolicate_loader_of(warm->slcf->loader),
                         &warm->slcf->policy, &wanted, &warm->wait, n);

    if (rc == NGX_ERROR) {
        ngx_http_symbolicate_warm_count(warm, SYM_WARM_FAILED);
        return NGX_OK;
    }

    return rc == NGX_OK ? NGX_OK : NGX_AGAIN;
}


/*
 * Whether the store has the artifact: warm->record.  NGX_DECLINED: it has not;
 * NGX_AGAIN: it cannot be read now.
 */
static ngx_int_t
ngx_http_symbolicate_warm_look(ngx_http_symbolicate_warm_t *warm,
    const sym_rank_t *rank, const sym_object_ref_t *ref)
{
    const char   *reason;
    sym_error_t   err;

    warm->rank = rank;
    warm->ref = ref;

    switch (ngx_http_symbolicate_store_read(warm->slcf->store,
                                            ngx_http_symbolicate_warm_find,
                                            warm, ngx_cycle->log, &err,
                                            &reason))
    {

    case SYM_OK:
        return NGX_OK;

    case SYM_NOT_FOUND:
        return NGX_DECLINED;

    default:
        return NGX_AGAIN;
    }
}


static sym_status_t
ngx_http_symbolicate_warm_find(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_warm_t *warm = data;

    sym_status_t  status;

    if (warm->limit == 0) {
        status = ngx_http_symbolicate_ranks_room(sym_snapshot_store(snapshot),
                                                 &warm->limit, err);
        if (status != SYM_OK) {
            return status;
        }
    }

    status = sym_snapshot_object(snapshot, warm->rank->source, warm->ref,
                                 warm->rank->kind, &warm->record, err);

    /* one that was loaded by hand, as from an image */

    if (status == SYM_NOT_FOUND) {
        status = sym_snapshot_object(snapshot, SYM_STR(SYM_SCOPE_LOCAL),
                                     warm->ref, warm->rank->kind,
                                     &warm->record, err);
    }

    return status;
}


static void
ngx_http_symbolicate_warm_settled(void *data, ngx_uint_t n,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_warm_t *warm = data;

    const sym_rank_t    *rank;
    sym_object_ref_t     ref;
    sym_warm_outcome_t   outcome;

    if (warm->ended) {
        return;
    }

    /* a loader that is not up yet will be asked again */

    if (m->type == SYM_RPC_NEGATIVE && (m->flags & NGX_SYMBOLICATE_NO_LOADER)) {
        warm->next = ngx_min(warm->next, n);
        return;
    }

    outcome = m->type == SYM_RPC_READY ? SYM_WARM_DONE
              : m->state == SYM_MODULE_ABSENT ? SYM_WARM_ABSENT
              : SYM_WARM_FAILED;

    ngx_http_symbolicate_warm_count(warm, outcome);

    rank = warm->ranks.list->at[n];

    if (outcome == SYM_WARM_DONE && sym_rank_ref_read(rank->ref, &ref)
        && ngx_http_symbolicate_warm_look(warm, rank, &ref) == NGX_OK)
    {
        warm->bytes += warm->record.bytes;
    }

    if (warm->wait.pending) {
        ngx_http_symbolicate_warm_run(warm);
    }
}


/* --- the end --- */

static void
ngx_http_symbolicate_warm_late(ngx_event_t *ev)
{
    static ngx_str_t  late = ngx_string("its time is over (warm=)");

    ngx_http_symbolicate_warm_end(ev->data, "has ended", &late);
}


static void
ngx_http_symbolicate_warm_end(ngx_http_symbolicate_warm_t *warm,
    const char *what, ngx_str_t *why)
{
    ngx_uint_t        level;

    static ngx_str_t  nothing = ngx_null_string;

    level = why ? NGX_LOG_WARN : NGX_LOG_NOTICE;
    warm->ended = 1;

    ngx_http_symbolicate_pending_leave(&warm->wait, 0);
    ngx_http_symbolicate_ranks_drop(&warm->ranks);

    if (warm->deadline.timer_set) {
        ngx_del_timer(&warm->deadline);
    }

    if (warm->again.timer_set) {
        ngx_del_timer(&warm->again);
    }

    ngx_log_error(level, ngx_cycle->log, 0,
                  "symbolicate_share: the warm start %s%s%V: %uL artifacts "
                  "came, %uL were there, the bucket lacks %uL, %uL failed",
                  what, why ? ", " : "", why ? why : &nothing,
                  warm->counts[SYM_WARM_DONE], warm->counts[SYM_WARM_PRESENT],
                  warm->counts[SYM_WARM_ABSENT],
                  warm->counts[SYM_WARM_FAILED]);

    if (--ngx_http_symbolicate_warming == 0) {
        ngx_http_symbolicate_is_warm();
    }
}
