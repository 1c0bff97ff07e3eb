/*
 * inflight.h - modules that clients wait for, each fetched once (single
 * flight).
 *
 * An in-flight request is one module: however many clients ask for it, one of
 * them is elected to fetch it.  This file keeps the waiting clients, the
 * elected one, and the leases of disk space for temporary files; the owner
 * handles the store and the bytes.
 *
 *     queued -> fetching -> converting -> settled
 *        ^---------'-----------'  (the elected client is lost, needs a larger
 *                                  lease, or its result is void)
 */
#ifndef SYMLOADER_DAEMON_INFLIGHT_H
#define SYMLOADER_DAEMON_INFLIGHT_H

#include "base/hash.h"
#include "daemon/client.h"
#include "daemon/fetch_result.h"
#include "common/table.h"

/* A first lease is small, so that downloads which never get on hold little; it
 * grows while a download goes on (MORE). */
#define INFLIGHT_FIRST_LEASE ((uint64_t) 1 << 20)

typedef struct inflight_s inflight_t;
typedef struct inflight_scope_s inflight_scope_t;
typedef struct waiter_s waiter_t;

typedef enum {
    INFLIGHT_QUEUED, /* for a lease */
    INFLIGHT_FETCHING,
    INFLIGHT_CONVERTING /* or what became of it is being stored */
} inflight_phase_t;

/* A ticket of a client. */
struct waiter_s {
    table_node_t node; /* by client and ticket; the first member */
    client_t *client;
    uint32_t ticket;
    inflight_t *inflight;
    bool is_late;      /* had its turn, and did not answer in time */
    waiter_t **errand; /* who sent it for another file, and is told here that
                          it waits no more; NULL: nobody */
    waiter_t *before, *after;      /* in the inflight, who came first first */
    waiter_t *own_prev, *own_next; /* in the client */
};

struct inflight_s {
    table_node_t node; /* by key; the first member */
    sym_module_key_t key;
    char text[SYM_SCOPE_MAX + SYM_NAME_MAX + SYM_ID_MAX
              + SYM_CODE_ID_MAX]; /* of the key */
    inflight_phase_t phase;
    waiter_t *first, *last;
    waiter_t *elected;   /* while it fetches */
    uint64_t lease;      /* bytes that are lent to the elected one */
    uint64_t want;       /* of the next lease */
    uint64_t whole_to;   /* serial of who was told that there is no more */
    bool is_void;        /* what is being fetched is not believed any more */
    bool is_begun;       /* it is, though queued: for a larger lease */
    bool is_bad;         /* a file was offered that cannot be read: ... */
    fetch_result_t bad;  /* ... what counts unless there is another */
    bool is_again;       /* the next election makes up for a lost one */
    int64_t deadline_ms; /* of the fetch */
    inflight_scope_t *scope;
    int64_t queued_ms; /* since when it waits for a lease */
    inflight_t *queue_prev, *queue_next;
};

/* All inflights of one scope: they share the room, and the turns, with those
 * of other scopes.  Lives as long as it has inflights. */
struct inflight_scope_s {
    inflight_scope_t *next; /* in turn */
    char name[SYM_SCOPE_MAX];
    size_t name_len;
    size_t n_inflights;
    inflight_t *first, *last; /* the queue for leases */
    uint64_t leased;          /* conversions' too */
};

typedef struct {
    table_t by_key, by_ticket;
    sym_hash_key_t key; /* names of modules are untrusted */
    inflight_scope_t *scopes;
    uint64_t room; /* that leases may take together */
    uint64_t leased;
    int64_t fetch_timeout_ms;
    unsigned n_fetching;
    uint64_t elections, re_elections, joins;
} inflights_t;

/* False: out of memory. */
bool inflights_create(inflights_t *f, uint64_t room, int64_t fetch_timeout_ms);
void inflights_free(inflights_t *f);

/*
 * Whether it is of the module, under any spelling of its id: `key` has the
 * canonical one, perhaps no name (any), perhaps SYM_SCOPE_ALL.  And all such
 * inflights of a key with a name: the one after `last`, or (NULL) the first.
 */
bool inflight_is_of(const inflight_t *inflight, const sym_module_key_t *key);
inflight_t *inflight_next_of(const inflights_t *f, const sym_module_key_t *key,
                             const inflight_t *last);

/* The client waits for the module from now on; false: no memory for it. */
bool inflight_join(inflights_t *f, client_t *client, uint32_t ticket,
                   const sym_module_key_t *key, int64_t now);

/* An open ticket; NULL: it is not open. */
waiter_t *inflight_waiter(const inflights_t *f, const client_t *client,
                          uint32_t ticket);

/* It waits no more; an election goes to another, or the matter is forgotten. */
void inflight_leave(inflights_t *f, waiter_t *w, int64_t now);

/* The same for all that a client waits for. */
void inflight_leave_all(inflights_t *f, client_t *client, int64_t now);

/* The inflight for which this ticket was told to fetch; NULL: none (any
 * more). */
inflight_t *inflight_elected(const inflights_t *f, const client_t *client,
                             uint32_t ticket);

/*
 * The elected one has answered.  False: what it brought is void, and the
 * inflight is queued again.  True: its lease stays with the inflight until
 * inflight_convert() takes it or the inflight is settled.
 */
bool inflight_answered(inflights_t *f, inflight_t *inflight, int64_t now);

/*
 * How much MORE for `asked` bytes gets in the end, out of a room of so many
 * bytes; 0: it never fits.  Who does not know the length asks for twice the
 * lease, and may find the whole room enough: that is what it gets, once.
 * whole_to: the serial of the client that got it, 0 at first.
 */
uint64_t lease_for(uint64_t asked, uint64_t lease, uint64_t room,
                   const client_t *client, uint64_t *whole_to);

/* The elected one goes on, with a lease of `want` bytes (perhaps the one that
 * it has), and is told so by one more FETCH.  False: there is no room for that
 * now. */
bool inflight_extend(inflights_t *f, inflight_t *inflight, uint64_t want);

/* Queued again, for a lease of `want` bytes, for which the download goes on
 * meanwhile, or (0) one as before; forgotten if nobody waits. */
void inflight_again(inflights_t *f, inflight_t *inflight, uint64_t want,
                    int64_t now);

/* The lease is the caller's now, to be given back with inflight_return()
 * before the inflight ends. */
uint64_t inflight_convert(inflight_t *inflight);
void inflight_return(inflights_t *f, inflight_t *inflight, uint64_t lease);

/* Makes the running download, if any, void. */
void inflight_doubt(inflight_t *inflight);

/* The outcome is known: no client is elected any more. */
void inflight_hold(inflights_t *f, inflight_t *inflight);

/* Tells all waiting clients, and frees the in-flight request. */
void inflight_settle(inflights_t *f, inflight_t *inflight,
                     const fetch_result_t *o);

/*
 * Sends FETCH for whatever has room, one of each scope at a time, and within a
 * scope strictly in turn.  A scope may hold as much as it leaves free: so one
 * whose source stalls takes half of the room at most, two a third each, and
 * there is always some for another.
 */
void inflights_grant(inflights_t *f, int64_t now);

/*
 * Ends elections that have timed out.  Returns an in-flight request without a
 * client left to elect, which the caller settles before it calls again; NULL:
 * no more.
 */
inflight_t *inflights_expire(inflights_t *f, int64_t now);

#endif
