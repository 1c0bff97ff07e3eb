
/*
 * ngx_http_symbolicate_pending_fetch.c - downloads a module: manages its slot,
 * its lease and its outcome.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "schedule/ngx_http_symbolicate_pending_fetch.h"
#include "schedule/ngx_http_symbolicate_pending_abandoned.h"
#include "schedule/ngx_http_symbolicate_pending_send.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"
#include "schedule/ngx_http_symbolicate_pending_table.h"


static void ngx_http_symbolicate_pending_more(void *data, off_t need);
static void ngx_http_symbolicate_pending_tick(void *data);
static void ngx_http_symbolicate_pending_fetched(void *data);


static ngx_http_symbolicate_fetch_events_t
    ngx_http_symbolicate_pending_fetch_events =
{
    ngx_http_symbolicate_pending_more,
    ngx_http_symbolicate_pending_tick,
    ngx_http_symbolicate_pending_fetched
};


/*
 * Types of files that a companion may have: a bit for each sym_source_file_t.
 */
static ngx_uint_t
ngx_http_symbolicate_pending_files(uint32_t kind)
{
    switch (kind) {

    case SYM_RPC_SUPPLEMENT:
        return 1 << SYM_SOURCE_ELF_DEBUG;

    case SYM_RPC_UUID_MAP:
        return 1 << SYM_SOURCE_UUIDMAP;

    case SYM_RPC_SYMBOL_MAP:
        return 1 << SYM_SOURCE_BCSYMBOLMAP;

    case SYM_RPC_LINE_MAP:
        return 1 << SYM_SOURCE_IL2CPP;

    default:
        return 0;
    }
}


/* Artifacts of request sources, and companions, are not shared. */
static ngx_http_symbolicate_shared_t *
ngx_http_symbolicate_pending_share(ngx_http_symbolicate_pending_t *pending)
{
    return pending->companion || pending->policy->request_sources
           ? NULL : pending->policy->share;
}


static ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_pending_fetch(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_object_t      object;
    ngx_http_symbolicate_companion_t  *companion;

    companion = pending->companion;

    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    object.first = pending->is.source;
    object.places = pending->places;
    object.companion = (companion != NULL);
    object.kind = pending->is.kind;
    object.share = ngx_http_symbolicate_pending_share(pending);
    object.without = pending->unshared
                     | (pending->for_peer ? NGX_SYMBOLICATE_OF_PEER : 0);
    object.only_bucket = pending->is.shared;

    if (companion == NULL) {
        object.ref = &pending->ref;
        object.order = pending->is.thorough
                       || sym_kind_wants_code(pending->is.kind)
                       ? SYM_CODE_FILES_FIRST : SYM_DEBUG_FILES_FIRST;
        object.files = sym_kind_files(pending->is.kind, pending->ref.type)
                       & ~pending->is.without;

    } else {

        /* files of other sources must not become part of a record that clients
         * without those sources see */

        object.others = pending->policy->request_sources == NULL;
        object.ref = &companion->ref;
        object.order = SYM_DEBUG_FILES_FIRST;
        object.files = ngx_http_symbolicate_pending_files(companion->kind);
    }

    return ngx_http_symbolicate_fetch_start(
                                    &ngx_http_symbolicate_pending_fetch_events,
                                    pending, pending->policy, &object,
                                    &pending->lease);
}


/* Begins the fetches that have a slot now. */
void
ngx_http_symbolicate_pending_next(void)
{
    ngx_http_symbolicate_pending_t       *pending;
    ngx_http_symbolicate_slot_t       *slot;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_symbolicate_module);

    for ( ;; ) {
        slot = ngx_http_symbolicate_slot_next(smcf->fetch_concurrency);

        if (slot) {
            pending = ngx_queue_data(slot, ngx_http_symbolicate_pending_t,
                                     slot);
            pending->fetch = ngx_http_symbolicate_pending_fetch(pending);

            if (pending->fetch == NULL) {
                ngx_http_symbolicate_slot_leave(slot);
                ngx_http_symbolicate_pending_refuse(pending, SYM_MODULE_FAILED,
                                                    "out of memory");
            }

            continue;
        }

        slot = ngx_http_symbolicate_slot_victim(smcf->fetch_concurrency);

        if (slot == NULL) {
            return;
        }

        pending = ngx_queue_data(slot, ngx_http_symbolicate_pending_t, slot);

        if (ngx_http_symbolicate_pending_give_up(pending) != NGX_OK) {
            return;
        }
    }
}


