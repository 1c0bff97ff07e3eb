#include "daemon/inflight.h"

#include <stddef.h>
#include <stdlib.h>


bool
inflights_create(inflights_t *f, uint64_t room, int64_t fetch_timeout_ms)
{
    *f = (inflights_t){ .fetch_timeout_ms = fetch_timeout_ms };
    f->key = sym_hash_key();
    f->unplanned_last = &f->unplanned;
    return leases_create(&f->leases, room) && table_create(&f->by_question)
           && table_create(&f->by_module) && table_create(&f->by_code)
           && table_create(&f->by_ticket) && table_create(&f->by_place);
}


/* --- inflights --- */

/* Hash of a module; equal at all sources, and for all spellings of its id. */
static uint64_t
hash_module(const inflights_t *f, const sym_module_key_t *key)
{
    char id[SYM_ID_MAX];
    sym_hash_state_t s = sym_hash_begin(&f->key);

    sym_hash_add(&s, key->name);
    sym_hash_add(&s, sym_str(id, sym_debug_id_canonical(key->id, id)));
    return sym_hash_end(s);
}


bool
object_key(const sym_object_ref_t *ref, sym_str_t scope, sym_ref_key_t *names,
           sym_module_key_t *key)
{
    if (!sym_ref_key(ref, names) || !sym_module_name_ok(names->key.name)) {
        return false;
    }

    *key = names->key;
    key->scope = scope;
    return key->id.len != 0;
}


static uint64_t
hash_question(const inflights_t *f, const sym_rpc_message_t *m, sym_str_t ref)
{
    sym_hash_state_t s = sym_hash_begin(&f->key);

    sym_hash_add(&s, sym_str((const char *) &m->kind, sizeof(m->kind)));
    sym_hash_add(&s, m->key.scope);
    sym_hash_add(&s, ref);
    return sym_hash_end(s);
}


/* ref: the reference as bytes.  All requests of a search have the same plan. */
static bool
is_question(const inflight_t *inflight, const sym_rpc_message_t *m,
            sym_str_t ref)
{
    const sym_source_rules_t *a = &inflight->rules, *b = &m->rules;

    return inflight->kind == m->kind && inflight->flags == m->flags
           && a->layout == b->layout && a->files == b->files && a->ids == b->ids
           && a->casing == b->casing
           && sym_str_eq(inflight->key.scope, m->key.scope)
           && sym_str_eq(sym_str(inflight->bytes, inflight->n_bytes), ref);
}


static inflight_t *
of_question(table_node_t *node)
{
    return (inflight_t *) node;
}


static inflight_t *
of_module(table_node_t *node)
{
    return (inflight_t *) ((char *) node - offsetof(inflight_t, of_module));
}


static inflight_t *
of_code(table_node_t *node)
{
    return (inflight_t *) ((char *) node - offsetof(inflight_t, of_code));
}


static sym_str_t
code_text(const sym_code_id_t *id)
{
    return sym_str(id->text, id->len);
}


/* NULL: no client is waiting for it. */
static inflight_t *
find_inflight(const inflights_t *f, const sym_rpc_message_t *ensure,
              sym_str_t ref)
{
    table_node_t *node =
        table_first(&f->by_question, hash_question(f, ensure, ref));

    while (node != NULL && !is_question(of_question(node), ensure, ref)) {
        node = table_next(node);
    }

    return node != NULL ? of_question(node) : NULL;
}


bool
inflight_is_of(const inflight_t *inflight, const sym_module_key_t *key)
{
    const sym_module_key_t *own = &inflight->key;
    char id[SYM_ID_MAX], reading[SYM_ID_MAX];
    sym_str_t canonical = sym_str(id, sym_debug_id_canonical(own->id, id));
    bool is_id = sym_str_eq(canonical, key->id) && !sym_module_key_is_cut(key);

    /* a client without code ids sends the code id in place of the debug id */
    if (!is_id && key->code_id.len != 0) {
        is_id = own->code_id.len != 0
                    ? sym_str_eq(own->code_id, key->code_id)
                    : sym_str_eq(canonical,
                                 sym_str(reading, sym_debug_id_canonical(
                                                      key->code_id, reading)));
    }

    return is_id
           && (key->name.len == 0 || sym_str_eq(inflight->key.name, key->name))
           && (sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL))
               || sym_str_eq(inflight->key.scope, key->scope));
}


