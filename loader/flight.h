/*
 * flight.h - modules that somebody waits for.
 *
 * A flight is one module on its way: however many clients ask for it, one of
 * them is told to fetch it.  Here is who waits, who is elected, and how much of
 * the room for temporary files is lent out; what is in the store, and what
 * becomes of the bytes, is the owner's business.
 *
 *     queued -> fetching -> converting -> settled
 *        ^---------'-----------'  (the elected one is lost, wants a larger
 *                                  lease, or what it brought is void)
 */
#ifndef SYMLOADER_FLIGHT_H
#define SYMLOADER_FLIGHT_H

#include "base/hash.h"
#include "client.h"
#include "outcome.h"
#include "table.h"

/* A first lease is small, so that downloads which never get on hold little; it
 * grows while a download goes on (MORE). */
#define FLIGHT_FIRST_LEASE ((uint64_t) 1 << 20)

typedef struct flight_s flight_t;
typedef struct flight_scope_s flight_scope_t;
typedef struct waiter_s waiter_t;

typedef enum {
    FLIGHT_QUEUED, /* for a lease */
    FLIGHT_FETCHING,
    FLIGHT_CONVERTING /* or what became of it is being stored */
} flight_phase_t;

/* A ticket of a client. */
struct waiter_s {
    table_node_t node; /* by client and ticket; the first member */
    client_t *client;
    uint32_t ticket;
    flight_t *flight;
    bool is_late;      /* had its turn, and did not answer in time */
    waiter_t **errand; /* who sent it for another file, and is told here that
                          it waits no more; NULL: nobody */
    waiter_t *before, *after;      /* in the flight, who came first first */
    waiter_t *own_prev, *own_next; /* in the client */
};

struct flight_s {
    table_node_t node; /* by key; the first member */
    sym_module_key_t key;
    char text[SYM_SCOPE_MAX + SYM_NAME_MAX + SYM_ID_MAX]; /* of the key */
    flight_phase_t phase;
    waiter_t *first, *last;
    waiter_t *elected;   /* while it fetches */
    uint64_t lease;      /* bytes that are lent to the elected one */
    uint64_t want;       /* of the next lease */
    bool is_void;        /* what is being fetched is not believed any more */
    bool is_bad;         /* a file was offered that cannot be read: ... */
    outcome_t bad;       /* ... what counts unless there is another */
    bool is_again;       /* the next election makes up for a lost one */
    int64_t deadline_ms; /* of the fetch */
    flight_scope_t *scope;
    int64_t queued_ms; /* since when it waits for a lease */
    flight_t *queue_prev, *queue_next;
};

/* All flights of one scope: they share the room, and the turns, with those of
 * other scopes.  Lives as long as it has flights. */
struct flight_scope_s {
    flight_scope_t *next; /* in turn */
    char name[SYM_SCOPE_MAX];
    size_t name_len;
    size_t n_flights;
    flight_t *first, *last; /* the queue for leases */
    uint64_t leased;        /* conversions' too */
};

typedef struct {
    table_t by_key, by_ticket;
    sym_hash_key_t key; /* modules come from whoever asks nginx */
    flight_scope_t *scopes;
    uint64_t room; /* that leases may take together */
    uint64_t leased;
    int64_t fetch_timeout_ms;
    unsigned n_fetching;
    uint64_t elections, re_elections, joins;
} flights_t;

/* False: out of memory. */
bool flights_create(flights_t *f, uint64_t room, int64_t fetch_timeout_ms);
void flights_free(flights_t *f);

/* NULL: nobody waits for it. */
flight_t *flight_find(const flights_t *f, const sym_module_key_t *key);

/*
 * Whether it is of the module, under any spelling of its id: `key` has the
 * canonical one, perhaps no name (any), perhaps SYM_SCOPE_ALL.  And all such
 * flights of a key with a name: the one after `last`, or (NULL) the first.
 */
bool flight_is_of(const flight_t *flight, const sym_module_key_t *key);
flight_t *flight_next_of(const flights_t *f, const sym_module_key_t *key,
                         const flight_t *last);

/* The client waits for the module from now on; false: no memory for it. */
bool flight_join(flights_t *f, client_t *client, uint32_t ticket,
                 const sym_module_key_t *key, int64_t now);

/* An open ticket; NULL: it is not open. */
waiter_t *flight_waiter(const flights_t *f, const client_t *client,
                        uint32_t ticket);

/* It waits no more; an election goes to another, or the matter is forgotten. */
void flight_leave(flights_t *f, waiter_t *w, int64_t now);

/* The same for all that a client waits for. */
void flight_leave_all(flights_t *f, client_t *client, int64_t now);

/* The flight for which this ticket was told to fetch; NULL: none (any more). */
flight_t *flight_elected(const flights_t *f, const client_t *client,
                         uint32_t ticket);

/*
 * The elected one has answered.  False: what it brought is void, and the flight
 * is queued again.  True: its lease stays with the flight until
 * flight_convert() takes it or the flight is settled.
 */
bool flight_answered(flights_t *f, flight_t *flight, int64_t now);

/* The elected one goes on, with a lease of `want` bytes, and is told so by one
 * more FETCH.  False: there is no room for that now. */
bool flight_extend(flights_t *f, flight_t *flight, uint64_t want);

/* Queued again, for a lease of `want` bytes or (0) one as before; forgotten if
 * nobody waits. */
void flight_again(flights_t *f, flight_t *flight, uint64_t want, int64_t now);

/* The lease is the caller's now, to be given back with flight_return() before
 * the flight ends. */
uint64_t flight_convert(flight_t *flight);
void flight_return(flights_t *f, flight_t *flight, uint64_t lease);

/* What became of it is known: nobody is elected any more. */
void flight_hold(flights_t *f, flight_t *flight);

/* Tells all who wait, and forgets the matter. */
void flight_settle(flights_t *f, flight_t *flight, const outcome_t *o);

/*
 * Sends FETCH for whatever has room, one of each scope at a time, and within a
 * scope strictly in turn.  A scope may hold as much as it leaves free: so one
 * whose source stalls takes half of the room at most, two a third each, and
 * there is always some for another.
 */
void flights_grant(flights_t *f, int64_t now);

/*
 * Takes elections back that are over their time.  Gives a flight for which
 * nobody is left to ask, to be settled by the caller, who calls again; NULL: no
 * more.
 */
flight_t *flights_expire(flights_t *f, int64_t now);

#endif
