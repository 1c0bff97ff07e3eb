#include "flight.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/hash.h"


bool
flights_create(flights_t *f, uint64_t room, int64_t fetch_timeout_ms)
{
    *f = (flights_t){ .room = room, .fetch_timeout_ms = fetch_timeout_ms };

    /* Keys come from whoever asks nginx: they must not know who collides. */
    if (getrandom(&f->seed, sizeof(f->seed), 0) != (ssize_t) sizeof(f->seed)) {
        return false;
    }

    return table_create(&f->by_key) && table_create(&f->by_ticket);
}


/* --- the queue for leases --- */

static void
enqueue(flights_t *f, flight_t *flight)
{
    flight->phase = FLIGHT_QUEUED;
    flight->queue_next = NULL;
    flight->queue_prev = f->last;

    if (f->last != NULL) {
        f->last->queue_next = flight;
    } else {
        f->first = flight;
    }

    f->last = flight;
}


static void
dequeue(flights_t *f, flight_t *flight)
{
    if (flight->queue_prev != NULL) {
        flight->queue_prev->queue_next = flight->queue_next;
    } else {
        f->first = flight->queue_next;
    }

    if (flight->queue_next != NULL) {
        flight->queue_next->queue_prev = flight->queue_prev;
    } else {
        f->last = flight->queue_prev;
    }
}


void
flights_return(flights_t *f, uint64_t lease)
{
    f->leased -= lease;
}


static void
return_lease(flights_t *f, flight_t *flight)
{
    flights_return(f, flight->lease);
    flight->lease = 0;
}


static uint64_t
first_lease(const flights_t *f)
{
    return f->room / 4 < FLIGHT_FIRST_LEASE ? f->room / 4 : FLIGHT_FIRST_LEASE;
}


/* --- flights --- */

static uint64_t
hash_key(const flights_t *f, const sym_module_key_t *key)
{
    uint64_t h = sym_hash(f->seed, key->scope);

    return sym_hash(sym_hash(h, key->name), key->id);
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
begin(flights_t *f, const sym_module_key_t *key)
{
    flight_t *flight = calloc(1, sizeof(*flight));
    char *at;

    if (flight == NULL) {
        return NULL;
    }

    at = flight->text;
    flight->key.scope = append(&at, key->scope);
    flight->key.name = append(&at, key->name);
    flight->key.id = append(&at, key->id);
    flight->want = first_lease(f);
    table_add(&f->by_key, &flight->node, hash_key(f, key));
    enqueue(f, flight);
    return flight;
}


/* Nobody waits for it any more, or all have been told. */
static void
forget(flights_t *f, flight_t *flight)
{
    if (flight->phase == FLIGHT_QUEUED) {
        dequeue(f, flight);
    } else if (flight->phase == FLIGHT_FETCHING) {
        f->n_fetching--;
    }

    return_lease(f, flight);
    table_remove(&f->by_key, &flight->node);
    free(flight);
}


/* --- who waits --- */

static uint64_t
hash_ticket(const flights_t *f, const client_t *client, uint32_t ticket)
{
    const uint64_t name[2] = { client->serial, ticket };

    return sym_hash(f->seed, sym_str((const char *) name, sizeof(name)));
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


void
flight_join(flights_t *f, client_t *client, uint32_t ticket,
            const sym_module_key_t *key)
{
    flight_t *flight = flight_find(f, key);
    waiter_t *w;

    if (client->n_waiters >= CLIENT_TICKETS_MAX) {
        client_end(client, "too many open tickets");
        return;
    }

    w = calloc(1, sizeof(*w));

    if (flight != NULL) {
        f->joins++;
    } else if (w != NULL) {
        flight = begin(f, key);
    }

    if (w == NULL || flight == NULL) {
        free(w);
        client_end(client, "out of memory");
        return;
    }

    w->client = client;
    w->ticket = ticket;
    w->flight = flight;
    link_waiter(flight, client, w);
    table_add(&f->by_ticket, &w->node, hash_ticket(f, client, ticket));
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
queue_again(flights_t *f, flight_t *flight)
{
    return_lease(f, flight);
    flight->is_void = false;
    enqueue(f, flight);
}


void
flight_again(flights_t *f, flight_t *flight, uint64_t want)
{
    if (flight->first == NULL) {
        forget(f, flight);
        return;
    }

    flight->want = want != 0 ? want : flight->want;
    queue_again(f, flight);
}


static void
lose_election(flights_t *f, flight_t *flight)
{
    end_fetch(f, flight);
    flight->is_again = true;
    queue_again(f, flight);
}


void
flight_leave(flights_t *f, waiter_t *w)
{
    flight_t *flight = w->flight;

    if (flight->elected == w) {
        lose_election(f, flight);
    }

    free_waiter(f, w);

    /* a conversion goes on: somebody will ask again */
    if (flight->first == NULL && flight->phase != FLIGHT_CONVERTING) {
        forget(f, flight);
    }
}


void
flight_leave_all(flights_t *f, client_t *client)
{
    while (client->waiters != NULL) {
        flight_leave(f, client->waiters);
    }
}


flight_t *
flight_elected(const flights_t *f, const client_t *client, uint32_t ticket)
{
    waiter_t *w = flight_waiter(f, client, ticket);

    return w != NULL && w->flight->elected == w ? w->flight : NULL;
}


bool
flight_answered(flights_t *f, flight_t *flight)
{
    end_fetch(f, flight);

    if (flight->is_void) {
        queue_again(f, flight);
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
        dequeue(f, flight);
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


static void
elect(flights_t *f, flight_t *flight, waiter_t *w, int64_t now)
{
    const sym_link_message_t m = { .type = SYM_LINK_FETCH,
                                   .ticket = w->ticket,
                                   .length = flight->want };

    dequeue(f, flight);
    flight->phase = FLIGHT_FETCHING;
    flight->elected = w;
    flight->lease = flight->want;
    flight->deadline_ms = now + f->fetch_timeout_ms;
    f->leased += flight->lease;
    f->n_fetching++;
    f->elections++;
    f->re_elections += flight->is_again;
    flight->is_again = false;
    client_send(w->client, &m);
}


void
flights_grant(flights_t *f, int64_t now)
{
    flight_t *flight, *next;

    for (flight = f->first; flight != NULL; flight = next) {
        waiter_t *w = candidate(flight);

        next = flight->queue_next;

        if (w == NULL) {
            continue; /* flights_expire() gives it to be settled */
        }

        /* Strictly in turn: a large one would else wait for ever. */
        if (flight->want > f->room - f->leased) {
            return;
        }

        elect(f, flight, w, now);
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
                lose_election(f, flight);
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
