
/*
 * ngx_http_symbolicate_pending.c - modules that requests of this worker wait
 * for.
 *
 * A pending fetch is for one module from one source, however many requests wait
 * for it.  It lives from the first request that misses the module until the
 * loader reports the outcome.  If no request waits, it ends earlier: at once if
 * no download has begun, otherwise when the download must give up its slot.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "schedule/ngx_http_symbolicate_pending.h"
#include "schedule/ngx_http_symbolicate_pending_fetch.h"
#include "schedule/ngx_http_symbolicate_pending_abandoned.h"
#include "schedule/ngx_http_symbolicate_pending_send.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"
#include "schedule/ngx_http_symbolicate_pending_table.h"


/*
 * Fewer than the loader allows.  The messages for all of them fit into the
 * queue for the loader.
 */
#define NGX_SYMBOLICATE_PENDING_MAX  (NGX_SYMBOLICATE_OUT_MAX / 2)


/*
 * A source may have as many pending fetches as it leaves free, so a stalled
 * source leaves some for the others.
 */
static ngx_uint_t
ngx_http_symbolicate_pending_is_busy(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_lane_t *lane)
{
    sym_account_t                     *memory;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_symbolicate_module);
    memory = &smcf->worker->memory;

    if (memory->limit && memory->used >= memory->limit) {
        return 1;
    }

    return loader->npending >= NGX_SYMBOLICATE_PENDING_MAX
           || lane->npending >= NGX_SYMBOLICATE_PENDING_MAX - loader->npending
           || loader->nout >= NGX_SYMBOLICATE_OUT_MAX / 2;
}


static void
ngx_http_symbolicate_pending_ensure(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_ENSURE);

    if (pending->for_peer) {
        ngx_http_symbolicate_pending_ask(pending, SYM_RPC_FOR_PEER);
    }
}


ngx_int_t
ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module)
{
    ngx_http_symbolicate_pending_t     *pending;
    ngx_http_symbolicate_waiter_t      *waiter;
    ngx_http_symbolicate_pending_key_t  key;

        /* while the worker reconnects, new requests wait, too */

    if (ngx_http_symbolicate_loader_connect(loader) != NGX_OK
        && ngx_http_symbolicate_loader_expect(loader) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_pending_key(loader, wanted, &key);
    pending = ngx_http_symbolicate_pending_find(loader, &key);

    if (pending == NULL
        && ngx_http_symbolicate_pending_is_busy(loader,
                   ngx_http_symbolicate_lane_of(wanted->source,
                                                policy->for_peers)))
    {
        return NGX_BUSY;
    }

    if (pending == NULL) {
        pending = ngx_http_symbolicate_pending_create(loader, policy, &key);
        if (pending == NULL) {
            return NGX_ERROR;
        }

        ngx_http_symbolicate_pending_ensure(pending);

    } else {
        ngx_http_symbolicate_count_join();

        if (policy->for_peers && !pending->for_peer) {
            ngx_http_symbolicate_pending_ask(pending, SYM_RPC_FOR_PEER);
            ngx_http_symbolicate_pending_for_peer(pending);
        }
    }

    waiter = ngx_alloc(sizeof(ngx_http_symbolicate_waiter_t), ngx_cycle->log);
    if (waiter == NULL) {
        return NGX_ERROR;
    }

    waiter->pending = pending;
    waiter->wait = wait;
    waiter->module = module;

    ngx_queue_insert_tail(&pending->waiters, &waiter->of_pending);
    ngx_queue_insert_tail(&wait->waiters, &waiter->of_wait);
    wait->pending++;

    if (ngx_queue_head(&pending->waiters) == &waiter->of_pending) {
        ngx_http_symbolicate_pending_adopted(pending);
        ngx_http_symbolicate_pending_abandon(pending, 0);
        ngx_http_symbolicate_slot_move(&pending->slot, wait);
    }

    ngx_http_symbolicate_pending_busy(pending);

    return NGX_OK;
}


/*
 * Resets fetches of an earlier connection: they may have been invalidated
 * since, and the loader does not know of them.
 */
static void
ngx_http_symbolicate_pending_doubt(ngx_http_symbolicate_pending_t *pending)
{
    pending->asked = 0;
    ngx_memzero(&pending->lease, sizeof(ngx_http_symbolicate_lease_t));

    if (pending->fetch == NULL) {
        ngx_http_symbolicate_slot_leave(&pending->slot);

    } else if (ngx_http_symbolicate_pending_drop(pending) != NGX_OK) {
        pending->stale = 1;
    }
}


static void
ngx_http_symbolicate_pending_ask_again(ngx_http_symbolicate_pending_t *pending,
    void *data)
{
    pending->elected = 0;

    ngx_http_symbolicate_pending_doubt(pending);
    ngx_http_symbolicate_pending_ensure(pending);

    pending->abandon_sent = 0;
    ngx_http_symbolicate_pending_abandon(pending,
                                      ngx_queue_empty(&pending->waiters));
}


void
ngx_http_symbolicate_pending_connected(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_pending_each(loader,
                                      ngx_http_symbolicate_pending_ask_again,
                                      NULL);
    ngx_http_symbolicate_pending_next();
}


static void
ngx_http_symbolicate_waiter_free(ngx_http_symbolicate_waiter_t *waiter)
{
    ngx_queue_remove(&waiter->of_pending);
    ngx_queue_remove(&waiter->of_wait);

    waiter->wait->pending--;

    ngx_free(waiter);
}


static void
ngx_http_symbolicate_pending_settled(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_message_t *m)
{
    ngx_queue_t                    *q;
    ngx_uint_t                      module;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_http_symbolicate_waiter_t  *waiter;

    while (!ngx_queue_empty(&pending->waiters)) {
        q = ngx_queue_head(&pending->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_pending);

        wait = waiter->wait;
        module = waiter->module;

        ngx_http_symbolicate_waiter_free(waiter);

        wait->settled(wait->data, module, m);

        if (wait->pending == 0) {
            wait->resume(wait->data);
        }
    }

    ngx_http_symbolicate_pending_free(pending);
}


static void
ngx_http_symbolicate_pending_fail(ngx_http_symbolicate_pending_t *pending,
    void *data)
{
    pending->elected = 0;
    ngx_http_symbolicate_pending_settled(pending, data);
}


void
ngx_http_symbolicate_pending_unavailable(
    ngx_http_symbolicate_loader_t *loader, const char *reason)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_NEGATIVE;
    m.state = SYM_MODULE_FAILED;
    m.flags = NGX_SYMBOLICATE_NO_LOADER;
    m.ttl.failed = 1;
    m.text = sym_cstr(reason);

    ngx_http_symbolicate_pending_each(loader, ngx_http_symbolicate_pending_fail,
                                      &m);
}


