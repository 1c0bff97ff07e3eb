
/*
 * ngx_http_symbolicate_pending_table.c - the pending fetches of a worker, by
 * module and by ticket.
 *
 * A pending fetch is for one module from one source, however many requests wait
 * for it.
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
#include "schedule/ngx_http_symbolicate_pending_state.h"
#include "schedule/ngx_http_symbolicate_pending_table.h"


/* Approximate size of the messages of a pending fetch. */
#define NGX_SYMBOLICATE_PENDING_REST  2048


void
ngx_http_symbolicate_pending_key(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_pending_key_t *key)
{
    sym_hash_state_t  s;

    key->wanted = wanted;
    key->len = sym_object_ref_write(wanted->ref, key->ref);

    s = sym_hash_begin(&loader->hash_key);

    sym_hash_add(&s, sym_str((char *) wanted->source->name.data,
                             wanted->source->name.len));
    sym_hash_add(&s, sym_str(key->ref, key->len));

    key->hash = sym_hash_end(s);
}


/* Whether the sources are equal, even if they belong to different requests. */
static ngx_uint_t
ngx_http_symbolicate_pending_is(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_pending_key_t *key)
{
    return pending->is.kind == key->wanted->kind
           && pending->is.shared == key->wanted->shared
           && pending->is.source->name.len == key->wanted->source->name.len
           && ngx_memcmp(pending->is.source->name.data,
                         key->wanted->source->name.data,
                         key->wanted->source->name.len)
              == 0
           && pending->nref == key->len
           && ngx_memcmp(pending->ref_bytes, key->ref, key->len) == 0;
}


ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_find(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_pending_key_t *key)
{
    ngx_rbtree_node_t            *node, *sentinel;
    ngx_http_symbolicate_pending_t  *pending;

    node = loader->keys.root;
    sentinel = loader->keys.sentinel;

    /* nodes with the same hash are to the right of each other */

    while (node != sentinel) {

        if (key->hash != node->key) {
            node = key->hash < node->key ? node->left : node->right;
            continue;
        }

        pending = (ngx_http_symbolicate_pending_t *)
               ((u_char *) node - offsetof(ngx_http_symbolicate_pending_t,
                                           by_key));

        if (!pending->settled
            && ngx_http_symbolicate_pending_is(pending, key))
        {
            return pending;
        }

        node = node->right;
    }

    return NULL;
}


ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_of(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket)
{
    ngx_rbtree_node_t  *node;

    node = ngx_http_symbolicate_loader_find(&loader->tickets, ticket);

    if (node == NULL) {
        return NULL;
    }

    return (ngx_http_symbolicate_pending_t *)
           ((u_char *) node - offsetof(ngx_http_symbolicate_pending_t,
                                       by_ticket));
}


static off_t
ngx_http_symbolicate_pending_received(ngx_http_symbolicate_slot_t *slot)
{
    ngx_http_symbolicate_pending_t  *pending;

    pending = ngx_queue_data(slot, ngx_http_symbolicate_pending_t, slot);

    return pending->fetch ? ngx_http_symbolicate_fetch_received(pending->fetch)
                          : 0;
}


ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_create(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_pending_key_t *key)
{
    size_t                             size;
    ngx_http_symbolicate_pending_t    *pending;
    ngx_http_symbolicate_main_conf_t  *smcf;

    size = offsetof(ngx_http_symbolicate_pending_t, ref_bytes) + key->len;

    pending = ngx_calloc(size, ngx_cycle->log);
    if (pending == NULL) {
        return NULL;
    }

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_symbolicate_module);

    pending->memory = &smcf->worker->memory;
    pending->bytes = size + NGX_SYMBOLICATE_PENDING_REST;
    sym_account_add(pending->memory, pending->bytes);

    pending->loader = loader;
    pending->policy = policy;
    pending->for_peer = policy->for_peers;

    if (policy->request_sources) {
        policy->hold(policy->request_sources);
    }

    pending->lane = ngx_http_symbolicate_lane_of(key->wanted->source,
                                                 policy->for_peers);

    pending->nref = key->len;
    ngx_memcpy(pending->ref_bytes, key->ref, key->len);
    (void) sym_object_ref_read(sym_str(pending->ref_bytes, key->len),
                               &pending->ref);

    pending->is = *key->wanted;
    pending->is.ref = &pending->ref;

    ngx_queue_init(&pending->waiters);
    pending->slot.received = ngx_http_symbolicate_pending_received;

    pending->by_ticket.key = ngx_http_symbolicate_loader_ticket(loader);
    pending->by_key.key = key->hash;

    ngx_rbtree_insert(&loader->keys, &pending->by_key);
    ngx_rbtree_insert(&loader->tickets, &pending->by_ticket);
    loader->npending++;
    pending->lane->npending++;

    return pending;
}


