/*
 * owners.h - places of searches: each is tried by one search at a time.
 *
 * A place is a path at a source, with the checksum that is sent.  It is
 * identified by a hash of these.  It may have different numbers in the plans of
 * two searches.
 */
#ifndef SYMLOADER_DAEMON_OWNERS_H
#define SYMLOADER_DAEMON_OWNERS_H

#include "common/table.h"
#include "sources/paths/plan.h"

typedef struct owner_s owner_t;
typedef struct owner_place_s owner_place_t;

/* A place of a search. */
typedef struct owner_visit_s {
    owner_t *search;
    owner_place_t *place;
    struct owner_visit_s *next, **at; /* list of searches with this place */
} owner_visit_t;

/* A search. */
struct owner_s {
    unsigned n;
    owner_visit_t *places; /* by number */
    uint64_t owned;        /* 1 << number */
};

/* The places of a search: their hashes, and a bit for each place to be
 * tried. */
typedef struct {
    uint64_t open;
    unsigned n;
    uint64_t paths[SYM_PLAN_MAX], checksum;
} owner_plan_t;

/* False: out of memory. */
bool owner_create(table_t *all, owner_t *search, const owner_plan_t *plan);

/* Calls free_again() for each other search that has one of the places that are
 * no longer owned; number: that of the place in the search's plan. */
typedef void (*owner_event_t)(void *ctx, owner_t *search, unsigned number);
void owner_drop(table_t *all, owner_t *search, owner_event_t free_again,
                void *ctx);

/* Makes the search the owner of these places, and of no others. */
void owner_own(owner_t *search, uint64_t places, owner_event_t free_again,
               void *ctx);

/* Calls fn for each search that has the path, with any checksum. */
void owner_each(const table_t *all, uint64_t path, owner_event_t fn, void *ctx);

/* Calls fn for each search that owns one of the search's places. */
void owner_each_owner(const owner_t *search, void (*fn)(void *ctx, owner_t *),
                      void *ctx);

/* Returns the open places before the first one that another search owns. */
uint64_t owner_free_places(const owner_t *search, uint64_t open);

/* Returns the hash of the path of a place. */
uint64_t owner_path(const owner_t *search, unsigned number);

/* Removes all places of the search. */
static inline uint64_t
owner_all(const owner_t *search)
{
    return search->n == 64 ? UINT64_MAX : ((uint64_t) 1 << search->n) - 1;
}

#endif
