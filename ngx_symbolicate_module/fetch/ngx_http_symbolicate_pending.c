
/*
 * ngx_http_symbolicate_pending.c - modules that this worker's requests wait for.
 *
 * A want is one module of one source, however many requests wait for it.  It
 * lives from the first request that misses the module until the loader has said
 * what became of it; or until nobody waits and nothing was begun, or what was
 * begun had to give its place up.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "fetch/ngx_http_symbolicate_fetch.h"
#include "fetch/ngx_http_symbolicate_lane.h"
#include "fetch/ngx_http_symbolicate_loader.h"
#include "fetch/ngx_http_symbolicate_pending.h"
#include "metrics/ngx_http_symbolicate_counters.h"


/* Fewer than the loader allows, and with what may have to be said of them no
 * more messages than wait for it to take them. */
#define NGX_SYMBOLICATE_WANTS_MAX  (NGX_SYMBOLICATE_OUT_MAX / 2)


/* A file that goes with the module. */
typedef struct {
    size_t                          nname;
    size_t                          nid;
    char                            name[SYM_NAME_MAX];
    char                            id[2 * SYM_RPC_BUILD_ID_MAX];
} ngx_http_symbolicate_also_t;


struct ngx_http_symbolicate_pending_s {
    ngx_rbtree_node_t               by_key;
    ngx_rbtree_node_t               by_ticket;

    ngx_http_symbolicate_loader_t  *loader;
    ngx_http_symbolicate_fetch_policy_t     *how;

    ngx_http_symbolicate_wanted_t   is;          /* its texts in `text` */

    ngx_queue_t                     waiters;
    ngx_queue_t                     of_orphans;  /* the loader's, while nobody
                                                  * waits */
    ngx_msec_t                      since;       /* then */

    ngx_http_symbolicate_lane_t    *lane;
    ngx_http_symbolicate_slot_t    place;
    ngx_http_symbolicate_lease_t    lease;
    off_t                           asked;       /* for a larger one; 0: for
                                                  * none */
    ngx_http_symbolicate_fetch_t   *fetch;

    ngx_uint_t                      next;        /* where the search goes on */
    ngx_str_t                       attempts;    /* before that; allocated */

    ngx_http_symbolicate_also_t    *also;        /* not the module is to be
                                                  * fetched, but this */

    unsigned                        elected:1;   /* by the present connection */
    unsigned                        fetched:1;   /* its fetch has ended */
    unsigned                        stale:1;     /* what its fetch brings is of
                                                  * no use */
    unsigned                        orphan:1;
    unsigned                        told:1;      /* settled; its fetch runs */
    unsigned                        busy:1;      /* counted in the loader */

    u_char                          text[1];
};


/* A request that waits for a want. */
typedef struct {
    ngx_queue_t                     of_want;
    ngx_queue_t                     of_wait;
    ngx_http_symbolicate_pending_t    *want;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_uint_t                      module;
} ngx_http_symbolicate_waiter_t;


static ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_find(
    ngx_http_symbolicate_loader_t *loader, ngx_rbtree_key_t hash,
    ngx_http_symbolicate_wanted_t *wanted);
static ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_create(
    ngx_http_symbolicate_loader_t *loader, ngx_http_symbolicate_fetch_policy_t *how,
    ngx_rbtree_key_t hash, ngx_http_symbolicate_wanted_t *wanted);
