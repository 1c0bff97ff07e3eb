
/*
 * ngx_http_symbolicate_pending.c - modules that requests of this worker wait
 * for.
 *
 * A pending fetch is one module of one source, however many requests wait for
 * it.  It lives from the first request that misses the module until the loader
 * tells the outcome.  Without a waiting request it ends earlier: at once if no
 * fetch has begun, or when its fetch had to give up its place.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/attempts.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request_sources/ngx_http_symbolicate_given.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending.h"


/* Fewer than the loader allows; their messages fit into the queue of messages
 * that wait for the loader. */
#define NGX_SYMBOLICATE_PENDING_MAX  (NGX_SYMBOLICATE_OUT_MAX / 2)

/* Bytes of a pending fetch besides its own: of messages and attempts, about. */
#define NGX_SYMBOLICATE_PENDING_REST  2048


/* A companion file of the module. */
typedef struct {
    size_t                          nname;
    size_t                          nid;
    char                            name[SYM_NAME_MAX];
    char                            id[2 * SYM_BUILD_ID_MAX];
    sym_source_file_t               file;
    sym_object_ref_t                 object;      /* of a map: by which sources
                                                  * know it */
} ngx_http_symbolicate_also_t;


struct ngx_http_symbolicate_pending_s {
    ngx_rbtree_node_t               by_key;
    ngx_rbtree_node_t               by_ticket;

    ngx_http_symbolicate_loader_t  *loader;
    ngx_http_symbolicate_fetch_policy_t     *policy;

    ngx_http_symbolicate_wanted_t   is;          /* its texts in `text` */
    sym_object_ref_t                 object;      /* of it */

    ngx_queue_t                     waiters;
    ngx_queue_t                     of_orphans;  /* the loader's, while nobody
                                                  * waits */
    ngx_msec_t                      since;       /* then */

    ngx_http_symbolicate_lane_t    *lane;
    ngx_http_symbolicate_slot_t     slot;
    ngx_http_symbolicate_lease_t    lease;
    off_t                           asked;       /* for a larger one; 0: for
                                                  * none */
    ngx_http_symbolicate_fetch_t   *fetch;

    ngx_uint_t                      next;        /* where the search goes on */
    ngx_str_t                       attempts;    /* before that; allocated */

    ngx_http_symbolicate_also_t    *also;        /* not the module is to be
                                                  * fetched, but this */

    sym_account_t                  *memory;      /* the worker's, charged with
                                                  * this */
    size_t                          bytes;

    unsigned                        elected:1;   /* by the present connection */
    unsigned                        fetched:1;   /* its fetch has ended */
    unsigned                        stale:1;     /* what its fetch brings is of
                                                  * no use */
    unsigned                        orphan:1;
    unsigned                        abandoned:1; /* the loader was told so */
    unsigned                        settled:1;   /* freed when its fetch ends */
    unsigned                        busy:1;      /* counted in the loader */

    u_char                          text[1];
};


/* A request that waits for a pending fetch. */
typedef struct {
    ngx_queue_t                     of_pending;
    ngx_queue_t                     of_wait;
    ngx_http_symbolicate_pending_t *pending;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_uint_t                      module;
} ngx_http_symbolicate_waiter_t;


static ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_find(
    ngx_http_symbolicate_loader_t *loader, ngx_rbtree_key_t hash,
    ngx_http_symbolicate_wanted_t *wanted);
static ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_create(
    ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_rbtree_key_t hash, ngx_http_symbolicate_wanted_t *wanted);