/* Keeps the worker from ending while a request waits. */
void
ngx_http_symbolicate_pending_busy(ngx_http_symbolicate_pending_t *pending)
{
    ngx_uint_t  busy;

    busy = !ngx_queue_empty(&pending->waiters);

    if (busy != pending->busy) {
        pending->busy = busy;
        pending->loader->nbusy += busy ? 1 : -1;
        ngx_http_symbolicate_loader_idle(pending->loader);
    }
}


void
ngx_http_symbolicate_pending_adopted(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->abandoned) {
        pending->abandoned = 0;
        ngx_queue_remove(&pending->of_abandoned);
    }
}


/* NGX_AGAIN: the download cannot be aborted now. */
ngx_int_t
ngx_http_symbolicate_pending_drop(ngx_http_symbolicate_pending_t *pending)
{
    if (ngx_http_symbolicate_fetch_free(pending->fetch) != NGX_OK) {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_slot_leave(&pending->slot);

    pending->fetch = NULL;
    pending->fetched = 0;
    pending->stale = 0;

    return NGX_OK;
}


/*
 * Frees a fetch.  If its download cannot be aborted now, it is freed at the
 * download's end.
 */
void
ngx_http_symbolicate_pending_free(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = pending->loader;

    pending->settled = 1;
    ngx_http_symbolicate_pending_busy(pending);

    if (pending->fetch
        && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
    {
        ngx_http_symbolicate_slot_move(&pending->slot, NULL);
        return;
    }

    ngx_http_symbolicate_pending_adopted(pending);
    ngx_http_symbolicate_slot_leave(&pending->slot);

    if (pending->companion) {
        ngx_free(pending->companion);
    }

    ngx_http_symbolicate_publish_free(pending->publish);

    ngx_rbtree_delete(&loader->keys, &pending->by_key);
    ngx_rbtree_delete(&loader->tickets, &pending->by_ticket);
    loader->npending--;
    pending->lane->npending--;
    sym_account_give(pending->memory, pending->bytes);

    if (pending->policy->request_sources) {
        pending->policy->release(pending->policy->request_sources);
    }

    ngx_free(pending);
}


/*
 * Returns the pending fetch with the next ticket, from `ticket` on; NULL: no
 * more.
 */
static ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_from(ngx_http_symbolicate_loader_t *loader,
    ngx_rbtree_key_t ticket)
{
    ngx_rbtree_node_t  *node, *best;

    best = NULL;
    node = loader->tickets.root;

    while (node != loader->tickets.sentinel) {

        if (node->key < ticket) {
            node = node->right;
            continue;
        }

        best = node;
        node = node->left;
    }

    return best ? (ngx_http_symbolicate_pending_t *)
                  ((u_char *) best - offsetof(ngx_http_symbolicate_pending_t,
                                              by_ticket))
                : NULL;
}


/* Visits all unsettled fetches.  visit() may free any of them.  It may add
 * others, which are not visited unless tickets have wrapped around. */
void
ngx_http_symbolicate_pending_each(ngx_http_symbolicate_loader_t *loader,
    void (*visit)(ngx_http_symbolicate_pending_t *pending, void *data),
    void *data)
{
    ngx_rbtree_key_t                 ticket, last;
    ngx_rbtree_node_t               *node;
    ngx_http_symbolicate_pending_t  *pending;

    last = 0;

    for (node = loader->tickets.root;
         node != loader->tickets.sentinel;
         node = node->right)
    {
        last = node->key;
    }

    pending = ngx_http_symbolicate_pending_from(loader, 0);

    while (pending && pending->by_ticket.key <= last) {
        ticket = pending->by_ticket.key;

        if (!pending->settled) {
            visit(pending, data);
        }

        pending = ngx_http_symbolicate_pending_from(loader, ticket + 1);
    }
}