static void ngx_http_symbolicate_pending_restart(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_free(ngx_http_symbolicate_pending_t *want);
static ngx_int_t ngx_http_symbolicate_pending_give_up(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_busy(ngx_http_symbolicate_pending_t *want);
static ngx_uint_t ngx_http_symbolicate_pending_is_busy(
    ngx_http_symbolicate_loader_t *loader, ngx_http_symbolicate_lane_t *lane);
static void ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *want,
    sym_rpc_type_t type);
static void ngx_http_symbolicate_pending_doubt(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_left(ngx_http_symbolicate_pending_t *want,
    ngx_uint_t keep);
static void ngx_http_symbolicate_pending_sent(ngx_http_symbolicate_pending_t *want,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_pending_elected(
    ngx_http_symbolicate_pending_t *want, off_t bytes);
static void ngx_http_symbolicate_pending_granted(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_queue(ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_refuse(ngx_http_symbolicate_pending_t *want,
    sym_module_state_t state, const char *reason);
static ngx_int_t ngx_http_symbolicate_pending_drop(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_settled(
    ngx_http_symbolicate_pending_t *want, sym_rpc_message_t *m);
static void ngx_http_symbolicate_pending_orphaned(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_adopted(
    ngx_http_symbolicate_pending_t *want);
static void ngx_http_symbolicate_pending_report(
    ngx_http_symbolicate_pending_t *want);


static ngx_rbtree_key_t
ngx_http_symbolicate_pending_hash(ngx_http_symbolicate_loader_t *loader,
    sym_module_key_t *key)
{
    sym_hash_state_t  s;

    s = sym_hash_begin(&loader->hash_key);

    sym_hash_add(&s, key->scope);
    sym_hash_add(&s, key->name);
    sym_hash_add(&s, key->id);

    return sym_hash_end(s);
}


ngx_int_t
ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *how, ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module)
{
    ngx_rbtree_key_t                hash;
    ngx_http_symbolicate_pending_t    *want;
    ngx_http_symbolicate_waiter_t  *waiter;

    /* while it is looked for, others wait for it too */

    if (ngx_http_symbolicate_loader_connect(loader) != NGX_OK
        && !loader->again.timer_set)
    {
        return NGX_DECLINED;
    }

    /* a loader from before kinds would take the question for malformed */

    if (wanted->kind != SYM_KIND_SYMCACHE && loader->old) {
        return NGX_DECLINED;
    }

    hash = ngx_http_symbolicate_pending_hash(loader, &wanted->key);
    want = ngx_http_symbolicate_pending_find(loader, hash, wanted);

    if (want == NULL
        && ngx_http_symbolicate_pending_is_busy(loader,
                                                wanted->source->metric->lane))
    {
        return NGX_BUSY;
    }

    if (want == NULL) {
        want = ngx_http_symbolicate_pending_create(loader, how, hash, wanted);
        if (want == NULL) {
            return NGX_ERROR;
        }

        ngx_http_symbolicate_pending_ask(want, SYM_RPC_ENSURE);

    } else {
        ngx_http_symbolicate_count_join();
    }

    waiter = ngx_alloc(sizeof(ngx_http_symbolicate_waiter_t), ngx_cycle->log);
    if (waiter == NULL) {
        return NGX_ERROR;
    }

    waiter->want = want;
    waiter->wait = wait;
    waiter->module = module;

    ngx_queue_insert_tail(&want->waiters, &waiter->of_want);
    ngx_queue_insert_tail(&wait->waiters, &waiter->of_wait);
    wait->pending++;

    if (ngx_queue_head(&want->waiters) == &waiter->of_want) {
        ngx_http_symbolicate_pending_adopted(want);
        ngx_http_symbolicate_slot_move(&want->place, wait);
    }

    ngx_http_symbolicate_pending_busy(want);

    return NGX_OK;
}


/* A source may have as many as it leaves free: one that stalls leaves some for
 * the others. */
static ngx_uint_t
ngx_http_symbolicate_pending_is_busy(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_lane_t *lane)
{
    return loader->nwants >= NGX_SYMBOLICATE_WANTS_MAX
           || lane->nwants >= NGX_SYMBOLICATE_WANTS_MAX - loader->nwants
           || loader->nout >= NGX_SYMBOLICATE_OUT_MAX / 2;
}


static ngx_uint_t
ngx_http_symbolicate_pending_is(ngx_http_symbolicate_pending_t *want,
    ngx_http_symbolicate_wanted_t *wanted)
{
    return want->is.kind == wanted->kind
           && sym_str_eq(want->is.key.name, wanted->key.name)
           && sym_str_eq(want->is.key.id, wanted->key.id)
           && sym_str_eq(want->is.key.scope, wanted->key.scope);
}


static ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_find(ngx_http_symbolicate_loader_t *loader,
    ngx_rbtree_key_t hash, ngx_http_symbolicate_wanted_t *wanted)
{
    ngx_rbtree_node_t            *node, *sentinel;
    ngx_http_symbolicate_pending_t  *want;

    node = loader->keys.root;
    sentinel = loader->keys.sentinel;

    /* nodes of one hash lie to the right of each other */

    while (node != sentinel) {

        if (hash != node->key) {
            node = hash < node->key ? node->left : node->right;
            continue;
        }

        want = (ngx_http_symbolicate_pending_t *)
               ((u_char *) node - offsetof(ngx_http_symbolicate_pending_t,
                                           by_key));

        if (!want->told && ngx_http_symbolicate_pending_is(want, wanted)) {
            return want;
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


static ngx_http_symbolicate_pending_t *
ngx_http_symbolicate_pending_create(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *how, ngx_rbtree_key_t hash,
    ngx_http_symbolicate_wanted_t *wanted)
{
    u_char                       *p;
    size_t                        size;
    sym_module_key_t             *key;
    ngx_http_symbolicate_pending_t  *want;

    key = &wanted->key;

    size = offsetof(ngx_http_symbolicate_pending_t, text)
           + key->scope.len + key->name.len + key->id.len + wanted->id.len
           + wanted->canonical.len;

    want = ngx_calloc(size, ngx_cycle->log);
    if (want == NULL) {
        return NULL;
    }

    want->loader = loader;
    want->how = how;
    want->lane = wanted->source->metric->lane;

    p = want->text;
    want->is.source = wanted->source;
    want->is.kind = wanted->kind;
    want->is.key.scope = ngx_http_symbolicate_pending_copy(&p, key->scope);
    want->is.key.name = ngx_http_symbolicate_pending_copy(&p, key->name);
    want->is.key.id = ngx_http_symbolicate_pending_copy(&p, key->id);
    want->is.id = ngx_http_symbolicate_pending_copy(&p, wanted->id);
    want->is.canonical = ngx_http_symbolicate_pending_copy(&p, wanted->canonical);

    ngx_queue_init(&want->waiters);

    want->by_ticket.key = ngx_http_symbolicate_loader_ticket(loader);
    want->by_key.key = hash;

    ngx_rbtree_insert(&loader->keys, &want->by_key);
    ngx_rbtree_insert(&loader->tickets, &want->by_ticket);
    loader->nwants++;
    want->lane->nwants++;

    return want;
}


/* What was offered is forgotten: the search begins anew. */
static void
ngx_http_symbolicate_pending_restart(ngx_http_symbolicate_pending_t *want)
{
    if (want->attempts.data) {
        ngx_free(want->attempts.data);
    }

    ngx_str_null(&want->attempts);
    want->next = 0;
}


/* The search goes on behind what the fetch found, should that be too poor. */
static void
ngx_http_symbolicate_pending_go_on(ngx_http_symbolicate_pending_t *want,
    ngx_http_symbolicate_fetch_result_t *out)
{
    u_char  *copy;

    copy = ngx_alloc(out->attempts.len, ngx_cycle->log);

    ngx_http_symbolicate_pending_restart(want);

    /* without memory for it nobody is told what was tried before */

    if (copy) {
        ngx_memcpy(copy, out->attempts.data, out->attempts.len);
        want->attempts.data = copy;
        want->attempts.len = out->attempts.len;
    }

    want->next = out->next;
}


/* A fetch that cannot be cut off now takes the want with it when it ends. */
static void
ngx_http_symbolicate_pending_free(ngx_http_symbolicate_pending_t *want)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = want->loader;

    want->told = 1;
    ngx_http_symbolicate_pending_busy(want);

    if (want->fetch && ngx_http_symbolicate_pending_drop(want) != NGX_OK) {
        ngx_http_symbolicate_slot_move(&want->place, NULL);
        return;
    }

    ngx_http_symbolicate_pending_adopted(want);
    ngx_http_symbolicate_slot_leave(&want->place);

    if (want->also) {
        ngx_free(want->also);
    }

    ngx_rbtree_delete(&loader->keys, &want->by_key);
    ngx_rbtree_delete(&loader->tickets, &want->by_ticket);
    loader->nwants--;
    want->lane->nwants--;

    ngx_http_symbolicate_pending_restart(want);
    ngx_free(want);
}


/* No request waits for it.  NGX_AGAIN: what was begun cannot be cut off now. */
static ngx_int_t
ngx_http_symbolicate_pending_give_up(ngx_http_symbolicate_pending_t *want)
{
    if (want->told) {
        return NGX_AGAIN;
    }

    if (want->fetch && ngx_http_symbolicate_pending_drop(want) != NGX_OK) {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_pending_ask(want, SYM_RPC_CANCEL);
    ngx_http_symbolicate_pending_free(want);

    return NGX_OK;
}


/* The one with the lowest ticket from `ticket` on; NULL: there is none. */
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


/* All that are not settled.  visit() may free any of them, and what it adds is
 * not visited, unless tickets have come round. */
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

        if (!pending->told) {
            visit(pending, data);
        }

        pending = ngx_http_symbolicate_pending_from(loader, ticket + 1);
    }
}


/* While a request waits, the worker may not end. */
static void
ngx_http_symbolicate_pending_busy(ngx_http_symbolicate_pending_t *want)
{
    ngx_uint_t  busy;

    busy = !ngx_queue_empty(&want->waiters);

    if (busy != want->busy) {
        want->busy = busy;
        want->loader->nbusy += busy ? 1 : -1;
        ngx_http_symbolicate_loader_idle(want->loader);
    }
}


static void
ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *want,
    sym_rpc_type_t type)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = type;
    m.ticket = (uint32_t) want->by_ticket.key;
    m.key = want->is.key;

    if (type == SYM_RPC_ENSURE && want->is.kind != SYM_KIND_SYMCACHE) {
        m.kind = want->is.kind;
    }

    ngx_http_symbolicate_loader_send(want->loader, &m, -1);
}


static void
ngx_http_symbolicate_pending_ask_again(ngx_http_symbolicate_pending_t *pending,
    void *data)
{
    pending->elected = 0;

    ngx_http_symbolicate_pending_restart(pending);
    ngx_http_symbolicate_pending_doubt(pending);
    ngx_http_symbolicate_pending_ask(pending, SYM_RPC_ENSURE);
}


void
ngx_http_symbolicate_pending_again(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_pending_each(loader,
                                      ngx_http_symbolicate_pending_ask_again,
                                      NULL);
    ngx_http_symbolicate_pending_next();
}


/* Whatever was begun for another connection may have been invalidated since,
 * and the loader at this one knows of no fetch that it should not believe. */
static void
ngx_http_symbolicate_pending_doubt(ngx_http_symbolicate_pending_t *want)
{
    want->asked = 0;
    ngx_memzero(&want->lease, sizeof(ngx_http_symbolicate_lease_t));

    if (want->fetch == NULL) {
        ngx_http_symbolicate_slot_leave(&want->place);

    } else if (ngx_http_symbolicate_pending_drop(want) != NGX_OK) {
        want->stale = 1;
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
ngx_http_symbolicate_pending_none(ngx_http_symbolicate_loader_t *loader,
    const char *reason)
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
    ngx_queue_remove(&waiter->of_want);
    ngx_queue_remove(&waiter->of_wait);

    waiter->wait->pending--;

    ngx_free(waiter);
}


void
ngx_http_symbolicate_unwant(ngx_http_symbolicate_wait_t *wait, ngx_uint_t keep)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_pending_t    *want;
    ngx_http_symbolicate_waiter_t  *waiter;

    while (!ngx_queue_empty(&wait->waiters)) {
        q = ngx_queue_head(&wait->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_wait);
        want = waiter->want;

        ngx_http_symbolicate_waiter_free(waiter);

        ngx_http_symbolicate_pending_left(want, keep);
    }

    if (!ngx_exiting) {
        ngx_http_symbolicate_pending_next();
    }
}


/* A request does not wait for it any more. */
static void
ngx_http_symbolicate_pending_left(ngx_http_symbolicate_pending_t *want,
    ngx_uint_t keep)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_waiter_t  *waiter;

    if (!ngx_queue_empty(&want->waiters)) {
        q = ngx_queue_head(&want->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_want);

        ngx_http_symbolicate_slot_move(&want->place, waiter->wait);
        return;
    }

    if (ngx_exiting || (!keep && want->fetch == NULL)) {

        if (ngx_http_symbolicate_pending_give_up(want) == NGX_OK) {
            return;
        }
    }

    want->place.hoped = keep;
    ngx_http_symbolicate_slot_move(&want->place, NULL);
    ngx_http_symbolicate_pending_busy(want);
    ngx_http_symbolicate_pending_orphaned(want);
}


/* --- wants that no request waits for --- */

static void
ngx_http_symbolicate_pending_orphaned(ngx_http_symbolicate_pending_t *want)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = want->loader;

    want->orphan = 1;
    want->since = ngx_current_msec;
    ngx_queue_insert_tail(&loader->orphans, &want->of_orphans);

    if (!loader->orphaned.timer_set) {
        ngx_add_timer(&loader->orphaned, NGX_SYMBOLICATE_ORPHAN_GRACE);
    }
}


static void
ngx_http_symbolicate_pending_adopted(ngx_http_symbolicate_pending_t *want)
{
    if (want->orphan) {
        want->orphan = 0;
        ngx_queue_remove(&want->of_orphans);
    }
}


/* Its client has not come back.  What is being downloaded goes on as long as
 * nobody needs the place. */
void
ngx_http_symbolicate_pending_forget(ngx_event_t *ev)
{
    ngx_http_symbolicate_loader_t *loader = ev->data;

    ngx_queue_t                  *q;
    ngx_msec_t                    age;
    ngx_http_symbolicate_pending_t  *want;

    while (!ngx_queue_empty(&loader->orphans)) {
        q = ngx_queue_head(&loader->orphans);
        want = ngx_queue_data(q, ngx_http_symbolicate_pending_t, of_orphans);

        age = ngx_current_msec - want->since;

        if (age < NGX_SYMBOLICATE_ORPHAN_GRACE) {
            ngx_add_timer(ev, NGX_SYMBOLICATE_ORPHAN_GRACE - age);
            return;
        }

        ngx_http_symbolicate_pending_adopted(want);

        if (want->fetch == NULL && !want->told) {
            (void) ngx_http_symbolicate_pending_give_up(want);
        }
    }
}


/* --- what the loader says --- */

void
ngx_http_symbolicate_pending_told(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_pending_t  *want;

    want = ngx_http_symbolicate_pending_of(loader, m->ticket);

    if (want == NULL || want->told) {

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
        ngx_http_symbolicate_pending_sent(want, m);
        break;

    case SYM_RPC_READY:
    case SYM_RPC_NEGATIVE:
        ngx_http_symbolicate_pending_settled(want, m);
        ngx_http_symbolicate_pending_next();
        break;

    default:
        break;
    }
}


static void
ngx_http_symbolicate_pending_settled(ngx_http_symbolicate_pending_t *want,
    sym_rpc_message_t *m)
{
    ngx_queue_t                    *q;
    ngx_uint_t                      module;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_http_symbolicate_waiter_t  *waiter;

    while (!ngx_queue_empty(&want->waiters)) {
        q = ngx_queue_head(&want->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_want);

        wait = waiter->wait;
        module = waiter->module;

        ngx_http_symbolicate_waiter_free(waiter);

        wait->settled(wait->data, module, m);

        if (wait->pending == 0) {
            wait->resume(wait->data);
        }
    }

    ngx_http_symbolicate_pending_free(want);
}


/* --- fetches --- */

/* False: it is no file that a source may be asked for. */
static ngx_uint_t
ngx_http_symbolicate_pending_read_also(ngx_http_symbolicate_also_t *also,
    ngx_http_symbolicate_pending_t *want, sym_str_t name, sym_str_t id)
{
    if (!sym_source_name_ok(name)) {
        name = want->is.key.name;
    }

    also->nname = name.len;
    ngx_memcpy(also->name, name.data, name.len);

    also->nid = (u_char *) ngx_hex_dump((u_char *) also->id,
                                        (u_char *) id.data, id.len)
                - (u_char *) also->id;

    return sym_mozilla_is_code_id(sym_str(also->id, also->nid));
}


static ngx_uint_t
ngx_http_symbolicate_pending_is_same(ngx_http_symbolicate_also_t *a,
    ngx_http_symbolicate_also_t *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }

    return sym_str_eq(sym_str(a->id, a->nid), sym_str(b->id, b->nid))
           && sym_str_eq(sym_str(a->name, a->nname),
                         sym_str(b->name, b->nname));
}


/* What was fetched for another errand is of no use for this one. */
static void
ngx_http_symbolicate_pending_sent(ngx_http_symbolicate_pending_t *want,
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

        } else if (!ngx_http_symbolicate_pending_read_also(also, want,
                                                           m->want.name,
                                                           m->want.id))
        {
            ngx_free(also);
            state = SYM_MODULE_ABSENT;
            reason = "no source is asked for such an id";
        }
    }

    if (reason) {
        ngx_http_symbolicate_pending_refuse(want, state, reason);
        return;
    }

    if (!ngx_http_symbolicate_pending_is_same(want->also, also)) {
        want->asked = 0;
        ngx_memzero(&want->lease, sizeof(ngx_http_symbolicate_lease_t));

        if (want->fetch && ngx_http_symbolicate_pending_drop(want) != NGX_OK) {
            want->stale = 1;
        }
    }

    if (want->also) {
        ngx_free(want->also);
    }

    want->also = also;

    ngx_http_symbolicate_pending_elected(want,
                       ngx_min(m->length, (uint64_t) NGX_MAX_OFF_T_VALUE));
}