static void ngx_http_symbolicate_pending_restart(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_free(
    ngx_http_symbolicate_pending_t *pending);
static ngx_int_t ngx_http_symbolicate_pending_give_up(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_busy(
    ngx_http_symbolicate_pending_t *pending);
static ngx_uint_t ngx_http_symbolicate_pending_is_busy(
    ngx_http_symbolicate_loader_t *loader, ngx_http_symbolicate_lane_t *lane);
static void ngx_http_symbolicate_pending_ask(
    ngx_http_symbolicate_pending_t *pending,
    sym_rpc_type_t type);
static void ngx_http_symbolicate_pending_abandon(
    ngx_http_symbolicate_pending_t *pending, ngx_uint_t abandoned);
static void ngx_http_symbolicate_pending_reclaim(
    ngx_http_symbolicate_pending_t *pending);
static uint32_t ngx_http_symbolicate_pending_features(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_rate(
    ngx_http_symbolicate_pending_t *pending, uint32_t features);
static void ngx_http_symbolicate_pending_doubt(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_left(
    ngx_http_symbolicate_pending_t *pending,
    ngx_uint_t keep);
static void ngx_http_symbolicate_pending_sent(
    ngx_http_symbolicate_pending_t *pending,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_pending_elected(
    ngx_http_symbolicate_pending_t *pending, off_t bytes);
static void ngx_http_symbolicate_pending_granted(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_queue(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_refuse(
    ngx_http_symbolicate_pending_t *pending,
    sym_module_state_t state, const char *reason);
static ngx_int_t ngx_http_symbolicate_pending_drop(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_settled(
    ngx_http_symbolicate_pending_t *pending, sym_rpc_message_t *m);
static void ngx_http_symbolicate_pending_orphaned(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_adopted(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_report(
    ngx_http_symbolicate_pending_t *pending);
static void ngx_http_symbolicate_pending_forget(ngx_event_t *ev);
static void ngx_http_symbolicate_pending_next(void);
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


static ngx_rbtree_key_t
ngx_http_symbolicate_pending_hash(ngx_http_symbolicate_loader_t *loader,
    sym_module_key_t *key)
{
    sym_hash_state_t  s;

    s = sym_hash_begin(&loader->hash_key);

    sym_hash_add(&s, key->scope);
    sym_hash_add(&s, key->name);
    sym_hash_add(&s, key->id);
    sym_hash_add(&s, key->variant);

    return sym_hash_end(s);
}


ngx_int_t
ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module)
{
    ngx_rbtree_key_t                hash;
    ngx_http_symbolicate_pending_t *pending;
    ngx_http_symbolicate_waiter_t  *waiter;

        /* while the worker tries to connect, further requests wait, too */

    if (ngx_http_symbolicate_loader_connect(loader) != NGX_OK
        && ngx_http_symbolicate_loader_expect(loader) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    hash = ngx_http_symbolicate_pending_hash(loader, &wanted->key);
    pending = ngx_http_symbolicate_pending_find(loader, hash, wanted);

    if (pending == NULL
        && ngx_http_symbolicate_pending_is_busy(loader,
                                ngx_http_symbolicate_lane_of(wanted->source)))
    {
        return NGX_BUSY;
    }

    if (pending == NULL) {
        pending = ngx_http_symbolicate_pending_create(loader, policy, hash,
                                                      wanted);
        if (pending == NULL) {
            return NGX_ERROR;
        }

        ngx_http_symbolicate_pending_ask(pending, SYM_RPC_ENSURE);

    } else {
        ngx_http_symbolicate_count_join();
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


/* A source may have as many as it leaves free, so that a stalled source leaves
 * some for the others. */
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


/* A code id that only one of them has says nothing; a variant has its own in
 * it. */
static ngx_uint_t
ngx_http_symbolicate_pending_is(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_wanted_t *wanted)
{
    return pending->is.kind == wanted->kind
           && sym_str_eq(pending->is.key.name, wanted->key.name)
           && sym_str_eq(pending->is.key.id, wanted->key.id)
           && sym_str_eq(pending->is.key.scope, wanted->key.scope)
           && sym_str_eq(pending->is.key.variant, wanted->key.variant)
           && (pending->is.key.code_id.len == 0
               || wanted->key.code_id.len == 0
               || sym_str_eq(pending->is.key.code_id, wanted->key.code_id));
}


static ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_find(ngx_http_symbolicate_loader_t *loader,
    ngx_rbtree_key_t hash, ngx_http_symbolicate_wanted_t *wanted)
{
    ngx_rbtree_node_t            *node, *sentinel;
    ngx_http_symbolicate_pending_t  *pending;

    node = loader->keys.root;
    sentinel = loader->keys.sentinel;

    /* nodes of one hash lie to the right of each other */

    while (node != sentinel) {

        if (hash != node->key) {
            node = hash < node->key ? node->left : node->right;
            continue;
        }

        pending = (ngx_http_symbolicate_pending_t *)
               ((u_char *) node - offsetof(ngx_http_symbolicate_pending_t,
                                           by_key));

        if (!pending->settled
            && ngx_http_symbolicate_pending_is(pending, wanted))
        {
            return pending;
        }

        node = node->right;
    }

    return NULL;
}


static ngx_http_symbolicate_pending_t *
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


static sym_str_t
ngx_http_symbolicate_pending_copy(u_char **p, sym_str_t s)
{
    sym_str_t  copy;

    copy = sym_str((char *) *p, s.len);

    /* an empty one may have no bytes to be read from */

    if (s.len) {
        *p = ngx_cpymem(*p, s.data, s.len);
    }

    return copy;
}


static off_t
ngx_http_symbolicate_pending_received(ngx_http_symbolicate_slot_t *slot)
{
    ngx_http_symbolicate_pending_t  *pending;

    pending = ngx_queue_data(slot, ngx_http_symbolicate_pending_t, slot);

    return pending->fetch ? ngx_http_symbolicate_fetch_received(pending->fetch)
                          : 0;
}


static ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_create(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy, ngx_rbtree_key_t hash,
    ngx_http_symbolicate_wanted_t *wanted)
{
    u_char                       *p;
    size_t                        size;
    sym_module_key_t             *key;
    ngx_http_symbolicate_pending_t  *pending;
    ngx_http_symbolicate_main_conf_t  *smcf;

    key = &wanted->key;

    size = offsetof(ngx_http_symbolicate_pending_t, text)
           + key->scope.len + key->name.len + key->id.len + key->code_id.len
           + key->variant.len + wanted->id.len + wanted->canonical.len;

    if (wanted->object) {
        size += wanted->object->debug_file.len + wanted->object->code_file.len
                + wanted->object->checksum.len + wanted->object->url.len;
    }

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

    if (policy->given) {
        ngx_http_symbolicate_given_hold(policy->given);
    }

    pending->lane = ngx_http_symbolicate_lane_of(wanted->source);

    p = pending->text;
    pending->is.source = wanted->source;
    pending->is.kind = wanted->kind;
    pending->is.key.scope = ngx_http_symbolicate_pending_copy(&p, key->scope);
    pending->is.key.name = ngx_http_symbolicate_pending_copy(&p, key->name);
    pending->is.key.id = ngx_http_symbolicate_pending_copy(&p, key->id);
    pending->is.key.code_id = ngx_http_symbolicate_pending_copy(&p,
                                                               key->code_id);
    pending->is.key.variant = ngx_http_symbolicate_pending_copy(&p,
                                                               key->variant);
    pending->is.id = ngx_http_symbolicate_pending_copy(&p, wanted->id);
    pending->is.canonical = ngx_http_symbolicate_pending_copy(&p,
                                                          wanted->canonical);
    pending->is.without = wanted->without;
    pending->is.thorough = wanted->thorough;

    if (wanted->object) {
        pending->object = *wanted->object;
        pending->is.object = &pending->object;

        pending->object.debug_file =
            ngx_http_symbolicate_pending_copy(&p, wanted->object->debug_file);
        pending->object.code_file =
            ngx_http_symbolicate_pending_copy(&p, wanted->object->code_file);
        pending->object.checksum =
            ngx_http_symbolicate_pending_copy(&p,
                                              wanted->object->checksum);
        pending->object.url =
            ngx_http_symbolicate_pending_copy(&p, wanted->object->url);
    }

    ngx_queue_init(&pending->waiters);
    pending->slot.received = ngx_http_symbolicate_pending_received;

    pending->by_ticket.key = ngx_http_symbolicate_loader_ticket(loader);
    pending->by_key.key = hash;

    ngx_rbtree_insert(&loader->keys, &pending->by_key);
    ngx_rbtree_insert(&loader->tickets, &pending->by_ticket);
    loader->npending++;
    pending->lane->npending++;

    return pending;
}


/* Forgets the offer, and begins the search again. */
static void
ngx_http_symbolicate_pending_restart(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->attempts.data) {
        ngx_free(pending->attempts.data);
    }

    ngx_str_null(&pending->attempts);
    pending->next = 0;
}


/* Sets where the search continues if the file is too poor. */
static void
ngx_http_symbolicate_pending_go_on(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_fetch_result_t *out)
{
    u_char  *copy;

    copy = ngx_alloc(out->attempts.len, ngx_cycle->log);

    ngx_http_symbolicate_pending_restart(pending);

            /* without memory the earlier attempts are not reported */

    if (copy) {
        ngx_memcpy(copy, out->attempts.data, out->attempts.len);
        pending->attempts.data = copy;
        pending->attempts.len = out->attempts.len;
    }

    pending->next = out->next;
}


/* If its fetch cannot be aborted now, the fetch frees it at its end. */
static void
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

    if (pending->also) {
        ngx_free(pending->also);
    }

    ngx_rbtree_delete(&loader->keys, &pending->by_key);
    ngx_rbtree_delete(&loader->tickets, &pending->by_ticket);
    loader->npending--;
    pending->lane->npending--;
    sym_account_give(pending->memory, pending->bytes);

    ngx_http_symbolicate_pending_restart(pending);

    if (pending->policy->given) {
        ngx_http_symbolicate_given_release(pending->policy->given);
    }

    ngx_free(pending);
}


/* No request waits for it.  NGX_AGAIN: its fetch cannot be aborted now. */
static ngx_int_t
ngx_http_symbolicate_pending_give_up(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->settled) {
        return NGX_AGAIN;
    }

    if (pending->fetch
        && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
    {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_CANCEL);
    ngx_http_symbolicate_pending_free(pending);

    return NGX_OK;
}


/* The pending fetch with the lowest ticket from `ticket` on; NULL: no more. */
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


/* Visits all unsettled fetches.  visit() may free any of them; those that it
 * adds are not visited, unless tickets have wrapped around. */
static void
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


/* The worker must not end while a request waits. */
static void
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


static void
ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_type_t type)
{
    sym_rpc_message_t  m;

    if (!pending->loader->welcome) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = type;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.key = pending->is.key;

    if (type == SYM_RPC_ENSURE && pending->is.kind != SYM_KIND_SYMCACHE) {
        m.kind = pending->is.kind;
    }

    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


static void
ngx_http_symbolicate_pending_ask_again(ngx_http_symbolicate_pending_t *pending,
    void *data)
{
    pending->elected = 0;

    ngx_http_symbolicate_pending_restart(pending);
    ngx_http_symbolicate_pending_doubt(pending);
    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_ENSURE);

    pending->abandoned = 0;
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


/* Fetches that began under another connection may have been invalidated since,
 * and the loader of this connection does not know of them. */
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


/* --- what requests do --- */

static void
ngx_http_symbolicate_waiter_free(ngx_http_symbolicate_waiter_t *waiter)
{
    ngx_queue_remove(&waiter->of_pending);
    ngx_queue_remove(&waiter->of_wait);

    waiter->wait->pending--;

    ngx_free(waiter);
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


/* One request less waits for it. */
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

    if (ngx_exiting || (!keep && pending->fetch == NULL)) {

        if (ngx_http_symbolicate_pending_give_up(pending) == NGX_OK) {
            return;
        }
    }

    ngx_http_symbolicate_slot_move(&pending->slot, NULL);
    ngx_http_symbolicate_pending_busy(pending);
    ngx_http_symbolicate_pending_orphaned(pending);
    ngx_http_symbolicate_pending_abandon(pending, 1);
}


/* --- pending fetches that no request waits for --- */

static void
ngx_http_symbolicate_pending_orphaned(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = pending->loader;

    pending->orphan = 1;
    pending->since = ngx_current_msec;
    ngx_queue_insert_tail(&loader->orphans, &pending->of_orphans);

    if (!loader->orphaned.timer_set) {
        loader->orphaned.handler = ngx_http_symbolicate_pending_forget;
        loader->orphaned.data = loader;
        loader->orphaned.log = ngx_cycle->log;
        loader->orphaned.cancelable = 1;

        ngx_add_timer(&loader->orphaned, NGX_SYMBOLICATE_ORPHAN_GRACE);
    }
}


static void
ngx_http_symbolicate_pending_adopted(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->orphan) {
        pending->orphan = 0;
        ngx_queue_remove(&pending->of_orphans);
    }
}


/* The loader has a queue of its own, in which requests go first. */
static void
ngx_http_symbolicate_pending_abandon(ngx_http_symbolicate_pending_t *pending,
    ngx_uint_t abandoned)
{
    sym_rpc_message_t  m;

    if (pending->abandoned == abandoned || pending->settled
        || !pending->loader->welcome)
    {
        return;
    }

    pending->abandoned = abandoned;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_ABANDON;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.flags = abandoned ? 0 : SYM_RPC_ADOPTED;

    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


/* A request of another worker, or one that has not been elected, waits for its
 * lease. */
static void
ngx_http_symbolicate_pending_reclaim(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->abandoned) {
        (void) ngx_http_symbolicate_pending_give_up(pending);
    }
}


/* Its client has not asked again.  The download continues until another fetch
 * needs its place. */
static void
ngx_http_symbolicate_pending_forget(ngx_event_t *ev)
{
    ngx_http_symbolicate_loader_t *loader = ev->data;

    ngx_queue_t                  *q;
    ngx_msec_t                    age;
    ngx_http_symbolicate_pending_t  *pending;

    while (!ngx_queue_empty(&loader->orphans)) {
        q = ngx_queue_head(&loader->orphans);
        pending = ngx_queue_data(q, ngx_http_symbolicate_pending_t, of_orphans);

        age = ngx_current_msec - pending->since;

        if (age < NGX_SYMBOLICATE_ORPHAN_GRACE) {
            ngx_add_timer(ev, NGX_SYMBOLICATE_ORPHAN_GRACE - age);
            return;
        }

        ngx_http_symbolicate_pending_adopted(pending);

        if (pending->fetch == NULL && !pending->settled) {
            (void) ngx_http_symbolicate_pending_give_up(pending);
        }
    }
}


/* --- what the loader says --- */

void
ngx_http_symbolicate_pending_message(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_pending_t  *pending;

    pending = ngx_http_symbolicate_pending_of(loader, m->ticket);

    if (pending == NULL || pending->settled) {

        /* cancelled meanwhile; but an election must not be left open */

        if (m->type == SYM_RPC_FETCH || m->type == SYM_RPC_ALSO) {
            m->type = SYM_RPC_CANCEL;
            ngx_http_symbolicate_loader_send(loader, m, -1);
        }

        return;
    }

    switch (m->type) {

    case SYM_RPC_FETCH:
    case SYM_RPC_ALSO:
        ngx_http_symbolicate_pending_sent(pending, m);
        break;

    case SYM_RPC_RECLAIM:
        ngx_http_symbolicate_pending_reclaim(pending);
        ngx_http_symbolicate_pending_next();
        break;

    case SYM_RPC_READY:
    case SYM_RPC_NEGATIVE:
        ngx_http_symbolicate_pending_settled(pending, m);
        ngx_http_symbolicate_pending_next();
        break;

    default:
        break;
    }
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


/* --- fetches --- */

/* The module itself, as far as its request tells: its map of lines has a path
 * of the module's own ids. */
static void
ngx_http_symbolicate_pending_whole(ngx_http_symbolicate_pending_t *pending,
    sym_object_ref_t *object)
{
    sym_str_t          code_id, name;
    ngx_uint_t         pdb;
    static sym_str_t   suffix = { ".pdb", 4 };

    if (pending->is.object) {
        *object = *pending->is.object;
        return;
    }

    name = pending->is.key.name;
    pdb = name.len > suffix.len
          && ngx_strncasecmp((u_char *) name.data + name.len - suffix.len,
                             (u_char *) suffix.data, suffix.len) == 0;

    /* with an id of either kind, code id first */
    object->type = pdb ? SYM_OBJECT_PE : SYM_OBJECT_MACHO;

    (void) sym_debug_id_read_breakpad(pending->is.key.id, &object->debug_id);

    code_id = sym_source_code_id(pending->is.id, pending->is.key.code_id);
    (void) sym_code_id_read(code_id, &object->code_id);
}


/* False: the companion's kind, name or id is not one of a path at a source. */
static ngx_uint_t
ngx_http_symbolicate_pending_read_also(ngx_http_symbolicate_also_t *also,
    ngx_http_symbolicate_pending_t *pending, sym_rpc_companion_t *want)
{
    sym_str_t  name;

    name = sym_source_name_ok(want->name) ? want->name : pending->is.key.name;

    also->nname = name.len;
    ngx_memcpy(also->name, name.data, name.len);

    also->nid = (u_char *) ngx_hex_dump((u_char *) also->id,
                                        (u_char *) want->id.data, want->id.len)
                - (u_char *) also->id;

    switch (want->kind) {

    case SYM_RPC_SUPPLEMENT:
        also->file = SYM_SOURCE_ELF_DEBUG;
        return sym_mozilla_is_code_id(sym_str(also->id, also->nid));

    case SYM_RPC_UUID_MAP:
        also->file = SYM_SOURCE_UUIDMAP;
        break;

    case SYM_RPC_SYMBOL_MAP:
        also->file = SYM_SOURCE_BCSYMBOLMAP;
        break;

    case SYM_RPC_LINE_MAP:
        also->file = SYM_SOURCE_IL2CPP;
        ngx_http_symbolicate_pending_whole(pending, &also->object);
        return 1;

    default:
        return 0;
    }

    also->object.type = SYM_OBJECT_MACHO;

    return sym_debug_id_read_uuid(sym_str(also->id, also->nid),
                                  &also->object.debug_id);
}


static ngx_uint_t
ngx_http_symbolicate_pending_is_same(ngx_http_symbolicate_also_t *a,
    ngx_http_symbolicate_also_t *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }

    return a->file == b->file
           && sym_str_eq(sym_str(a->id, a->nid), sym_str(b->id, b->nid))
           && sym_str_eq(sym_str(a->name, a->nname),
                         sym_str(b->name, b->nname));
}


/* The result of a fetch for another file is of no use here. */
static void
ngx_http_symbolicate_pending_sent(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_message_t *m)
{
    const char                   *reason;
    sym_module_state_t            state;
    ngx_http_symbolicate_also_t  *also;

    also = NULL;
    reason = NULL;
    state = SYM_MODULE_FAILED;

    if (m->type == SYM_RPC_ALSO) {
        also = ngx_calloc(sizeof(ngx_http_symbolicate_also_t), ngx_cycle->log);

        if (also == NULL) {
            reason = "out of memory";

        } else if (!ngx_http_symbolicate_pending_read_also(also, pending,
                                                           &m->want))
        {
            ngx_free(also);
            state = SYM_MODULE_ABSENT;
            reason = "no source is asked for such an id";
        }
    }

    if (reason) {
        ngx_http_symbolicate_pending_refuse(pending, state, reason);
        return;
    }

    if ((m->features & SYM_RPC_RATED) && pending->attempts.len) {
        ngx_http_symbolicate_pending_rate(pending, m->features);
    }

    if (!ngx_http_symbolicate_pending_is_same(pending->also, also)) {
        pending->asked = 0;
        ngx_memzero(&pending->lease, sizeof(ngx_http_symbolicate_lease_t));

        if (pending->fetch
            && ngx_http_symbolicate_pending_drop(pending) != NGX_OK)
        {
            pending->stale = 1;
        }
    }

    if (pending->also) {
        ngx_free(pending->also);
    }

    pending->also = also;

    ngx_http_symbolicate_pending_elected(pending,
                       ngx_min(m->length, (uint64_t) NGX_MAX_OFF_T_VALUE));
}


/* NGX_AGAIN: its fetch cannot be aborted now. */
static ngx_int_t
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


/* How long a negative outcome counts. */
static sym_rpc_ttl_t
ngx_http_symbolicate_pending_ttl(ngx_http_symbolicate_pending_t *pending)
{
    sym_rpc_ttl_t  ttl;

    ttl = pending->policy->ttl;

    if (pending->is.source->is_public) {
        ttl.absent = pending->policy->ttl_public;
    }

    return ttl;
}


/* Nothing was fetched: tells the loader why. */
static void
ngx_http_symbolicate_pending_refuse(ngx_http_symbolicate_pending_t *pending,
    sym_module_state_t state, const char *reason)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_NONE;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.state = state;
    m.ttl = ngx_http_symbolicate_pending_ttl(pending);
    m.text = sym_cstr(reason);

    pending->elected = 0;
    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


/* A lease smaller than requested is all that there is. */
static void
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


static void
ngx_http_symbolicate_pending_granted(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_fetch_result_t  *out;

    /* it ended while it waited for a larger lease */

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


static void
ngx_http_symbolicate_pending_queue(ngx_http_symbolicate_pending_t *pending)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_http_symbolicate_waiter_t  *waiter;

    if (pending->fetch) {

        if (!pending->stale) {
            ngx_http_symbolicate_fetch_lend(pending->fetch, &pending->lease);
        }

        return;
    }

    if (pending->slot.share) {
        return;
    }

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


static ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_pending_fetch(ngx_http_symbolicate_pending_t *pending)
{
    ngx_http_symbolicate_also_t    *also;
    ngx_http_symbolicate_object_t   object;

    static ngx_str_t  none = ngx_null_string;

    also = pending->also;

    object.first = pending->is.source;

    if (also == NULL) {
        object.others = 0;
        object.name = pending->is.key.name;
        object.id = pending->is.id;
        object.code_id = sym_source_code_id(object.id,
                                            pending->is.key.code_id);
        object.canonical = pending->is.canonical;
        object.object = pending->is.object;
        object.thorough = pending->is.thorough;
        object.files = sym_kind_files(pending->is.kind,
                                      object.object ? object.object->type
                                                    : SYM_OBJECT_UNKNOWN)
                       & ~pending->is.without;

        return ngx_http_symbolicate_fetch_start(
                                    &ngx_http_symbolicate_pending_fetch_events,
                                    pending, pending->policy, &object,
                                    &pending->lease, pending->next,
                                    &pending->attempts);
    }


    /* what others have must not become part of a record that clients with other
     * sources see */

    object.others = pending->policy->given == NULL;
    object.name = sym_str(also->name, also->nname);
    object.id = sym_str(also->id, also->nid);
    object.code_id = object.id;
    object.canonical = SYM_STR("");
    object.object = also->file == SYM_SOURCE_ELF_DEBUG ? NULL : &also->object;
    object.thorough = 0;
    object.files = 1 << also->file;

    return ngx_http_symbolicate_fetch_start(
                                    &ngx_http_symbolicate_pending_fetch_events,
                                    pending, pending->policy, &object,
                                    &pending->lease, 0, &none);
}


/* Begins fetches that now have a slot. */
static void
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


/* Other fetches may wait for this slot. */
static void
ngx_http_symbolicate_pending_tick(void *data)
{
    ngx_http_symbolicate_pending_next();
}


/* Asks for a larger lease for a running download. */
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

    /* until it has been answered */

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

    } else if (pending->stale) {
        (void) ngx_http_symbolicate_pending_drop(pending);

        if (pending->elected) {
            ngx_http_symbolicate_pending_queue(pending);
        }

    } else if (pending->elected) {
        ngx_http_symbolicate_pending_granted(pending);
    }

    /* else it waits for a larger lease: the loader elects the next client */

    ngx_http_symbolicate_pending_next();
}


/* The lease to ask for; for a body of unknown length twice the present one, if
 * there is as much. */
static off_t
ngx_http_symbolicate_pending_need(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_fetch_result_t *out)
{
    if (!out->unsized || pending->lease.whole) {
        return out->need;
    }

    return ngx_max(out->need, pending->lease.bytes * 2);
}


/* What the loader is to do after the file: with all of a thorough search the
 * last one is an offer, too, and its answer tells what it was. */
static uint32_t
ngx_http_symbolicate_pending_features(ngx_http_symbolicate_pending_t *pending)
{
    if (pending->is.object == NULL) {
        return 0;
    }

    return pending->is.thorough ? SYM_RPC_RATE | SYM_RPC_GO_ON : SYM_RPC_RATE;
}


/* Adds to the last attempt what the loader says of its file. */
static void
ngx_http_symbolicate_pending_rate(ngx_http_symbolicate_pending_t *pending,
    uint32_t features)
{
    u_char  *copy;
    size_t   len;

    copy = ngx_alloc(SYM_RPC_ATTEMPTS_MAX, ngx_cycle->log);
    if (copy == NULL) {
        return;
    }

    len = sym_attempts_rate(sym_str((char *) pending->attempts.data,
                                    pending->attempts.len),
                            features, (char *) copy, SYM_RPC_ATTEMPTS_MAX);

    if (len == 0) {
        ngx_free(copy);
        return;
    }

    ngx_free(pending->attempts.data);
    pending->attempts.data = copy;
    pending->attempts.len = len;
}


/* Gives the outcome of the fetch to the loader. */
static void
ngx_http_symbolicate_pending_report(ngx_http_symbolicate_pending_t *pending)
{
    ngx_fd_t                         fd;
    ngx_uint_t                       offer;
    sym_rpc_message_t               m;
    ngx_http_symbolicate_fetch_result_t  *out;

    out = ngx_http_symbolicate_fetch_result(pending->fetch);
    offer = pending->also == NULL
            && (out->offer || ngx_http_symbolicate_pending_features(pending));
    fd = -1;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.ticket = (uint32_t) pending->by_ticket.key;
    m.ttl = ngx_http_symbolicate_pending_ttl(pending);
    m.attempts = sym_str((char *) out->attempts.data, out->attempts.len);

    if (out->need > pending->lease.bytes) {
        m.type = SYM_RPC_MORE;
        m.length = ngx_http_symbolicate_pending_need(pending, out);
        pending->asked = m.length;

    } else if (out->state == SYM_MODULE_READY) {
        m.type = offer ? SYM_RPC_OFFER : SYM_RPC_INGEST;
        m.features = ngx_http_symbolicate_pending_features(pending);
        m.offset = out->offset;
        m.length = out->length;
        m.source = sym_str((char *) out->source.data, out->source.len);
        fd = out->fd;

    } else {
        m.type = SYM_RPC_NONE;
        m.state = out->state;
        m.text = sym_str((char *) out->reason.data, out->reason.len);
    }

    pending->elected = 0;
    ngx_http_symbolicate_loader_send(pending->loader, &m, fd);

    if (offer) {
        ngx_http_symbolicate_pending_go_on(pending, out);
    }

    (void) ngx_http_symbolicate_pending_drop(pending);
}