/*
 * Size of the lease to request; for a body of unknown length, twice the current
 * one, if available.
 */
static off_t
ngx_http_symbolicate_pending_need(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_fetch_result_t *out)
{
    if (!out->unsized || pending->lease.whole) {
        return out->need;
    }

    return ngx_max(out->need, pending->lease.bytes * 2);
}


/* When the file has been read, other nodes get what it gave. */
static void
ngx_http_symbolicate_pending_publish(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_fetch_result_t *out)
{
    ngx_http_symbolicate_publish_free(pending->publish);
    pending->publish = NULL;

    if (out->shared || pending->companion || pending->policy->request_sources) {
        return;
    }

    pending->publish = ngx_http_symbolicate_publish_create(pending->loader,
                                                    pending->policy,
                                                    pending->is.source,
                                                    &pending->ref, out->path,
                                                    pending->unusable,
                                                    pending->lacking
                                                    ? pending->is.kind : 0);
}


/*
 * No node has made it.  The loader may elect a client that asks sources; for
 * this one the search has ended.
 */
static void
ngx_http_symbolicate_pending_give_back(ngx_http_symbolicate_pending_t *pending)
{
    sym_rpc_message_t  m;

    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_CANCEL);

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_NEGATIVE;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.state = SYM_MODULE_ABSENT;

    pending->loader->events->message(pending->loader, &m);
}


/* Reports the outcome of a fetch to the loader. */
static void
ngx_http_symbolicate_pending_report(ngx_http_symbolicate_pending_t *pending)
{
    ngx_fd_t                              fd;
    sym_rpc_message_t                     m;
    ngx_http_symbolicate_fetch_result_t  *out;

    out = ngx_http_symbolicate_fetch_result(pending->fetch);
    fd = -1;
    pending->shared_from = ngx_http_symbolicate_fetch_asked(pending->fetch);

    if (pending->is.shared && out->state != SYM_MODULE_READY
        && out->need <= pending->lease.bytes)
    {
        ngx_http_symbolicate_pending_give_back(pending);
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.ticket = (uint32_t) pending->by_ticket.key;
    m.ttl = ngx_http_symbolicate_pending_ttl(pending);

    if (out->absent != -1) {
        m.ttl.absent = ngx_min(m.ttl.absent, (uint32_t) out->absent);
    }

    m.outcomes = sym_str((char *) out->outcomes.data, out->outcomes.len);

    if (out->need > pending->lease.bytes) {
        m.type = SYM_RPC_MORE;
        m.length = ngx_http_symbolicate_pending_need(pending, out);
        m.places = pending->shared_from ? 0 : out->place;
        pending->asked = m.length;

    } else if (out->state == SYM_MODULE_READY) {
        m.type = SYM_RPC_INGEST;
        m.flags = out->shared ? SYM_RPC_SHARED : 0;
        m.offset = out->offset;
        m.length = out->length;
        m.source = sym_str((char *) out->source.data, out->source.len);
        m.reference = sym_str((char *) out->reference.data, out->reference.len);
        fd = out->fd;
        ngx_http_symbolicate_pending_publish(pending, out);

    } else {
        m.type = SYM_RPC_NONE;
        m.state = out->state;
        m.text = sym_str((char *) out->reason.data, out->reason.len);
    }

    pending->elected = 0;
    ngx_http_symbolicate_loader_send(pending->loader, &m, fd);

    (void) ngx_http_symbolicate_pending_drop(pending);
}


/* Appends the fetch to those of its lane that wait for a slot. */
static void
ngx_http_symbolicate_pending_line_up(ngx_http_symbolicate_pending_t *pending)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_http_symbolicate_waiter_t  *waiter;

    wait = NULL;

    if (!ngx_queue_empty(&pending->waiters)) {
        q = ngx_queue_head(&pending->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_pending);
        wait = waiter->wait;
    }

    if (ngx_http_symbolicate_slot_queue(&pending->slot, pending->lane, wait)
        != NGX_OK)
    {
        ngx_http_symbolicate_pending_refuse(pending, SYM_MODULE_FAILED,
                                            "out of memory");
        return;
    }

    ngx_http_symbolicate_pending_next();
}