/* NGX_AGAIN: its fetch cannot be cut off now. */
static ngx_int_t
ngx_http_symbolicate_pending_drop(ngx_http_symbolicate_pending_t *want)
{
    if (ngx_http_symbolicate_fetch_free(want->fetch) != NGX_OK) {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_slot_leave(&want->place);

    want->fetch = NULL;
    want->fetched = 0;
    want->stale = 0;

    return NGX_OK;
}


/* How long what became of it counts. */
static sym_rpc_ttl_t
ngx_http_symbolicate_pending_ttl(ngx_http_symbolicate_pending_t *want)
{
    sym_rpc_ttl_t  ttl;

    ttl = want->how->ttl;

    if (want->is.source->is_public) {
        ttl.absent = want->how->ttl_public;
    }

    return ttl;
}


/* Nothing was fetched: tells the loader why. */
static void
ngx_http_symbolicate_pending_refuse(ngx_http_symbolicate_pending_t *want,
    sym_module_state_t state, const char *reason)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_NONE;
    m.ticket = (uint32_t) want->by_ticket.key;
    m.state = state;
    m.ttl = ngx_http_symbolicate_pending_ttl(want);
    m.text = sym_cstr(reason);

    want->elected = 0;
    ngx_http_symbolicate_loader_send(want->loader, &m, -1);
}


