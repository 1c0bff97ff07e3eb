/*
 * leases.h - disk space for the temporary files of downloads.
 *
 * A download gets a lease before it starts, which bounds its temporary file.
 * Each scope (a source) has a queue for leases.  Scopes take turns, and one may
 * hold as much as it leaves free: one whose source stalls takes half of the
 * space at most, two a third each, and there is always some for another.
 */
#ifndef SYMLOADER_DAEMON_LEASES_H
#define SYMLOADER_DAEMON_LEASES_H

#include "base/hash.h"
#include "common/table.h"
#include "daemon/client.h"

/* A first lease is small, so that stalled downloads hold little; it grows while
 * a download goes on (MORE). */
#define LEASE_FIRST_BYTES ((uint64_t) 1 << 20)

typedef struct lease_s lease_t;
typedef struct lease_scope_s lease_scope_t;

struct lease_s {
    lease_scope_t *scope;
    uint64_t bytes;    /* of the lease; 0: it has none */
    uint64_t want;     /* bytes of the next one */
    int64_t queued_ms; /* since when it waits */
    bool is_abandoned; /* no request waits for its download */
    bool is_queued;
    bool is_held;         /* by a client that downloads */
    lease_t *prev, *next; /* in the queue; of a held and abandoned one: in the
                             list of those that can be reclaimed */
};

/* Lives as long as one of its modules is in flight. */
struct lease_scope_s {
    table_node_t node;          /* by name; the first member */
    lease_scope_t *prev, *next; /* of the scopes that have a queue */
    char name[SYM_SCOPE_MAX];
    size_t name_len;
    size_t n_members;
    lease_t *first, *last; /* the queue, abandoned downloads at its end */
    lease_t *first_abandoned;
    uint64_t leased; /* to conversions, too */
};

typedef struct {
    table_t by_name; /* requests may name thousands of sources */
    sym_hash_key_t key;
    lease_scope_t *first, *last; /* scopes that have a queue */
    uint64_t room;               /* that leases may take together */
    uint64_t leased;
    lease_t *reclaimable;  /* held and abandoned, the latest first */
    int64_t reclaim_at_ms; /* no other is reclaimed before: one was */
} leases_t;

/* False: out of memory. */
bool leases_create(leases_t *all, uint64_t room);
void leases_free(leases_t *all); /* which has no member any more */

uint64_t lease_first_bytes(const leases_t *all);

/* A member of the scope, without a lease; false: out of memory. */
bool lease_init(leases_t *all, lease_t *lease, sym_str_t scope);

/* Returns the lease, and leaves the scope. */
void lease_free(leases_t *all, lease_t *lease);

void lease_enqueue(leases_t *all, lease_t *lease, int64_t now);
void lease_dequeue(leases_t *all, lease_t *lease);

/* A client begins or ends a download with it. */
void lease_hold(leases_t *all, lease_t *lease);
void lease_release(leases_t *all, lease_t *lease);

/* Whether requests wait for its download.  Without them it is queued after the
 * others, and can be reclaimed while it is held. */
void lease_abandon(leases_t *all, lease_t *lease, bool is_abandoned,
                   int64_t now);

/*
 * The abandoned download that is to give up its lease to the scope, which has
 * no room: the one with the smallest lease, the latest of equal ones.  One of
 * another scope is chosen only if all room is leased.  NULL: none now.
 */
lease_t *lease_reclaim(leases_t *all, const lease_scope_t *scope, int64_t now);

/* Not even a first lease has room. */
bool lease_is_full(const leases_t *all);

/* Whether `bytes` more may be leased, and at most `most` to its scope. */
bool lease_has_room(const leases_t *all, const lease_t *lease, uint64_t bytes,
                    uint64_t most);

void lease_grow(leases_t *all, lease_t *lease, uint64_t bytes);

/* `bytes` may be those of a lease that a conversion has taken over. */
void lease_return(leases_t *all, lease_t *lease, uint64_t bytes);

/* The most bytes that one scope may hold, when `oldest` is the longest wait of
 * a download for more than a first lease. */
uint64_t lease_scope_most(const leases_t *all, int64_t oldest_ms);

/*
 * The lease that MORE for `asked` bytes leads to, in a space of `room` bytes; 0:
 * it never fits.  A client that does not know the length asks for twice its
 * lease; if that does not fit, it gets the whole space, once.  whole_to: the
 * serial of the client that got it, 0 at first.
 */
uint64_t lease_for(uint64_t asked, uint64_t lease, uint64_t room,
                   const client_t *client, uint64_t *whole_to);

#endif
