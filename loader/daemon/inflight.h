/*
 * inflight.h - artifacts that clients wait for, each fetched once (single
 * flight).
 *
 * An in-flight request is for one artifact of one module.  However many clients
 * request it, one of them is elected to fetch it, with a lease of disk space
 * (leases.h).  This file keeps track of the waiting clients and the elected
 * one.  The owner handles the store and the bytes.
 *
 *     queued -> fetching -> converting -> settled
 *      ^  ^--------'            |
 *      |  (needs a larger lease)|
 *      |                        |  (its result is void, or places are open)
 *     idle <--------------------'
 *
 * Searches own places (owners.h).  If another search owns the next place, a
 * search is idle until that one has an outcome.  Then the places of the idle
 * search are looked up again.
 */
#ifndef SYMLOADER_DAEMON_INFLIGHT_H
#define SYMLOADER_DAEMON_INFLIGHT_H

#include "base/hash.h"
#include "daemon/client.h"
#include "daemon/fetch_result.h"
#include "daemon/leases.h"
#include "daemon/owners.h"
#include "daemon/recent.h"
#include "object/ref_key.h"
#include "common/table.h"

typedef struct inflight_s inflight_t;
typedef struct waiter_s waiter_t;

typedef enum {
    INFLIGHT_IDLE,   /* waits for the owner of a place, or for a lookup of its
                        places */
    INFLIGHT_QUEUED, /* for a lease */
    INFLIGHT_FETCHING,
    INFLIGHT_CONVERTING /* its result is being converted or stored */
} inflight_phase_t;

/* Makes the key of an ENSURE's object, with views of *names and of the
 * reference.  False: the store cannot contain such an object. */
bool object_key(const sym_object_ref_t *ref, sym_str_t scope,
                sym_ref_key_t *names, sym_module_key_t *key);

/* A ticket of a client: a request for an artifact. */
struct waiter_s {
    table_node_t node; /* by client and ticket; the first member */
    client_t *client;
    uint32_t ticket;
    inflight_t *inflight;
    bool is_late;      /* it was elected, but did not answer in time */
    bool is_abandoned; /* no request of the client is waiting */
    waiter_t **errand; /* a supplement's pointer to this waiter, cleared when it
                          stops waiting; or NULL */
    waiter_t *before, *after;      /* list of the inflight's waiters, oldest
                                      first */
    waiter_t *own_prev, *own_next; /* list of the client's waiters */
};

struct inflight_s {
    table_node_t node;      /* in the table by request key; the first member */
    table_node_t of_module; /* in the table by module, which may have many
                               request keys */
    table_node_t of_code;   /* by code id */
    sym_module_key_t key;   /* views of `names` and `ref` */
    sym_ref_key_t names;
    sym_kind_t kind;
    uint32_t flags; /* of ENSURE */
    sym_source_rules_t rules;
    sym_object_ref_t ref; /* views of `bytes` */
    inflight_phase_t phase;
    waiter_t *first, *last;
    uint32_t n_wanting; /* number of waiters with waiting requests */
    waiter_t *elected;  /* the elected client, while it fetches */
    lease_t lease;      /* of the elected client */
    uint64_t whole_to;  /* see lease_for() */
    bool is_for_peer;   /* another node waits for it */
    bool is_void;       /* the file that is being fetched was invalidated */
    uint32_t unshared;  /* flags of the next FETCH: why another node's artifacts
                           were of no use; 0: they may be */
    bool is_begun;      /* it waits for a larger lease while the fetch goes
                           on */
    uint64_t open;      /* open places, as bits */
    uint64_t tried;     /* places with an outcome, as bits */
    owner_t places;
    fetch_result_t kept; /* outcome of the first unreadable file; state 0:
                            none */
    inflight_t *unplanned_next, **unplanned_at; /* list of idle searches whose
                                                   places must be looked up */
    bool is_again;       /* the next election replaces a lost client */
    int64_t deadline_ms; /* time limit of the fetch */
    size_t n_bytes;
    char bytes[]; /* the reference, then the scope */
};

typedef struct {
    table_t by_question, by_module, by_code, by_ticket, by_place;
    inflight_t *unplanned, **unplanned_last;
    sym_hash_key_t key; /* secret, because module names are untrusted */
    leases_t leases;
    recent_t recent;
    int64_t fetch_timeout_ms;
    unsigned n_fetching;
    uint64_t elections, re_elections, joins;
} inflights_t;

/* False: out of memory. */
bool inflights_create(inflights_t *f, uint64_t room, int64_t fetch_timeout_ms);
void inflights_free(inflights_t *f);