/* Who asked for more and gets less has got all that there is. */
static void
ngx_http_symbolicate_pending_elected(ngx_http_symbolicate_pending_t *want,
    off_t bytes)
{
    want->elected = 1;
    want->lease.whole = bytes < want->asked
                        || (want->lease.whole && bytes == want->lease.bytes);
    want->lease.bytes = bytes;
    want->asked = 0;

    ngx_http_symbolicate_pending_granted(want);
}


static void
ngx_http_symbolicate_pending_granted(ngx_http_symbolicate_pending_t *want)
{
    ngx_http_symbolicate_fetch_result_t  *out;

    /* it has ended while its lease was being asked for */

    if (want->fetched) {
        out = ngx_http_symbolicate_fetch_result(want->fetch);

        if (out->need == 0 || out->need > want->lease.bytes) {
            ngx_http_symbolicate_pending_report(want);
            return;
        }

        (void) ngx_http_symbolicate_pending_drop(want);
    }

    ngx_http_symbolicate_pending_queue(want);
}


static void
ngx_http_symbolicate_pending_queue(ngx_http_symbolicate_pending_t *want)
{
    ngx_queue_t                    *q;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_http_symbolicate_waiter_t  *waiter;

    if (want->fetch) {

        if (!want->stale) {
            ngx_http_symbolicate_fetch_lend(want->fetch, &want->lease);
        }

        return;
    }

    if (want->place.share) {
        return;
    }

    wait = NULL;

    if (!ngx_queue_empty(&want->waiters)) {
        q = ngx_queue_head(&want->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_waiter_t, of_want);
        wait = waiter->wait;
    }

    if (ngx_http_symbolicate_slot_queue(&want->place, want->lane, wait)
        != NGX_OK)
    {
        ngx_http_symbolicate_pending_refuse(want, SYM_MODULE_FAILED,
                                            "out of memory");
        return;
    }

    ngx_http_symbolicate_pending_next();
}


static ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_pending_fetch(ngx_http_symbolicate_pending_t *want)
{
    ngx_http_symbolicate_also_t    *also;
    ngx_http_symbolicate_object_t   object;

    static ngx_str_t  none = ngx_null_string;

    also = want->also;

    object.first = want->is.source;

    if (also == NULL) {
        object.others = 0;
        object.name = want->is.key.name;
        object.id = want->is.id;
        object.canonical = want->is.canonical;
        object.files = NGX_SYMBOLICATE_FILES;

        return ngx_http_symbolicate_fetch_start(want, want->how, &object,
                                                &want->lease, want->next,
                                                &want->attempts);
    }

    object.others = 1;
    object.name = sym_str(also->name, also->nname);
    object.id = sym_str(also->id, also->nid);
    object.canonical = SYM_STR("");
    object.files = 1 << SYM_SOURCE_ELF_DEBUG;

    return ngx_http_symbolicate_fetch_start(want, want->how, &object,
                                            &want->lease, 0, &none);
}


void
ngx_http_symbolicate_pending_next(void)
{
    ngx_http_symbolicate_pending_t       *want;
    ngx_http_symbolicate_slot_t      *place;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_symbolicate_module);

    for ( ;; ) {
        place = ngx_http_symbolicate_slot_next(smcf->fetch_concurrency);

        if (place) {
            want = ngx_queue_data(place, ngx_http_symbolicate_pending_t, place);
            want->fetch = ngx_http_symbolicate_pending_fetch(want);

            if (want->fetch == NULL) {
                ngx_http_symbolicate_slot_leave(place);
                ngx_http_symbolicate_pending_refuse(want, SYM_MODULE_FAILED,
                                                    "out of memory");
            }

            continue;
        }

        place = ngx_http_symbolicate_slot_victim(smcf->fetch_concurrency);

        if (place == NULL) {
            return;
        }

        want = ngx_queue_data(place, ngx_http_symbolicate_pending_t, place);

        if (ngx_http_symbolicate_pending_give_up(want) != NGX_OK) {
            return;
        }
    }
}