/* Ends a request's wait for a fetch. */
static void
ngx_http_symbolicate_pending_left(ngx_http_symbolicate_pending_t *pending,
    ngx_uint_t keep)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_waiter_t  *waiter;

    if (!ngx_queue_empty(&pending->waiters)) {
        q = ngx_queue_head(&pending->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_pending);

        ngx_http_symbolicate_slot_move(&pending->slot, waiter->wait);
        return;
    }

    /* searches of requests must not wait for a fetch that only warms */

    if (ngx_exiting || pending->is.shared
        || (!keep && pending->fetch == NULL))
    {

        if (ngx_http_symbolicate_pending_give_up(pending) == NGX_OK) {
            return;
        }
    }

    ngx_http_symbolicate_slot_move(&pending->slot, NULL);
    ngx_http_symbolicate_pending_busy(pending);
    ngx_http_symbolicate_pending_set_abandoned(pending);
    ngx_http_symbolicate_pending_abandon(pending, 1);
}


void
ngx_http_symbolicate_pending_leave(ngx_http_symbolicate_wait_t *wait,
    ngx_uint_t keep)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_pending_t *pending;
    ngx_http_symbolicate_waiter_t  *waiter;

    while (!ngx_queue_empty(&wait->waiters)) {
        q = ngx_queue_head(&wait->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_wait);
        pending = waiter->pending;

        ngx_http_symbolicate_waiter_free(waiter);

        ngx_http_symbolicate_pending_left(pending, keep);
    }

    if (!ngx_exiting) {
        ngx_http_symbolicate_pending_next();
    }
}


