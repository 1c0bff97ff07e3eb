/*
 * leases.h - disk space for the temporary files of downloads.
 *
 * A download gets a lease before it starts, which bounds its temporary file.
 * Each scope (a source) has a queue for leases.  Scopes take turns, and each
 * may hold as much as it leaves free.  So one stalled source takes at most half
 * of the space, two take a third each, and some space is always left for
 * others.  Downloads for which other nodes wait have scopes of their own, because
 * all others may wait for other nodes.
 */
#ifndef SYMLOADER_DAEMON_LEASES_H
#define SYMLOADER_DAEMON_LEASES_H

#include "base/hash.h"
#include "common/table.h"
#include "daemon/client.h"

/* Size of a first lease.  It is small, so that stalled downloads take little;
 * it grows during the download (MORE). */
#define LEASE_FIRST_BYTES ((uint64_t) 1 << 20)

typedef struct lease_s lease_t;
typedef struct lease_scope_s lease_scope_t;

struct lease_s {
    lease_scope_t *scope;
    uint64_t bytes;    /* size of the lease; 0: none */
    uint64_t want;     /* size of the next lease */
    int64_t queued_ms; /* start of the wait */
    bool is_abandoned; /* no request is waiting for its download */
    bool is_queued;
    bool is_held;         /* a client is downloading with it */
    lease_t *prev, *next; /* list: the queue, or, if held and abandoned, the
                             reclaimable leases */
};

/* A scope exists while one of its modules is in flight. */
struct lease_scope_s {
    table_node_t node;          /* in the table by name; the first member */
    lease_scope_t *prev, *next; /* list of the scopes with a queue */
    char name[SYM_SCOPE_MAX];
    size_t name_len;
    bool is_for_peers;
    size_t n_members;
    lease_t *first, *last; /* the queue; abandoned downloads are at the end */
    lease_t *first_abandoned;
    uint64_t leased; /* bytes leased, including leases of conversions */
};

typedef struct {
    table_t by_name; /* by scope name; requests may define thousands of
                        sources */
    sym_hash_key_t key;
    lease_scope_t *first, *last; /* scopes with a queue */
    uint64_t room;               /* limit of the total of all leases */
    uint64_t leased;
    lease_t *reclaimable;  /* held and abandoned, the latest first */
    int64_t reclaim_at_ms; /* earliest time of the next reclaim */
} leases_t;

/* False: out of memory. */
bool leases_create(leases_t *all, uint64_t room);
void leases_free(leases_t *all); /* no member may be left */

uint64_t lease_first_bytes(const leases_t *all);

/* Adds a member to the scope, without a lease; false: out of memory. */
bool lease_init(leases_t *all, lease_t *lease, sym_str_t scope);

/* Another node waits for the member: it is queued in the scope for those.  One
 * that is not queued keeps its scope. */
void lease_set_for_peer(leases_t *all, lease_t *lease, int64_t now);

/* Returns the lease, and removes the member from the scope. */
void lease_free(leases_t *all, lease_t *lease);

void lease_enqueue(leases_t *all, lease_t *lease, int64_t now);
void lease_dequeue(leases_t *all, lease_t *lease);

/* Records that a client begins or ends a download with it. */
void lease_hold(leases_t *all, lease_t *lease);
void lease_release(leases_t *all, lease_t *lease);

/* Sets whether requests are waiting for its download.  Without a request, it is
 * queued after the others, and can be reclaimed while a client holds it. */
void lease_abandon(leases_t *all, lease_t *lease, bool is_abandoned,
                   int64_t now);

/*
 * Chooses the abandoned download that must give up its lease to a scope without
 * room: the one with the smallest lease, and among equals the latest.  Another
 * scope's download is chosen only if all room is leased.  NULL: none now.
 */
lease_t *lease_reclaim(leases_t *all, const lease_scope_t *scope, int64_t now);

/* Whether there is not even room for a first lease. */
bool lease_is_full(const leases_t *all);

/* Whether `bytes` more may be leased, if its scope may hold at most `most`. */
bool lease_has_room(const leases_t *all, const lease_t *lease, uint64_t bytes,
                    uint64_t most);

void lease_grow(leases_t *all, lease_t *lease, uint64_t bytes);

/* `bytes` may be from a lease that a conversion has taken over. */
void lease_return(leases_t *all, lease_t *lease, uint64_t bytes);

/* Maximum number of bytes that a scope may hold, if `oldest` is the longest
 * wait of a download for more than a first lease. */
uint64_t lease_scope_most(const leases_t *all, int64_t oldest_ms);

/*
 * Returns the size of the lease for a MORE with `asked` bytes, in a space of
 * `room` bytes; 0: it never fits.  A client that does not know the length
 * requests twice its lease.  If that does not fit, it gets all the space, but
 * only once.  whole_to: serial of the client that got it, 0 at first.
 */
uint64_t lease_for(uint64_t asked, uint64_t lease, uint64_t room,
                   const client_t *client, uint64_t *whole_to);

#endif