inflight_t *
inflight_next_of(const inflights_t *f, const sym_module_key_t *key,
                 const inflight_t *last)
{
    table_node_t *node = last == NULL
                             ? table_first(&f->by_module, hash_module(f, key))
                             : table_next(&last->of_module);

    while (node != NULL && !inflight_is_of(of_module(node), key)) {
        node = table_next(node);
    }

    return node != NULL ? of_module(node) : NULL;
}


inflight_t *
inflight_next_by_code(const inflights_t *f, const sym_code_id_t *id,
                      const inflight_t *last)
{
    table_node_t *node =
        last == NULL
            ? table_first(&f->by_code, sym_hash(&f->key, code_text(id)))
            : table_next(&last->of_code);

    while (
        node != NULL
        && !sym_str_eq(code_text(&of_code(node)->ref.code_id), code_text(id)))
    {
        node = table_next(node);
    }

    return node != NULL ? of_code(node) : NULL;
}


static void
enqueue(inflights_t *f, inflight_t *inflight, int64_t now)
{
    inflight->phase = INFLIGHT_QUEUED;
    lease_enqueue(&f->leases, &inflight->lease, now);
    if (inflight->is_for_peer) {
        lease_set_for_peer(&f->leases, &inflight->lease, now);
    }
}


/* Ends the state of being idle, queued or fetching. */
static void
leave_phase(inflights_t *f, inflight_t *inflight)
{
    if (inflight->phase == INFLIGHT_QUEUED) {
        lease_dequeue(&f->leases, &inflight->lease);
    } else if (inflight->phase == INFLIGHT_FETCHING) {
        lease_release(&f->leases, &inflight->lease);
        f->n_fetching--;
        inflight->elected = NULL;
    } else if (inflight->unplanned_at != NULL) {
        *inflight->unplanned_at = inflight->unplanned_next;
        *(inflight->unplanned_next != NULL
              ? &inflight->unplanned_next->unplanned_at
              : &f->unplanned_last) = inflight->unplanned_at;
        inflight->unplanned_at = NULL;
    }

    inflight->phase = INFLIGHT_CONVERTING;
}


/* --- places --- */

/* Makes it idle until its places have been looked up. */
static void
unplan(inflights_t *f, inflight_t *inflight)
{
    leave_phase(f, inflight);
    inflight->phase = INFLIGHT_IDLE;
    inflight->unplanned_next = NULL;
    inflight->unplanned_at = f->unplanned_last;
    *f->unplanned_last = inflight;
    f->unplanned_last = &inflight->unplanned_next;
}


static inflight_t *
of_places(owner_t *places)
{
    return (inflight_t *) ((char *) places - offsetof(inflight_t, places));
}


/* Called when a place of the search may have an outcome, or is free. */
static void
on_free_place(void *ctx, owner_t *places, unsigned number)
{
    inflight_t *inflight = of_places(places);

    if ((inflight->open >> number & 1) != 0
        && (inflight->phase == INFLIGHT_IDLE
            || (inflight->phase == INFLIGHT_QUEUED && !inflight->is_begun)))
    {
        unplan(ctx, inflight);
    }
}


static void
own(inflights_t *f, inflight_t *inflight, uint64_t places)
{
    owner_own(&inflight->places, places, on_free_place, f);
}


inflight_t *
inflights_unplanned(inflights_t *f)
{
    inflight_t *inflight = f->unplanned;

    if (inflight != NULL) {
        leave_phase(f, inflight);
    }

    return inflight;
}


bool
inflight_plan(inflights_t *f, inflight_t *inflight, uint64_t open, int64_t now)
{
    uint64_t all = owner_all(&inflight->places);

    /* otherwise, without a place that can be tried again, it would not end */
    inflight->open = open & all & ~inflight->tried;
    if (inflight->open == 0 && all != 0) {
        return false;
    }

    enqueue(f, inflight, now);
    return true;
}


/* --- begin and end --- */

