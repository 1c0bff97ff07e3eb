#include "flight.h"

#include <stdlib.h>


bool
flights_create(flights_t *f, uint64_t room, int64_t fetch_timeout_ms)
{
    *f = (flights_t){ .room = room, .fetch_timeout_ms = fetch_timeout_ms };
    f->key = sym_hash_key();
    return table_create(&f->by_key) && table_create(&f->by_ticket);
}


/* --- scopes, and their queues for leases --- */

/* A lease that is too large for its scope's share waits so long for others to
 * end; then those that have much get nothing more before it. */
#define PATIENCE_MS 5000
#define MUCH_PART 8

static flight_scope_t *
find_scope(flights_t *f, sym_str_t name)
{
    flight_scope_t **at = &f->scopes;

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
leave_scope(flights_t *f, flight_scope_t *scope)
{
    flight_scope_t **at = &f->scopes;

    if (--scope->n_flights > 0) {
        return;
    }

    while (*at != scope) {
        at = &(*at)->next;
    }

    *at = scope->next;
    free(scope);
}


static void
enqueue(flight_t *flight, int64_t now)
{
    flight_scope_t *scope = flight->scope;

    flight->phase = FLIGHT_QUEUED;
    flight->queued_ms = now;
    flight->queue_next = NULL;
    flight->queue_prev = scope->last;

    if (scope->last != NULL) {
        scope->last->queue_next = flight;
    } else {
        scope->first = flight;
    }

    scope->last = flight;
}


static void
dequeue(flight_t *flight)
{
    flight_scope_t *scope = flight->scope;

    if (flight->queue_prev != NULL) {
        flight->queue_prev->queue_next = flight->queue_next;
    } else {
        scope->first = flight->queue_next;
    }

    if (flight->queue_next != NULL) {
        flight->queue_next->queue_prev = flight->queue_prev;
    } else {
        scope->last = flight->queue_prev;
    }
}


static void
lend(flights_t *f, flight_t *flight, uint64_t bytes)
{
    flight->lease += bytes;
    flight->scope->leased += bytes;
    f->leased += bytes;
}


void
flight_return(flights_t *f, flight_t *flight, uint64_t lease)
{
    flight->scope->leased -= lease;
    f->leased -= lease;
}


static void
return_lease(flights_t *f, flight_t *flight)
{
    flight_return(f, flight, flight->lease);
    flight->lease = 0;
}


/* Whether so many bytes more may be lent; `most`: that the scope may have. */
static bool
has_room(const flights_t *f, const flight_t *flight, uint64_t bytes,
         uint64_t most)
{
    const flight_scope_t *scope = flight->scope;
    uint64_t free_bytes = f->room - f->leased;

    if (bytes > free_bytes) {
        return false;
    }

    /* one alone may be large */
    return scope->leased == flight->lease
           || (bytes <= most && scope->leased <= most - bytes
               && scope->leased + bytes <= free_bytes - bytes);
}


static uint64_t
first_lease(const flights_t *f)
{
    return f->room / 4 < FLIGHT_FIRST_LEASE ? f->room / 4 : FLIGHT_FIRST_LEASE;
}


/* --- flights --- */

/* The same for a module of all sources, under all spellings of its id. */
static uint64_t
hash_key(const flights_t *f, const sym_module_key_t *key)
{
    char id[SYM_ID_MAX];
    sym_hash_state_t s = sym_hash_begin(&f->key);

    sym_hash_add(&s, key->name);
    sym_hash_add(&s, sym_str(id, sym_debug_id_canonical(key->id, id)));
    return sym_hash_end(s);
}


static bool
is_key(const sym_module_key_t *a, const sym_module_key_t *b)
{
    return sym_str_eq(a->name, b->name) && sym_str_eq(a->id, b->id)
           && sym_str_eq(a->scope, b->scope);
}


flight_t *
flight_find(const flights_t *f, const sym_module_key_t *key)
{
    table_node_t *node = table_first(&f->by_key, hash_key(f, key));

    while (node != NULL && !is_key(&((flight_t *) node)->key, key)) {
        node = table_next(node);
    }

    return (flight_t *) node;
}


bool
flight_is_of(const flight_t *flight, const sym_module_key_t *key)
{
    char id[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(flight->key.id, id);

    return sym_str_eq(sym_str(id, len), key->id)
           && (key->name.len == 0 || sym_str_eq(flight->key.name, key->name))
           && (sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL))
               || sym_str_eq(flight->key.scope, key->scope));
}