void
ngx_http_symbolicate_pending_more(ngx_http_symbolicate_pending_t *want, off_t need)
{
    sym_rpc_message_t  m;

    if (!want->elected || want->told || want->stale) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_MORE;
    m.ticket = (uint32_t) want->by_ticket.key;
    m.length = need;

    /* until it has been answered */

    want->elected = 0;
    want->asked = need;
    ngx_http_symbolicate_loader_send(want->loader, &m, -1);
}


void
ngx_http_symbolicate_pending_fetched(ngx_http_symbolicate_pending_t *want,
    ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_slot_leave(&want->place);
    want->fetched = 1;

    if (want->told) {
        ngx_http_symbolicate_pending_free(want);

    } else if (want->stale) {
        (void) ngx_http_symbolicate_pending_drop(want);

        if (want->elected) {
            ngx_http_symbolicate_pending_queue(want);
        }

    } else if (want->elected) {
        ngx_http_symbolicate_pending_granted(want);
    }

    /* else a lease is being asked for: the loader tells who is elected next */

    ngx_http_symbolicate_pending_next();
}


/* Of a body whose length nobody knows twice the lease, as long as there is so
 * much. */
static off_t
ngx_http_symbolicate_pending_need(ngx_http_symbolicate_pending_t *want,
    ngx_http_symbolicate_fetch_result_t *out)
{
    if (!out->unsized || want->lease.whole) {
        return out->need;
    }

    return ngx_max(out->need, want->lease.bytes * 2);
}