static inflight_t *
begin(inflights_t *f, const sym_rpc_message_t *ensure, sym_str_t ref,
      const owner_plan_t *plan, int64_t now)
{
    sym_str_t scope = ensure->key.scope;
    inflight_t *inflight = calloc(1, sizeof(*inflight) + ref.len + scope.len);
    char *at;

    if (inflight == NULL
        || !owner_create(&f->by_place, &inflight->places, plan)) {
        free(inflight);
        return NULL;
    }

    if (!lease_init(&f->leases, &inflight->lease, scope)) {
        owner_drop(&f->by_place, &inflight->places, on_free_place, f);
        free(inflight);
        return NULL;
    }

    inflight->open = plan->open & owner_all(&inflight->places);
    at = inflight->bytes;
    inflight->kind = (sym_kind_t) ensure->kind;
    inflight->flags = ensure->flags;
    inflight->rules = ensure->rules;
    inflight->n_bytes = ref.len;
    (void) sym_object_ref_read(sym_str_append(&at, ref), &inflight->ref);
    (void) object_key(&inflight->ref, sym_str_append(&at, scope),
                      &inflight->names, &inflight->key);
    table_add(&f->by_question, &inflight->node, hash_question(f, ensure, ref));
    table_add(&f->by_module, &inflight->of_module,
              hash_module(f, &inflight->key));
    table_add(&f->by_code, &inflight->of_code,
              sym_hash(&f->key, code_text(&inflight->ref.code_id)));
    enqueue(f, inflight, now);
    return inflight;
}


/* Called when no client is waiting any more, or all have been answered. */
static void
forget(inflights_t *f, inflight_t *inflight)
{
    leave_phase(f, inflight);
    owner_drop(&f->by_place, &inflight->places, on_free_place, f);
    lease_free(&f->leases, &inflight->lease);
    table_remove(&f->by_question, &inflight->node);
    table_remove(&f->by_module, &inflight->of_module);
    table_remove(&f->by_code, &inflight->of_code);
    free(inflight);
}


/* --- waiting clients --- */

static uint64_t
hash_ticket(const inflights_t *f, const client_t *client, uint32_t ticket)
{
    const uint64_t name[2] = { client->serial, ticket };

    return sym_hash(&f->key, sym_str((const char *) name, sizeof(name)));
}


waiter_t *
inflight_waiter(const inflights_t *f, const client_t *client, uint32_t ticket)
{
    table_node_t *node =
        table_first(&f->by_ticket, hash_ticket(f, client, ticket));

    while (node != NULL
           && (((waiter_t *) node)->client != client
               || ((waiter_t *) node)->ticket != ticket))
    {
        node = table_next(node);
    }

    return (waiter_t *) node;
}


static void
link_waiter(inflight_t *inflight, client_t *client, waiter_t *w)
{
    w->before = inflight->last;

    if (inflight->last != NULL) {
        inflight->last->after = w;
    } else {
        inflight->first = w;
    }

    inflight->last = w;

    w->own_next = client->waiters;

    if (client->waiters != NULL) {
        client->waiters->own_prev = w;
    }

    client->waiters = w;
    client->n_waiters++;
}


static void
unlink_waiter(waiter_t *w)
{
    inflight_t *inflight = w->inflight;
    client_t *client = w->client;

    *(w->before != NULL ? &w->before->after : &inflight->first) = w->after;
    *(w->after != NULL ? &w->after->before : &inflight->last) = w->before;
    *(w->own_prev != NULL ? &w->own_prev->own_next : &client->waiters) =
        w->own_next;

    if (w->own_next != NULL) {
        w->own_next->own_prev = w->own_prev;
    }

    client->n_waiters--;
}


bool
inflight_join(inflights_t *f, client_t *client, const sym_rpc_message_t *ensure,
              const owner_plan_t *plan, int64_t now)
{
    char bytes[SYM_REF_BYTES_MAX];
    const sym_str_t ref =
        sym_str(bytes, sym_object_ref_write(&ensure->ref, bytes));
    inflight_t *inflight = find_inflight(f, ensure, ref);
    waiter_t *w = calloc(1, sizeof(*w));

    if (inflight != NULL) {
        f->joins++;
    } else if (w != NULL) {
        inflight = begin(f, ensure, ref, plan, now);
    }

    if (w == NULL || inflight == NULL) {
        free(w);
        return false;
    }

    w->client = client;
    w->ticket = ensure->ticket;
    w->inflight = inflight;
    link_waiter(inflight, client, w);
    inflight->n_wanting++;
    lease_abandon(&f->leases, &inflight->lease, false, now);
    table_add(&f->by_ticket, &w->node, hash_ticket(f, client, w->ticket));
    return true;
}


