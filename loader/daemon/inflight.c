#include "daemon/inflight.h"

#include <stdlib.h>


bool
inflights_create(inflights_t *f, uint64_t room, int64_t fetch_timeout_ms)
{
    *f = (inflights_t){ .room = room, .fetch_timeout_ms = fetch_timeout_ms };
    f->key = sym_hash_key();
    return table_create(&f->by_key) && table_create(&f->by_ticket);
}


/* --- scopes, and their queues for leases --- */

/* A lease that is too large for its scope's share waits so long for others to
 * end; then those that have much get nothing more before it. */
#define PATIENCE_MS 5000
#define MUCH_PART 8

static inflight_scope_t *
find_scope(inflights_t *f, sym_str_t name)
{
    inflight_scope_t **at = &f->scopes;

    while (*at != NULL
           && !sym_str_eq(sym_str((*at)->name, (*at)->name_len), name)) {
        at = &(*at)->next;
    }

    if (*at == NULL) {
        *at = calloc(1, sizeof(**at));

        if (*at != NULL && name.len != 0) {
            memcpy((*at)->name, name.data, name.len);
            (*at)->name_len = name.len;
        }
    }

    return *at;
}


static void
leave_scope(inflights_t *f, inflight_scope_t *scope)
{
    inflight_scope_t **at = &f->scopes;

    if (--scope->n_inflights > 0) {
        return;
    }

    while (*at != scope) {
        at = &(*at)->next;
    }

    *at = scope->next;
    free(scope);
}


static void
enqueue(inflight_t *inflight, int64_t now)
{
    inflight_scope_t *scope = inflight->scope;

    inflight->phase = INFLIGHT_QUEUED;
    inflight->queued_ms = now;
    inflight->queue_next = NULL;
    inflight->queue_prev = scope->last;

    if (scope->last != NULL) {
        scope->last->queue_next = inflight;
    } else {
        scope->first = inflight;
    }

    scope->last = inflight;
}


static void
dequeue(inflight_t *inflight)
{
    inflight_scope_t *scope = inflight->scope;

    if (inflight->queue_prev != NULL) {
        inflight->queue_prev->queue_next = inflight->queue_next;
    } else {
        scope->first = inflight->queue_next;
    }

    if (inflight->queue_next != NULL) {
        inflight->queue_next->queue_prev = inflight->queue_prev;
    } else {
        scope->last = inflight->queue_prev;
    }
}


static void
lend(inflights_t *f, inflight_t *inflight, uint64_t bytes)
{
    inflight->lease += bytes;
    inflight->scope->leased += bytes;
    f->leased += bytes;
}


void
inflight_return(inflights_t *f, inflight_t *inflight, uint64_t lease)
{
    inflight->scope->leased -= lease;
    f->leased -= lease;
}


static void
return_lease(inflights_t *f, inflight_t *inflight)
{
    inflight_return(f, inflight, inflight->lease);
    inflight->lease = 0;
}


/* Whether `bytes` more may be leased; `most`: the limit of the scope. */
static bool
has_room(const inflights_t *f, const inflight_t *inflight, uint64_t bytes,
         uint64_t most)
{
    const inflight_scope_t *scope = inflight->scope;
    uint64_t free_bytes = f->room - f->leased;

    if (bytes > free_bytes) {
        return false;
    }

    /* the scope's only lease may be large */
    return scope->leased == inflight->lease
           || (bytes <= most && scope->leased <= most - bytes
               && scope->leased + bytes <= free_bytes - bytes);
}


static uint64_t
first_lease(const inflights_t *f)
{
    return f->room / 4 < INFLIGHT_FIRST_LEASE ? f->room / 4
                                              : INFLIGHT_FIRST_LEASE;
}


uint64_t
lease_for(uint64_t asked, uint64_t lease, uint64_t room, const client_t *client,
          uint64_t *whole_to)
{
    if (asked <= room) {
        return asked;
    }

    if (asked - lease != lease || *whole_to == client->serial) {
        return 0;
    }

    *whole_to = client->serial;
    return room;
}


/* --- inflights --- */

/* The same for a module of all sources, under all spellings of its id. */
static uint64_t
hash_key(const inflights_t *f, const sym_module_key_t *key)
{
    char id[SYM_ID_MAX];
    sym_hash_state_t s = sym_hash_begin(&f->key);

    sym_hash_add(&s, key->name);
    sym_hash_add(&s, sym_str(id, sym_debug_id_canonical(key->id, id)));
    return sym_hash_end(s);
}


/* A code id that only one of them has says nothing. */
static bool
is_key(const sym_module_key_t *a, const sym_module_key_t *b)
{
    return sym_str_eq(a->name, b->name) && sym_str_eq(a->id, b->id)
           && sym_str_eq(a->scope, b->scope)
           && (a->code_id.len == 0 || b->code_id.len == 0
               || sym_str_eq(a->code_id, b->code_id));
}


