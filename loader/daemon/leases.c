#include "daemon/leases.h"

#include <stdlib.h>

/* A lease that is too large for its scope's share waits so long for others to
 * end; then scopes that hold much get nothing more before it. */
#define PATIENCE_MS 5000
#define MUCH_PART 8


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


/* NULL: no module of it is in flight. */
static lease_scope_t *
find_scope(const leases_t *all, sym_str_t name, uint64_t hash)
{
    table_node_t *node = table_first(&all->by_name, hash);

    while (node != NULL) {
        lease_scope_t *scope = (lease_scope_t *) node;

        if (sym_str_eq(sym_str(scope->name, scope->name_len), name)) {
            return scope;
        }

        node = table_next(node);
    }

    return NULL;
}


bool
lease_init(leases_t *all, lease_t *lease, sym_str_t name)
{
    const uint64_t hash = sym_hash(&all->key, name);
    lease_scope_t *scope = find_scope(all, name, hash);

    if (scope == NULL) {
        scope = calloc(1, sizeof(*scope));

        if (scope == NULL) {
            return false;
        }

        if (name.len != 0) {
            memcpy(scope->name, name.data, name.len);
            scope->name_len = name.len;
        }

        table_add(&all->by_name, &scope->node, hash);
    }

    scope->n_members++;
    *lease = (lease_t){ .scope = scope, .want = lease_first_bytes(all) };
    return true;
}


void
lease_free(leases_t *all, lease_t *lease)
{
    lease_scope_t *scope = lease->scope;

    lease_return(all, lease, lease->bytes);

    if (--scope->n_members == 0) {
        table_remove(&all->by_name, &scope->node);
        free(scope);
    }
}


/* It has a queue from now on, and its turn after the others. */
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
    lease->next = NULL;
    lease->prev = scope->last;
    *(scope->last != NULL ? &scope->last->next : &scope->first) = lease;
    scope->last = lease;
}


void
lease_dequeue(leases_t *all, lease_t *lease)
{
    lease_scope_t *scope = lease->scope;

    *(lease->prev != NULL ? &lease->prev->next : &scope->first) = lease->next;
    *(lease->next != NULL ? &lease->next->prev : &scope->last) = lease->prev;

    if (scope->first == NULL) {
        unlink_scope(all, scope);
    }
}


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

    /* the scope's only lease may be large */
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