void
inflight_abandon(inflights_t *f, waiter_t *w, bool is_abandoned, int64_t now)
{
    inflight_t *inflight = w->inflight;

    if (w->is_abandoned == is_abandoned) {
        return;
    }

    w->is_abandoned = is_abandoned;
    inflight->n_wanting += is_abandoned ? UINT32_MAX : 1;
    lease_abandon(&f->leases, &inflight->lease, inflight->n_wanting == 0, now);
}


static void
free_waiter(inflights_t *f, waiter_t *w)
{
    if (w->errand != NULL) {
        *w->errand = NULL;
    }

    unlink_waiter(w);
    table_remove(&f->by_ticket, &w->node);
    free(w);
}


/* --- elections --- */

static void
return_lease(inflights_t *f, inflight_t *inflight)
{
    lease_return(&f->leases, &inflight->lease, inflight->lease.bytes);
    inflight->lease.bytes = 0;
}


void
inflight_wait(inflights_t *f, inflight_t *inflight, uint64_t want, int64_t now)
{
    leave_phase(f, inflight);
    return_lease(f, inflight);
    inflight->lease.want = want;
    inflight->is_begun = true;
    enqueue(f, inflight, now);
}


static void
search_on(inflights_t *f, inflight_t *inflight)
{
    return_lease(f, inflight);
    inflight->tried = inflight->is_void ? 0 : inflight->tried;
    inflight->is_void = false;
    inflight->is_begun = false;
    unplan(f, inflight); /* before searches that wait for its places */
    own(f, inflight, 0);
}


void
inflight_again(inflights_t *f, inflight_t *inflight)
{
    if (inflight->first == NULL) {
        forget(f, inflight);
    } else {
        search_on(f, inflight);
    }
}


static void
lose_election(inflights_t *f, inflight_t *inflight)
{
    inflight->is_again = true;
    search_on(f, inflight);
}


void
inflight_leave(inflights_t *f, waiter_t *w, int64_t now)
{
    inflight_t *inflight = w->inflight;

    if (inflight->elected == w) {
        lose_election(f, inflight);
    }

    inflight_abandon(f, w, true, now);
    free_waiter(f, w);

    /* a conversion continues: a client will request the module again */
    if (inflight->first == NULL && inflight->phase != INFLIGHT_CONVERTING) {
        forget(f, inflight);
    }
}


void
inflight_leave_all(inflights_t *f, client_t *client, int64_t now)
{
    while (client->waiters != NULL) {
        inflight_leave(f, client->waiters, now);
    }
}


inflight_t *
inflight_elected(const inflights_t *f, const client_t *client, uint32_t ticket)
{
    waiter_t *w = inflight_waiter(f, client, ticket);

    return w != NULL && w->inflight->elected == w ? w->inflight : NULL;
}


bool
inflight_answered(inflights_t *f, inflight_t *inflight)
{
    leave_phase(f, inflight);

    if (inflight->is_void) {
        search_on(f, inflight);
        return false;
    }

    return true;
}


typedef struct {
    inflight_each_t fn;
    void *ctx;
} each_t;

static void
on_path(void *ctx, owner_t *places, unsigned number)
{
    const each_t *each = ctx;
    inflight_t *inflight = of_places(places);
    uint64_t later = inflight->open & ~inflight->places.owned;

    if ((later >> number & 1) == 0) {
        each->fn(each->ctx, inflight);
    }
}


void
inflights_at(const inflights_t *f, uint64_t path, inflight_each_t fn, void *ctx)
{
    each_t each = { fn, ctx };

    owner_each(&f->by_place, path, on_path, &each);
}


void
inflight_doubt(inflights_t *f, inflight_t *inflight)
{
    if (inflight->phase == INFLIGHT_FETCHING || inflight->is_begun) {
        inflight->is_void = true;
    } else if (inflight->phase != INFLIGHT_CONVERTING) {
        unplan(f, inflight);
    }
}


uint64_t
inflight_convert(inflights_t *f, inflight_t *inflight, uint64_t place)
{
    uint64_t lease = inflight->lease.bytes;

    inflight->lease.bytes = 0;
    own(f, inflight, place & inflight->places.owned);
    return lease;
}


void
inflight_hold(inflights_t *f, inflight_t *inflight)
{
    leave_phase(f, inflight);
}