/* NULL: no client waits for it. */
static inflight_t *
find_inflight(const inflights_t *f, const sym_module_key_t *key)
{
    table_node_t *node = table_first(&f->by_key, hash_key(f, key));

    while (node != NULL && !is_key(&((inflight_t *) node)->key, key)) {
        node = table_next(node);
    }

    return (inflight_t *) node;
}


bool
inflight_is_of(const inflight_t *inflight, const sym_module_key_t *key)
{
    char id[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(inflight->key.id, id);

    return sym_str_eq(sym_str(id, len), key->id)
           && (key->name.len == 0 || sym_str_eq(inflight->key.name, key->name))
           && (sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL))
               || sym_str_eq(inflight->key.scope, key->scope));
}


inflight_t *
inflight_next_of(const inflights_t *f, const sym_module_key_t *key,
                 const inflight_t *last)
{
    table_node_t *node = last == NULL
                             ? table_first(&f->by_key, hash_key(f, key))
                             : table_next(&last->node);

    while (node != NULL && !inflight_is_of((inflight_t *) node, key)) {
        node = table_next(node);
    }

    return (inflight_t *) node;
}


static sym_str_t
append(char **at, sym_str_t s)
{
    sym_str_t copy = { *at, s.len };

    if (s.len != 0) {
        memcpy(*at, s.data, s.len);
        *at += s.len;
    }

    return copy;
}


static inflight_t *
begin(inflights_t *f, const sym_module_key_t *key, int64_t now)
{
    inflight_t *inflight = calloc(1, sizeof(*inflight));
    inflight_scope_t *scope = NULL;
    char *at;

    if (inflight != NULL) {
        scope = find_scope(f, key->scope);
    }

    if (scope == NULL) {
        free(inflight);
        return NULL;
    }

    at = inflight->text;
    inflight->key.scope = append(&at, key->scope);
    inflight->key.name = append(&at, key->name);
    inflight->key.id = append(&at, key->id);
    inflight->key.code_id = append(&at, key->code_id);
    inflight->want = first_lease(f);
    inflight->scope = scope;
    scope->n_inflights++;
    table_add(&f->by_key, &inflight->node, hash_key(f, key));
    enqueue(inflight, now);
    return inflight;
}