/* Gives the outcome of the fetch to the loader. */
static void
ngx_http_symbolicate_pending_report(ngx_http_symbolicate_pending_t *want)
{
    ngx_fd_t                         fd;
    ngx_uint_t                       offer;
    sym_rpc_message_t               m;
    ngx_http_symbolicate_fetch_result_t  *out;

    out = ngx_http_symbolicate_fetch_result(want->fetch);
    offer = out->offer && want->also == NULL;
    fd = -1;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.ticket = (uint32_t) want->by_ticket.key;
    m.ttl = ngx_http_symbolicate_pending_ttl(want);
    m.attempts = sym_str((char *) out->attempts.data, out->attempts.len);

    if (out->need > want->lease.bytes) {
        m.type = SYM_RPC_MORE;
        m.length = ngx_http_symbolicate_pending_need(want, out);
        want->asked = m.length;

    } else if (out->state == SYM_MODULE_READY) {
        m.type = offer ? SYM_RPC_OFFER : SYM_RPC_INGEST;
        m.offset = out->offset;
        m.length = out->length;
        m.source = sym_str((char *) out->source.data, out->source.len);
        fd = out->fd;

    } else {
        m.type = SYM_RPC_NONE;
        m.state = out->state;
        m.text = sym_str((char *) out->reason.data, out->reason.len);
    }

    want->elected = 0;
    ngx_http_symbolicate_loader_send(want->loader, &m, fd);

    if (offer) {
        ngx_http_symbolicate_pending_go_on(want, out);
    }

    (void) ngx_http_symbolicate_pending_drop(want);
}