void
inflight_settle(inflights_t *f, inflight_t *inflight, const fetch_result_t *o)
{
    while (inflight->first != NULL) {
        waiter_t *w = inflight->first;
        sym_rpc_message_t m;

        fetch_result_message(o, w->ticket, &m);
        client_send(w->client, &m);
        free_waiter(f, w);
    }

    forget(f, inflight);
}


/* Returns the first waiting client that has not failed to fetch it, or NULL. */
static waiter_t *
candidate(const inflight_t *inflight)
{
    waiter_t *w = inflight->first;

    while (w != NULL && w->is_late) {
        w = w->after;
    }

    return w;
}


/* Sends the elected client its first lease, or a larger one. */
static void
send_fetch(inflight_t *inflight)
{
    const sym_rpc_message_t m = {
        .type = SYM_RPC_FETCH,
        .ticket = inflight->elected->ticket,
        .flags = inflight->unshared,
        .length = inflight->lease.bytes,
        .places = inflight->places.owned,
    };

    client_send(inflight->elected->client, &m);
}


static void
send_for_peer(const inflight_t *inflight)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_FOR_PEER,
                                  .ticket = inflight->elected->ticket };

    if (inflight->is_for_peer) {
        client_send(inflight->elected->client, &m);
    }
}


typedef struct {
    inflights_t *f;
    int64_t now;
} for_peer_t;

static void
on_owner(void *ctx, owner_t *places)
{
    const for_peer_t *all = ctx;

    inflight_set_for_peer(all->f, of_places(places), all->now);
}


void
inflight_set_for_peer(inflights_t *f, inflight_t *inflight, int64_t now)
{
    for_peer_t all = { f, now };

    if (inflight->is_for_peer) {
        return;
    }

    inflight->is_for_peer = true;
    lease_set_for_peer(&f->leases, &inflight->lease, now);
    if (inflight->elected != NULL) {
        send_for_peer(inflight);
    }
    owner_each_owner(&inflight->places, on_owner, &all);
}


/* Hash of the ids of a module, whatever its name. */
static uint64_t
hash_ids(const inflights_t *f, const sym_module_key_t *key)
{
    return hash_module(f, &(sym_module_key_t){ .id = key->id });
}


void
inflights_changed(inflights_t *f, const sym_module_key_t *key, int64_t now)
{
    recent_add(&f->recent, hash_ids(f, key), now);
}


static bool
has_changed(const inflights_t *f, const inflight_t *inflight, uint64_t places,
            int64_t now)
{
    for (unsigned i = 0; i < inflight->places.n; i++) {
        if ((places >> i & 1) != 0
            && recent_has(&f->recent, owner_path(&inflight->places, i), now))
        {
            return true;
        }
    }

    return recent_has(&f->recent, hash_ids(f, &inflight->key), now);
}


static void
elect(inflights_t *f, inflight_t *inflight, waiter_t *w, uint64_t places,
      int64_t now)
{
    if (has_changed(f, inflight, places, now)) {
        inflight->unshared = SYM_RPC_UNUSABLE;
    }

    own(f, inflight, places);
    lease_dequeue(&f->leases, &inflight->lease);
    inflight->phase = INFLIGHT_FETCHING;
    inflight->elected = w;
    inflight->whole_to = 0;
    inflight->is_begun = false;
    lease_grow(&f->leases, &inflight->lease, inflight->lease.want);
    inflight->deadline_ms = now + f->fetch_timeout_ms;
    lease_hold(&f->leases, &inflight->lease);
    f->n_fetching++;
    f->elections++;
    f->re_elections += inflight->is_again;
    inflight->is_again = false;
    send_fetch(inflight);
    inflight->unshared = 0;
    send_for_peer(inflight);
}


bool
inflight_extend(inflights_t *f, inflight_t *inflight, uint64_t want)
{
    uint64_t more = want - inflight->lease.bytes;

    if (!lease_has_room(&f->leases, &inflight->lease, more, f->leases.room)) {
        return false;
    }

    inflight->lease.want = want;
    lease_grow(&f->leases, &inflight->lease, more);
    send_fetch(inflight);
    return true;
}


static inflight_t *
inflight_of(lease_t *lease)
{
    return (inflight_t *) ((char *) lease - offsetof(inflight_t, lease));
}


/* Returns the first search that a client can fetch.  inflights_expire() returns
 * the others, to be settled. */
static inflight_t *
first_queued(const lease_scope_t *scope)
{
    lease_t *lease = scope->first;

    while (lease != NULL && candidate(inflight_of(lease)) == NULL) {
        lease = lease->next;
    }

    return lease != NULL ? inflight_of(lease) : NULL;
}