/* No client waits for it any more, or all have been told. */
static void
forget(inflights_t *f, inflight_t *inflight)
{
    if (inflight->phase == INFLIGHT_QUEUED) {
        dequeue(inflight);
    } else if (inflight->phase == INFLIGHT_FETCHING) {
        f->n_fetching--;
    }

    return_lease(f, inflight);
    leave_scope(f, inflight->scope);
    table_remove(&f->by_key, &inflight->node);
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
inflight_join(inflights_t *f, client_t *client, uint32_t ticket,
              const sym_module_key_t *key, int64_t now)
{
    inflight_t *inflight = find_inflight(f, key);
    waiter_t *w = calloc(1, sizeof(*w));

    if (inflight != NULL) {
        f->joins++;
    } else if (w != NULL) {
        inflight = begin(f, key, now);
    }

    if (w == NULL || inflight == NULL) {
        free(w);
        return false;
    }

    w->client = client;
    w->ticket = ticket;
    w->inflight = inflight;
    link_waiter(inflight, client, w);
    table_add(&f->by_ticket, &w->node, hash_ticket(f, client, ticket));
    return true;
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

/* Ends the fetch, whatever comes next. */
static void
end_fetch(inflights_t *f, inflight_t *inflight)
{
    f->n_fetching--;
    inflight->elected = NULL;
    inflight->phase = INFLIGHT_CONVERTING;
}


static void
queue_again(inflights_t *f, inflight_t *inflight, int64_t now)
{
    return_lease(f, inflight);
    enqueue(inflight, now);
}


void
inflight_again(inflights_t *f, inflight_t *inflight, uint64_t want, int64_t now)
{
    if (inflight->first == NULL) {
        forget(f, inflight);
        return;
    }

    inflight->want = want != 0 ? want : inflight->want;
    inflight->is_begun = want != 0;
    queue_again(f, inflight, now);
}


static void
lose_election(inflights_t *f, inflight_t *inflight, int64_t now)
{
    end_fetch(f, inflight);
    inflight->is_again = true;
    inflight->is_void = false;
    queue_again(f, inflight, now);
}


void
inflight_leave(inflights_t *f, waiter_t *w, int64_t now)
{
    inflight_t *inflight = w->inflight;

    if (inflight->elected == w) {
        lose_election(f, inflight, now);
    }

    free_waiter(f, w);

    /* a conversion goes on: somebody will ask again */
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
inflight_answered(inflights_t *f, inflight_t *inflight, int64_t now)
{
    end_fetch(f, inflight);

    if (inflight->is_void) {
        inflight->is_void = false;
        queue_again(f, inflight, now);
        return false;
    }

    return true;
}


void
inflight_doubt(inflight_t *inflight)
{
    inflight->is_void |=
        inflight->phase == INFLIGHT_FETCHING
        || (inflight->phase == INFLIGHT_QUEUED && inflight->is_begun);
}


uint64_t
inflight_convert(inflight_t *inflight)
{
    uint64_t lease = inflight->lease;

    inflight->lease = 0;
    return lease;
}


void
inflight_hold(inflights_t *f, inflight_t *inflight)
{
    if (inflight->phase == INFLIGHT_QUEUED) {
        dequeue(inflight);
    } else if (inflight->phase == INFLIGHT_FETCHING) {
        end_fetch(f, inflight);
    }

    inflight->phase = INFLIGHT_CONVERTING;
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


/* The first waiting client that has not failed to fetch it; NULL: none. */
static waiter_t *
candidate(const inflight_t *inflight)
{
    waiter_t *w = inflight->first;

    while (w != NULL && w->is_late) {
        w = w->after;
    }

    return w;
}


/* Of the elected one: with its first lease, or a larger one. */
static void
send_fetch(inflight_t *inflight)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_FETCH,
                                  .ticket = inflight->elected->ticket,
                                  .length = inflight->lease };

    client_send(inflight->elected->client, &m);
}


static void
elect(inflights_t *f, inflight_t *inflight, waiter_t *w, int64_t now)
{
    dequeue(inflight);
    inflight->phase = INFLIGHT_FETCHING;
    inflight->elected = w;
    inflight->whole_to = 0;
    inflight->is_begun = false;
    lend(f, inflight, inflight->want);
    inflight->deadline_ms = now + f->fetch_timeout_ms;
    f->n_fetching++;
    f->elections++;
    f->re_elections += inflight->is_again;
    inflight->is_again = false;
    send_fetch(inflight);
}


bool
inflight_extend(inflights_t *f, inflight_t *inflight, uint64_t want)
{
    uint64_t more = want - inflight->lease;

    if (!has_room(f, inflight, more, f->room)) {
        return false;
    }

    inflight->want = want;
    lend(f, inflight, more);
    send_fetch(inflight);
    return true;
}


/* Of those that somebody can be asked for the first; the others
 * inflights_expire() gives to be settled. */
static inflight_t *
first_queued(const inflight_scope_t *scope)
{
    inflight_t *inflight = scope->first;

    while (inflight != NULL && candidate(inflight) == NULL) {
        inflight = inflight->queue_next;
    }

    return inflight;
}


/* The most bytes that one scope may hold. */
static uint64_t
most_room(const inflights_t *f, int64_t now)
{
    const inflight_scope_t *scope;

    for (scope = f->scopes; scope != NULL; scope = scope->next) {
        const inflight_t *inflight = first_queued(scope);

        if (inflight != NULL && inflight->want > first_lease(f)
            && now - inflight->queued_ms >= PATIENCE_MS)
        {
            return f->room / MUCH_PART;
        }
    }

    return f->room;
}


/* True: it got a lease. */
static bool
grant_first(inflights_t *f, inflight_scope_t *scope, uint64_t most, int64_t now)
{
    inflight_t *inflight = first_queued(scope);

    /* Strictly in turn: a large one would else wait for ever. */
    if (inflight == NULL || !has_room(f, inflight, inflight->want, most)) {
        return false;
    }

    elect(f, inflight, candidate(inflight), now);
    return true;
}


void
inflights_grant(inflights_t *f, int64_t now)
{
    uint64_t most = most_room(f, now);
    bool is_any = true;

    while (is_any) {
        inflight_scope_t *scope;

        is_any = false;

        for (scope = f->scopes; scope != NULL; scope = scope->next) {
            is_any |= grant_first(f, scope, most, now);
        }
    }
}


inflight_t *
inflights_expire(inflights_t *f, int64_t now)
{
    size_t i;

    for (i = 0; i < f->by_key.n_heads; i++) {
        table_node_t *node;

        for (node = f->by_key.heads[i]; node != NULL; node = node->next) {
            inflight_t *inflight = (inflight_t *) node;

            if (inflight->phase == INFLIGHT_FETCHING
                && now >= inflight->deadline_ms) {
                inflight->elected->is_late = true;
                lose_election(f, inflight, now);
            }

            if (inflight->phase == INFLIGHT_QUEUED
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

    if (f->by_key.heads != NULL && f->by_ticket.heads != NULL) {
        while ((node = table_any(&f->by_ticket)) != NULL) {
            free_waiter(f, (waiter_t *) node);
        }

        while ((node = table_any(&f->by_key)) != NULL) {
            forget(f, (inflight_t *) node);
        }
    }

    table_free(&f->by_key);
    table_free(&f->by_ticket);
}