void
ngx_http_symbolicate_pending_for_peer(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->for_peer) {
        return;
    }

    pending->for_peer = 1;

    pending->lane->npending--;
    pending->lane = ngx_http_symbolicate_lane_of(pending->is.source, 1);
    pending->lane->npending++;

    if (pending->fetch == NULL) {

        if (pending->slot.share) {
            ngx_http_symbolicate_slot_leave(&pending->slot);
            ngx_http_symbolicate_pending_line_up(pending);
        }

        return;
    }

    /* nodes with different lists of peers may wait for each other */

    if (ngx_http_symbolicate_fetch_alone(pending->fetch) && pending->elected
        && !pending->fetched
        && ngx_http_symbolicate_pending_drop(pending) == NGX_OK)
    {
        ngx_http_symbolicate_pending_line_up(pending);
    }
}


static void
ngx_http_symbolicate_pending_queue(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->fetch) {

        if (!pending->stale) {
            ngx_http_symbolicate_fetch_lend(pending->fetch, &pending->lease);
        }

        return;
    }

    if (pending->slot.share == NULL) {
        ngx_http_symbolicate_pending_line_up(pending);
    }
}


static void
ngx_http_symbolicate_pending_granted(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_fetch_result_t  *out;

    /* the fetch ended while it waited for a larger lease */

    if (pending->fetched) {
        out = ngx_http_symbolicate_fetch_result(pending->fetch);

        if (out->need == 0 || out->need > pending->lease.bytes) {
            ngx_http_symbolicate_pending_report(pending);
            return;
        }

        (void) ngx_http_symbolicate_pending_drop(pending);
    }

    ngx_http_symbolicate_pending_queue(pending);
}


/* A lease that is smaller than requested is all that is available. */
void
ngx_http_symbolicate_pending_elected(ngx_http_symbolicate_pending_t *pending,
    off_t bytes)
{
    pending->elected = 1;
    pending->lease.whole = bytes < pending->asked
                        || (pending->lease.whole
                            && bytes == pending->lease.bytes);
    pending->lease.bytes = bytes;
    pending->asked = 0;

    ngx_http_symbolicate_pending_granted(pending);
}


/* Frees the slot, for which other fetches may wait. */
static void
ngx_http_symbolicate_pending_tick(void *data)
{
    ngx_http_symbolicate_pending_next();
}


/* Requests a larger lease for a running download. */
static void
ngx_http_symbolicate_pending_more(void *data, off_t need)
{
    ngx_http_symbolicate_pending_t *pending = data;

    sym_rpc_message_t  m;

    if (!pending->elected || pending->settled || pending->stale) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_MORE;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.length = need;
    pending->shared_from = ngx_http_symbolicate_fetch_asked(pending->fetch);
    m.places = pending->shared_from
               ? 0 : ngx_http_symbolicate_fetch_place(pending->fetch);

    /* set until the request has been answered */

    pending->elected = 0;
    pending->asked = need;
    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


static void
ngx_http_symbolicate_pending_fetched(void *data)
{
    ngx_http_symbolicate_pending_t *pending = data;

    ngx_http_symbolicate_slot_leave(&pending->slot);
    pending->fetched = 1;

    if (pending->settled) {
        ngx_http_symbolicate_pending_free(pending);

    } else if (pending->stale
               || ngx_http_symbolicate_fetch_result(pending->fetch)->useless)
    {
        if (!pending->stale) {
            pending->unshared |=
                            ngx_http_symbolicate_fetch_asked(pending->fetch);
        }

        (void) ngx_http_symbolicate_pending_drop(pending);

        if (pending->elected) {
            ngx_http_symbolicate_pending_queue(pending);
        }

    } else if (pending->elected) {
        ngx_http_symbolicate_pending_granted(pending);
    }

    /*
     * otherwise it waits for a larger lease, and the loader elects the next
     * client
     */

    ngx_http_symbolicate_pending_next();
}
