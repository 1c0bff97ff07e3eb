#include "daemon/leases.h"

#include <stdlib.h>

/* A lease that is too large for its scope's share waits so long for others to
 * end; then scopes that hold much get nothing more before it. */
#define PATIENCE_MS 5000
#define MUCH_PART 8


uint64_t
lease_first_bytes(const leases_t *all)
{
    return all->room / 4 < LEASE_FIRST_BYTES ? all->room / 4
                                             : LEASE_FIRST_BYTES;
}


bool
lease_init(leases_t *all, lease_t *lease, sym_str_t scope)
{
    lease_scope_t **at = &all->scopes;

    while (*at != NULL
           && !sym_str_eq(sym_str((*at)->name, (*at)->name_len), scope)) {
        at = &(*at)->next;
    }

    if (*at == NULL) {
        *at = calloc(1, sizeof(**at));

        if (*at == NULL) {
            return false;
        }

        if (scope.len != 0) {
            memcpy((*at)->name, scope.data, scope.len);
            (*at)->name_len = scope.len;
        }
    }

    (*at)->n_members++;
    *lease = (lease_t){ .scope = *at, .want = lease_first_bytes(all) };
    return true;
}


void
lease_free(leases_t *all, lease_t *lease)
{
    lease_scope_t *scope = lease->scope, **at = &all->scopes;

    lease_return(all, lease, lease->bytes);

    if (--scope->n_members > 0) {
        return;
    }

    while (*at != scope) {
        at = &(*at)->next;
    }

    *at = scope->next;
    free(scope);
}


void
lease_enqueue(lease_t *lease, int64_t now)
{
    lease_scope_t *scope = lease->scope;

    lease->queued_ms = now;
    lease->next = NULL;
    lease->prev = scope->last;
    *(scope->last != NULL ? &scope->last->next : &scope->first) = lease;
    scope->last = lease;
}


void
lease_dequeue(lease_t *lease)
{
    lease_scope_t *scope = lease->scope;

    *(lease->prev != NULL ? &lease->prev->next : &scope->first) = lease->next;
    *(lease->next != NULL ? &lease->next->prev : &scope->last) = lease->prev;
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