/* Returns the longest wait of a download for more than a first lease. */
static int64_t
longest_wait(const inflights_t *f, int64_t now)
{
    const lease_scope_t *scope;
    int64_t longest = 0;

    for (scope = f->leases.first; scope != NULL; scope = scope->next) {
        const inflight_t *inflight = first_queued(scope);

        if (inflight != NULL
            && inflight->lease.want > lease_first_bytes(&f->leases)
            && now - inflight->lease.queued_ms > longest)
        {
            longest = now - inflight->lease.queued_ms;
        }
    }

    return longest;
}


/* True: a lease was granted, or the search now waits for a place. */
static bool
grant_first(inflights_t *f, lease_scope_t *scope, uint64_t most, int64_t now)
{
    inflight_t *inflight = first_queued(scope);
    uint64_t places;

    if (inflight == NULL) {
        return false;
    }

    places = owner_free_places(&inflight->places, inflight->open);
    if (places == 0 && inflight->open != 0) {
        leave_phase(f, inflight);
        inflight->phase = INFLIGHT_IDLE;
        return true;
    }

    /* Grants leases strictly in order; otherwise a large request would
     * starve. */
    if (!lease_has_room(&f->leases, &inflight->lease, inflight->lease.want,
                        most)) {
        return false;
    }

    elect(f, inflight, candidate(inflight), places, now);
    return true;
}


/* Requests room for the first search that waits in a scope. */
static void
reclaim(inflights_t *f, const lease_scope_t *scope, int64_t now)
{
    const inflight_t *waits = first_queued(scope);
    lease_t *lease;

    if (waits == NULL || waits->lease.is_abandoned) {
        return;
    }

    lease = lease_reclaim(&f->leases, scope, now);

    if (lease != NULL) {
        const waiter_t *elected = inflight_of(lease)->elected;
        const sym_rpc_message_t m = { .type = SYM_RPC_RECLAIM,
                                      .ticket = elected->ticket };

        client_send(elected->client, &m);
    }
}


void
inflights_grant(inflights_t *f, int64_t now)
{
    const lease_scope_t *scope;
    uint64_t most;
    bool is_any = true;

    if (lease_is_full(&f->leases)) {
        /* thousands of scopes may wait */
        if (f->leases.first != NULL) {
            reclaim(f, f->leases.first, now);
        }
        return;
    }

    most = lease_scope_most(&f->leases, longest_wait(f, now));

    while (is_any) {
        lease_scope_t *waits = f->leases.first;

        is_any = false;

        while (waits != NULL) {
            lease_scope_t *next = waits->next; /* saved, because the scope's
                                                  queue may become empty */

            is_any |= grant_first(f, waits, most, now);
            waits = next;
        }
    }

    for (scope = f->leases.first;
         scope != NULL && f->leases.reclaimable != NULL; scope = scope->next)
    {
        reclaim(f, scope, now);
    }
}


inflight_t *
inflights_expire(inflights_t *f, int64_t now)
{
    size_t i;

    for (i = 0; i < f->by_question.n_heads; i++) {
        table_node_t *node;

        for (node = f->by_question.heads[i]; node != NULL; node = node->next) {
            inflight_t *inflight = of_question(node);

            if (inflight->phase == INFLIGHT_FETCHING
                && now >= inflight->deadline_ms) {
                inflight->elected->is_late = true;
                lose_election(f, inflight);
            }

            if (inflight->phase <= INFLIGHT_QUEUED
                && candidate(inflight) == NULL) {
                return inflight;
            }
        }
    }

    return NULL;
}


void
inflights_free(inflights_t *f)
{
    table_node_t *node;

    if (f->by_question.heads != NULL && f->by_module.heads != NULL
        && f->by_code.heads != NULL && f->by_ticket.heads != NULL
        && f->by_place.heads != NULL)
    {
        while ((node = table_any(&f->by_ticket)) != NULL) {
            free_waiter(f, (waiter_t *) node);
        }

        while ((node = table_any(&f->by_question)) != NULL) {
            forget(f, of_question(node));
        }
    }

    leases_free(&f->leases);
    table_free(&f->by_question);
    table_free(&f->by_module);
    table_free(&f->by_code);
    table_free(&f->by_ticket);
    table_free(&f->by_place);
}