/* Finds or creates a fetch.  NULL: out of memory. */
static ngx_http_symbolicate_companion_t *
ngx_http_symbolicate_pending_companion(sym_rpc_message_t *m)
{
    size_t                             len;
    char                               bytes[SYM_REF_BYTES_MAX];
    ngx_http_symbolicate_companion_t  *companion;

    len = sym_object_ref_write(&m->ref, bytes);

    companion = ngx_calloc(sizeof(ngx_http_symbolicate_companion_t) + len,
                           ngx_cycle->log);
    if (companion == NULL) {
        return NULL;
    }

    companion->kind = m->kind;
    companion->nref = len;
    ngx_memcpy(companion->ref_bytes, bytes, len);

    (void) sym_object_ref_read(sym_str(companion->ref_bytes, len),
                               &companion->ref);

    return companion;
}


/* Whether both are the same companion; NULL: the module itself. */
static ngx_uint_t
ngx_http_symbolicate_pending_is_same(ngx_http_symbolicate_companion_t *a,
    ngx_http_symbolicate_companion_t *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }

    return a->kind == b->kind
           && sym_str_eq(sym_str(a->ref_bytes, a->nref),
                         sym_str(b->ref_bytes, b->nref));
}


/*
 * The artifacts that this worker, or another one, got from another node are
 * unusable or too large, or lack the requested one.
 */
static void
ngx_http_symbolicate_pending_unshare(ngx_http_symbolicate_pending_t *pending,
    uint32_t flags)
{
    if (pending->shared_from == 0) {
        pending->shared_from = NGX_SYMBOLICATE_OF_BUCKET
                               | NGX_SYMBOLICATE_OF_PEER;
    }

    if (pending->shared_from & NGX_SYMBOLICATE_OF_BUCKET) {
        pending->unusable |= (flags & SYM_RPC_UNUSABLE) ? 1 : 0;
        pending->lacking |= (flags & SYM_RPC_LACKING) ? 1 : 0;
    }

    pending->unshared |= pending->shared_from;
    pending->shared_from = 0;

    if (pending->fetch && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
    {
        pending->stale = 1;
    }
}


/* Drops a fetch for another file than the one that is needed now. */
static void
ngx_http_symbolicate_pending_sent(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_companion_t  *companion;

    companion = m->kind ? ngx_http_symbolicate_pending_companion(m) : NULL;

    if (m->kind && companion == NULL) {
        ngx_http_symbolicate_pending_refuse(pending, SYM_MODULE_FAILED,
                                            "out of memory");
        return;
    }

    if (!ngx_http_symbolicate_pending_is_same(pending->companion, companion)) {
        pending->asked = 0;
        ngx_memzero(&pending->lease, sizeof(ngx_http_symbolicate_lease_t));

        if (pending->fetch
            && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
        {
            pending->stale = 1;
        }
    }

    if (pending->companion) {
        ngx_free(pending->companion);
    }

    pending->companion = companion;
    pending->places = m->places;

    if (m->flags & (SYM_RPC_UNUSABLE|SYM_RPC_LACKING)) {
        ngx_http_symbolicate_pending_unshare(pending, m->flags);
    }

    ngx_http_symbolicate_pending_elected(pending,
                       ngx_min(m->length, (uint64_t) NGX_MAX_OFF_T_VALUE));
}


void
ngx_http_symbolicate_pending_message(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_pending_t  *pending;

    pending = ngx_http_symbolicate_pending_of(loader, m->ticket);

    if (pending == NULL || pending->settled) {

        /*
         * the request was cancelled in the meantime, but an election must be
         * answered
         */

        if (m->type == SYM_RPC_FETCH) {
            m->type = SYM_RPC_CANCEL;
            ngx_http_symbolicate_loader_send(loader, m, -1);
        }

        return;
    }

    switch (m->type) {

    case SYM_RPC_FETCH:
        ngx_http_symbolicate_pending_sent(pending, m);
        break;

    case SYM_RPC_FOR_PEER:
        ngx_http_symbolicate_pending_for_peer(pending);
        break;

    case SYM_RPC_RECLAIM:
        ngx_http_symbolicate_pending_reclaim(pending);
        ngx_http_symbolicate_pending_next();
        break;

    case SYM_RPC_READY:
    case SYM_RPC_NEGATIVE:

        /* that its file lacks a kind is worth knowing, too */

        if (pending->publish) {
            ngx_http_symbolicate_publish_start(pending->publish);
            pending->publish = NULL;
        }

        ngx_http_symbolicate_pending_settled(pending, m);
        ngx_http_symbolicate_pending_next();
        break;

    default:
        break;
    }
}
