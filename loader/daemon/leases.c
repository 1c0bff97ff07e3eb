#include "daemon/leases.h"

#include <stdlib.h>

/* Time for which a lease that exceeds its scope's share waits for others to
 * end.  After that, scopes with large leases get nothing more before it
 * does. */
#define PATIENCE_MS 5000
#define MUCH_PART 8

/* If no lease was returned for this time, another one is reclaimed. */
#define RECLAIM_AGAIN_MS 1000


bool
leases_create(leases_t *all, uint64_t room)
{
    *all = (leases_t){ .room = room, .key = sym_hash_key() };
    return table_create(&all->by_name);
}


void
leases_free(leases_t *all)
{
    table_free(&all->by_name);
}


uint64_t
lease_first_bytes(const leases_t *all)
{
    return all->room / 4 < LEASE_FIRST_BYTES ? all->room / 4
                                             : LEASE_FIRST_BYTES;
}


/* NULL: no module of the scope is in flight. */
static lease_scope_t *
find_scope(const leases_t *all, sym_str_t name, bool is_for_peers,
           uint64_t hash)
{
    table_node_t *node = table_first(&all->by_name, hash);

    while (node != NULL) {
        lease_scope_t *scope = (lease_scope_t *) node;

        if (scope->is_for_peers == is_for_peers
            && sym_str_eq(sym_str(scope->name, scope->name_len), name))
        {
            return scope;
        }

        node = table_next(node);
    }

    return NULL;
}


/* Adds a member to the scope.  NULL: out of memory. */
static lease_scope_t *
enter_scope(leases_t *all, sym_str_t name, bool is_for_peers)
{
    const uint64_t hash = sym_hash(&all->key, name);
    lease_scope_t *scope = find_scope(all, name, is_for_peers, hash);

    if (scope == NULL) {
        scope = calloc(1, sizeof(*scope));

        if (scope == NULL) {
            return NULL;
        }

        if (name.len != 0) {
            memcpy(scope->name, name.data, name.len);
            scope->name_len = name.len;
        }

        scope->is_for_peers = is_for_peers;
        table_add(&all->by_name, &scope->node, hash);
    }

    scope->n_members++;
    return scope;
}


static void
leave_scope(leases_t *all, lease_scope_t *scope)
{
    if (--scope->n_members == 0) {
        table_remove(&all->by_name, &scope->node);
        free(scope);
    }
}


bool
lease_init(leases_t *all, lease_t *lease, sym_str_t name)
{
    *lease = (lease_t){ .scope = enter_scope(all, name, false),
                        .want = lease_first_bytes(all) };
    return lease->scope != NULL;
}


void
lease_free(leases_t *all, lease_t *lease)
{
    lease_return(all, lease, lease->bytes);
    leave_scope(all, lease->scope);
}


void
lease_set_for_peer(leases_t *all, lease_t *lease, int64_t now)
{
    lease_scope_t *before = lease->scope, *scope;

    if (!lease->is_queued || before->is_for_peers) {
        return;
    }

    scope = enter_scope(all, sym_str(before->name, before->name_len), true);
    if (scope != NULL) {
        lease_dequeue(all, lease);
        leave_scope(all, before);
        lease->scope = scope;
        lease_enqueue(all, lease, now);
    }
}


/* Adds a scope to the scopes with a queue, as the last one. */
static void
link_scope(leases_t *all, lease_scope_t *scope)
{
    scope->next = NULL;
    scope->prev = all->last;
    *(scope->prev != NULL ? &scope->prev->next : &all->first) = scope;
    all->last = scope;
}


static void
unlink_scope(leases_t *all, lease_scope_t *scope)
{
    *(scope->prev != NULL ? &scope->prev->next : &all->first) = scope->next;
    *(scope->next != NULL ? &scope->next->prev : &all->last) = scope->prev;
}


void
lease_enqueue(leases_t *all, lease_t *lease, int64_t now)
{
    lease_scope_t *scope = lease->scope;

    if (scope->first == NULL) {
        link_scope(all, scope);
    }

    lease->queued_ms = now;
    lease->is_queued = true;
    lease->next = lease->is_abandoned ? NULL : scope->first_abandoned;
    lease->prev = lease->next != NULL ? lease->next->prev : scope->last;
    *(lease->prev != NULL ? &lease->prev->next : &scope->first) = lease;
    *(lease->next != NULL ? &lease->next->prev : &scope->last) = lease;

    if (lease->is_abandoned && scope->first_abandoned == NULL) {
        scope->first_abandoned = lease;
    }
}