/*
 * Whether an inflight of any kind is for the module, by code id, or by any
 * spelling of the debug id.  `key` must have the canonical spelling; without a
 * name it matches all names; its scope may be SYM_SCOPE_ALL.
 * inflight_next_of() returns the next match after `last` (NULL: the first), for
 * a key with a name.  inflight_next_by_code() returns those at any source whose
 * reference has the code id.
 */
bool inflight_is_of(const inflight_t *inflight, const sym_module_key_t *key);
inflight_t *inflight_next_of(const inflights_t *f, const sym_module_key_t *key,
                             const inflight_t *last);
inflight_t *inflight_next_by_code(const inflights_t *f, const sym_code_id_t *id,
                                  const inflight_t *last);

/* A module has changed: see recent.h.  The hash of a path is that of its place. */
void inflights_changed(inflights_t *f, const sym_module_key_t *key,
                       int64_t now);

/* Makes the client wait for the artifact of its ENSURE, with the places of its
 * plan; false: out of memory. */
bool inflight_join(inflights_t *f, client_t *client,
                   const sym_rpc_message_t *ensure, const owner_plan_t *plan,
                   int64_t now);

/*
 * Takes the next search whose places must be looked up; NULL: none.  The caller
 * settles it, or continues it with the open places.  False: all of these were
 * tried.
 */
inflight_t *inflights_unplanned(inflights_t *f);
bool inflight_plan(inflights_t *f, inflight_t *inflight, uint64_t open,
                   int64_t now);

/* Finds an open ticket, or returns NULL. */
waiter_t *inflight_waiter(const inflights_t *f, const client_t *client,
                          uint32_t ticket);

/* Records whether a request of the client is waiting for it. */
void inflight_abandon(inflights_t *f, waiter_t *w, bool is_abandoned,
                      int64_t now);

/* Another node waits for it: its lease is one of those for other nodes, and the
 * client that fetches it gets FOR_PEER, as do those that fetch its places. */
void inflight_set_for_peer(inflights_t *f, inflight_t *inflight, int64_t now);

/* Ends a client's wait; if the client was elected, elects another one. */
void inflight_leave(inflights_t *f, waiter_t *w, int64_t now);

/* Same for all waits of a client. */
void inflight_leave_all(inflights_t *f, client_t *client, int64_t now);

/* Returns the inflight for which this ticket was elected, or NULL. */
inflight_t *inflight_elected(const inflights_t *f, const client_t *client,
                             uint32_t ticket);

/*
 * Handles the elected client's answer.  False: its file was invalidated in the
 * meantime, and the search continues.  True: its lease stays with the inflight
 * until inflight_convert() takes it or the inflight is settled.
 */
bool inflight_answered(inflights_t *f, inflight_t *inflight);

/* Extends the lease to `want` bytes (possibly its current size), and sends the
 * elected client another FETCH.  False: no room now. */
bool inflight_extend(inflights_t *f, inflight_t *inflight, uint64_t want);

/* Queues it for a lease of `want` bytes while the download continues. */
void inflight_wait(inflights_t *f, inflight_t *inflight, uint64_t want,
                   int64_t now);

/* Continues the search; frees it if no client is waiting. */
void inflight_again(inflights_t *f, inflight_t *inflight);

/* Passes the lease to the caller, which must call inflight_return() before the
 * inflight ends.  place: bit of the only place that the search keeps. */
uint64_t inflight_convert(inflights_t *f, inflight_t *inflight, uint64_t place);
static inline void
inflight_return(inflights_t *f, inflight_t *inflight, uint64_t lease)
{
    lease_return(&f->leases, &inflight->lease, lease);
}

/* Invalidates the file that is being fetched. */
void inflight_doubt(inflights_t *f, inflight_t *inflight);

/* Calls fn for each search whose plan has the path (places_hash()), if it has
 * tried the path, or will not try it. */
typedef void (*inflight_each_t)(void *ctx, inflight_t *inflight);
void inflights_at(const inflights_t *f, uint64_t path, inflight_each_t fn,
                  void *ctx);

/* Keeps the inflight without an elected client, because its result is known. */
void inflight_hold(inflights_t *f, inflight_t *inflight);

/* Answers all waiting clients, and frees the in-flight request. */
void inflight_settle(inflights_t *f, inflight_t *inflight,
                     const fetch_result_t *o);

/* Sends FETCH for all searches that fit.  Scopes take turns, and each scope's
 * queue is strictly in order.  If a request is waiting for room, an abandoned
 * download must give up its lease. */
void inflights_grant(inflights_t *f, int64_t now);

/* Ends elections that have timed out.  Returns an in-flight request without a
 * client left to elect, which the caller settles before it calls again, or
 * NULL. */
inflight_t *inflights_expire(inflights_t *f, int64_t now);

#endif