flight_t *
flight_next_of(const flights_t *f, const sym_module_key_t *key,
               const flight_t *last)
{
    table_node_t *node = last == NULL
                             ? table_first(&f->by_key, hash_key(f, key))
                             : table_next(&last->node);

    while (node != NULL && !flight_is_of((flight_t *) node, key)) {
        node = table_next(node);
    }

    return (flight_t *) node;
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


static flight_t *
begin(flights_t *f, const sym_module_key_t *key, int64_t now)
{
    flight_t *flight = calloc(1, sizeof(*flight));
    flight_scope_t *scope = NULL;
    char *at;

    if (flight != NULL) {
        scope = find_scope(f, key->scope);
    }

    if (scope == NULL) {
        free(flight);
        return NULL;
    }

    at = flight->text;
    flight->key.scope = append(&at, key->scope);
    flight->key.name = append(&at, key->name);
    flight->key.id = append(&at, key->id);
    flight->want = first_lease(f);
    flight->scope = scope;
    scope->n_flights++;
    table_add(&f->by_key, &flight->node, hash_key(f, key));
    enqueue(flight, now);
    return flight;
}


/* Nobody waits for it any more, or all have been told. */
static void
forget(flights_t *f, flight_t *flight)
{
    if (flight->phase == FLIGHT_QUEUED) {
        dequeue(flight);
    } else if (flight->phase == FLIGHT_FETCHING) {
        f->n_fetching--;
    }

    return_lease(f, flight);
    leave_scope(f, flight->scope);
    table_remove(&f->by_key, &flight->node);
    free(flight);
}


/* --- who waits --- */

static uint64_t
hash_ticket(const flights_t *f, const client_t *client, uint32_t ticket)
{
    const uint64_t name[2] = { client->serial, ticket };

    return sym_hash(&f->key, sym_str((const char *) name, sizeof(name)));
}


waiter_t *
flight_waiter(const flights_t *f, const client_t *client, uint32_t ticket)
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
link_waiter(flight_t *flight, client_t *client, waiter_t *w)
{
    w->before = flight->last;

    if (flight->last != NULL) {
        flight->last->after = w;
    } else {
        flight->first = w;
    }

    flight->last = w;

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
    flight_t *flight = w->flight;
    client_t *client = w->client;

    *(w->before != NULL ? &w->before->after : &flight->first) = w->after;
    *(w->after != NULL ? &w->after->before : &flight->last) = w->before;
    *(w->own_prev != NULL ? &w->own_prev->own_next : &client->waiters) =
        w->own_next;

    if (w->own_next != NULL) {
        w->own_next->own_prev = w->own_prev;
    }

    client->n_waiters--;
}


bool
flight_join(flights_t *f, client_t *client, uint32_t ticket,
            const sym_module_key_t *key, int64_t now)
{
    flight_t *flight = flight_find(f, key);
    waiter_t *w = calloc(1, sizeof(*w));

    if (flight != NULL) {
        f->joins++;
    } else if (w != NULL) {
        flight = begin(f, key, now);
    }

    if (w == NULL || flight == NULL) {
        free(w);
        return false;
    }

    w->client = client;
    w->ticket = ticket;
    w->flight = flight;
    link_waiter(flight, client, w);
    table_add(&f->by_ticket, &w->node, hash_ticket(f, client, ticket));
    return true;
}


static void
free_waiter(flights_t *f, waiter_t *w)
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
end_fetch(flights_t *f, flight_t *flight)
{
    f->n_fetching--;
    flight->elected = NULL;
    flight->phase = FLIGHT_CONVERTING;
}


static void
queue_again(flights_t *f, flight_t *flight, int64_t now)
{
    return_lease(f, flight);
    flight->is_void = false;
    enqueue(flight, now);
}


void
flight_again(flights_t *f, flight_t *flight, uint64_t want, int64_t now)
{
    if (flight->first == NULL) {
        forget(f, flight);
        return;
    }

    flight->want = want != 0 ? want : flight->want;
    queue_again(f, flight, now);
}


static void
lose_election(flights_t *f, flight_t *flight, int64_t now)
{
    end_fetch(f, flight);
    flight->is_again = true;
    queue_again(f, flight, now);
}


void
flight_leave(flights_t *f, waiter_t *w, int64_t now)
{
    flight_t *flight = w->flight;

    if (flight->elected == w) {
        lose_election(f, flight, now);
    }

    free_waiter(f, w);

    /* a conversion goes on: somebody will ask again */
    if (flight->first == NULL && flight->phase != FLIGHT_CONVERTING) {
        forget(f, flight);
    }
}


void
flight_leave_all(flights_t *f, client_t *client, int64_t now)
{
    while (client->waiters != NULL) {
        flight_leave(f, client->waiters, now);
    }
}


flight_t *
flight_elected(const flights_t *f, const client_t *client, uint32_t ticket)
{
    waiter_t *w = flight_waiter(f, client, ticket);

    return w != NULL && w->flight->elected == w ? w->flight : NULL;
}


bool
flight_answered(flights_t *f, flight_t *flight, int64_t now)
{
    end_fetch(f, flight);

    if (flight->is_void) {
        queue_again(f, flight, now);
        return false;
    }

    return true;
}


uint64_t
flight_convert(flight_t *flight)
{
    uint64_t lease = flight->lease;

    flight->lease = 0;
    return lease;
}


void
flight_hold(flights_t *f, flight_t *flight)
{
    if (flight->phase == FLIGHT_QUEUED) {
        dequeue(flight);
    } else if (flight->phase == FLIGHT_FETCHING) {
        end_fetch(f, flight);
    }

    flight->phase = FLIGHT_CONVERTING;
}


void
flight_settle(flights_t *f, flight_t *flight, const outcome_t *o)
{
    while (flight->first != NULL) {
        waiter_t *w = flight->first;
        sym_link_message_t m;

        outcome_message(o, w->ticket, &m);
        client_send(w->client, &m);
        free_waiter(f, w);
    }

    forget(f, flight);
}


/* Of those who wait the first that has not failed at it; NULL: none. */
static waiter_t *
candidate(const flight_t *flight)
{
    waiter_t *w = flight->first;

    while (w != NULL && w->is_late) {
        w = w->after;
    }

    return w;
}


/* Of the elected one: with its first lease, or a larger one. */
static void
send_fetch(flight_t *flight)
{
    const sym_link_message_t m = { .type = SYM_LINK_FETCH,
                                   .ticket = flight->elected->ticket,
                                   .length = flight->lease };

    client_send(flight->elected->client, &m);
}


static void
elect(flights_t *f, flight_t *flight, waiter_t *w, int64_t now)
{
    dequeue(flight);
    flight->phase = FLIGHT_FETCHING;
    flight->elected = w;
    lend(f, flight, flight->want);
    flight->deadline_ms = now + f->fetch_timeout_ms;
    f->n_fetching++;
    f->elections++;
    f->re_elections += flight->is_again;
    flight->is_again = false;
    send_fetch(flight);
}


bool
flight_extend(flights_t *f, flight_t *flight, uint64_t want)
{
    uint64_t more = want - flight->lease;

    if (!has_room(f, flight, more, f->room)) {
        return false;
    }

    flight->want = want;
    lend(f, flight, more);
    send_fetch(flight);
    return true;
}


/* Of those that somebody can be asked for the first; the others
 * flights_expire() gives to be settled. */
static flight_t *
first_queued(const flight_scope_t *scope)
{
    flight_t *flight = scope->first;

    while (flight != NULL && candidate(flight) == NULL) {
        flight = flight->queue_next;
    }

    return flight;
}


/* What a scope may have at most. */
static uint64_t
most_room(const flights_t *f, int64_t now)
{
    const flight_scope_t *scope;

    for (scope = f->scopes; scope != NULL; scope = scope->next) {
        const flight_t *flight = first_queued(scope);

        if (flight != NULL && flight->want > first_lease(f)
            && now - flight->queued_ms >= PATIENCE_MS)
        {
            return f->room / MUCH_PART;
        }
    }

    return f->room;
}


/* True: it got a lease. */
static bool
grant_first(flights_t *f, flight_scope_t *scope, uint64_t most, int64_t now)
{
    flight_t *flight = first_queued(scope);

    /* Strictly in turn: a large one would else wait for ever. */
    if (flight == NULL || !has_room(f, flight, flight->want, most)) {
        return false;
    }

    elect(f, flight, candidate(flight), now);
    return true;
}


void
flights_grant(flights_t *f, int64_t now)
{
    uint64_t most = most_room(f, now);
    bool is_any = true;

    while (is_any) {
        flight_scope_t *scope;

        is_any = false;

        for (scope = f->scopes; scope != NULL; scope = scope->next) {
            is_any |= grant_first(f, scope, most, now);
        }
    }
}


flight_t *
flights_expire(flights_t *f, int64_t now)
{
    size_t i;

    for (i = 0; i < f->by_key.n_heads; i++) {
        table_node_t *node;

        for (node = f->by_key.heads[i]; node != NULL; node = node->next) {
            flight_t *flight = (flight_t *) node;

            if (flight->phase == FLIGHT_FETCHING && now >= flight->deadline_ms)
            {
                flight->elected->is_late = true;
                lose_election(f, flight, now);
            }

            if (flight->phase == FLIGHT_QUEUED && candidate(flight) == NULL) {
                return flight;
            }
        }
    }

    return NULL;
}


void
flights_free(flights_t *f)
{
    table_node_t *node;

    if (f->by_key.heads != NULL && f->by_ticket.heads != NULL) {
        while ((node = table_any(&f->by_ticket)) != NULL) {
            free_waiter(f, (waiter_t *) node);
        }

        while ((node = table_any(&f->by_key)) != NULL) {
            forget(f, (flight_t *) node);
        }
    }

    table_free(&f->by_key);
    table_free(&f->by_ticket);
}