void
lease_dequeue(leases_t *all, lease_t *lease)
{
    lease_scope_t *scope = lease->scope;

    lease->is_queued = false;
    if (scope->first_abandoned == lease) {
        scope->first_abandoned = lease->next;
    }

    *(lease->prev != NULL ? &lease->prev->next : &scope->first) = lease->next;
    *(lease->next != NULL ? &lease->next->prev : &scope->last) = lease->prev;

    if (scope->first == NULL) {
        unlink_scope(all, scope);
    }
}


/* --- abandoned downloads --- */

static void
link_reclaimable(leases_t *all, lease_t *lease)
{
    lease->prev = NULL;
    lease->next = all->reclaimable;
    if (lease->next != NULL) {
        lease->next->prev = lease;
    }
    all->reclaimable = lease;
}


static void
unlink_reclaimable(leases_t *all, lease_t *lease)
{
    *(lease->prev != NULL ? &lease->prev->next : &all->reclaimable) =
        lease->next;
    if (lease->next != NULL) {
        lease->next->prev = lease->prev;
    }
}


void
lease_hold(leases_t *all, lease_t *lease)
{
    lease->is_held = true;
    if (lease->is_abandoned) {
        link_reclaimable(all, lease);
    }
}


void
lease_release(leases_t *all, lease_t *lease)
{
    if (lease->is_abandoned) {
        unlink_reclaimable(all, lease);
    }
    lease->is_held = false;
}


void
lease_abandon(leases_t *all, lease_t *lease, bool is_abandoned, int64_t now)
{
    bool is_queued = lease->is_queued, is_held = lease->is_held;

    if (lease->is_abandoned == is_abandoned) {
        return;
    }

    if (is_queued) {
        lease_dequeue(all, lease);
    } else if (is_held) {
        lease_release(all, lease);
    }

    lease->is_abandoned = is_abandoned;

    if (is_queued) {
        lease_enqueue(all, lease, now);
    } else if (is_held) {
        lease_hold(all, lease);
    }
}


lease_t *
lease_reclaim(leases_t *all, const lease_scope_t *scope, int64_t now)
{
    bool is_full = lease_is_full(all);
    lease_t *lease, *best = NULL;

    if (now < all->reclaim_at_ms) {
        return NULL;
    }

    for (lease = all->reclaimable; lease != NULL; lease = lease->next) {
        if ((is_full || lease->scope == scope)
            && (best == NULL || lease->bytes < best->bytes))
        {
            best = lease;
        }
    }

    if (best != NULL) {
        all->reclaim_at_ms = now + RECLAIM_AGAIN_MS;
    }

    return best;
}


/* --- room --- */

bool
lease_is_full(const leases_t *all)
{
    return all->room - all->leased < lease_first_bytes(all);
}


bool
lease_has_room(const leases_t *all, const lease_t *lease, uint64_t bytes,
               uint64_t most)
{
    const lease_scope_t *scope = lease->scope;
    uint64_t free_bytes = all->room - all->leased;

    if (bytes > free_bytes) {
        return false;
    }

    /* the only lease of a scope may be large */
    return scope->leased == lease->bytes
           || (bytes <= most && scope->leased <= most - bytes
               && scope->leased + bytes <= free_bytes - bytes);
}


void
lease_grow(leases_t *all, lease_t *lease, uint64_t bytes)
{
    lease->bytes += bytes;
    lease->scope->leased += bytes;
    all->leased += bytes;
}


void
lease_return(leases_t *all, lease_t *lease, uint64_t bytes)
{
    lease->scope->leased -= bytes;
    all->leased -= bytes;
    all->reclaim_at_ms = 0;
}


uint64_t
lease_scope_most(const leases_t *all, int64_t oldest_ms)
{
    return oldest_ms >= PATIENCE_MS ? all->room / MUCH_PART : all->room;
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
