#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "../bench.h"

/* An eviction frees a 64th more than necessary (core/store/write/evict.c). */
#define SLACK_SHIFT 6

static uint32_t
hash_of(const cache_t *c, uint32_t id)
{
    return (uint32_t) ((id * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & c->mask;
}


void
cache_clear(cache_t *c)
{
    memset(c->table, 0xff, sizeof(*c->table) * ((size_t) c->mask + 1));
    c->n_used = 0;
    c->free = c->newest = c->oldest = CACHE_NONE;
    c->pages = 0;
}


void
cache_init(cache_t *c, uint64_t limit, double mean)
{
    *c = (cache_t){ .limit = limit };
    c->n_slots = (uint32_t) (1.25 * (double) limit / mean) + 1024;
    c->mask = 1;
    while (c->mask < c->n_slots + c->n_slots / 4) {
        c->mask = c->mask << 1 | 1;
    }

    c->slots = malloc(sizeof(*c->slots) * c->n_slots);
    c->table = malloc(sizeof(*c->table) * ((size_t) c->mask + 1));
    if (c->slots == NULL || c->table == NULL) {
        die("no memory", NULL);
    }

    cache_clear(c);
}


void
cache_free(cache_t *c)
{
    free(c->slots);
    free(c->table);
}


bool
cache_is_full(const cache_t *c)
{
    return c->pages + (c->limit >> SLACK_SHIFT) >= c->limit
           || c->free != CACHE_NONE;
}


/* The place of an id in the table, or the free one where it would be. */
static uint32_t
find(const cache_t *c, uint32_t id)
{
    uint32_t at = hash_of(c, id);

    while (c->table[at] != CACHE_NONE && c->slots[c->table[at]].id != id) {
        at = (at + 1) & c->mask;
    }

    return at;
}


static void
unlink_slot(cache_t *c, uint32_t n)
{
    cache_slot_t *slot = &c->slots[n];

    *(slot->newer == CACHE_NONE ? &c->newest : &c->slots[slot->newer].older) =
        slot->older;
    *(slot->older == CACHE_NONE ? &c->oldest : &c->slots[slot->older].newer) =
        slot->newer;
}


static void
link_newest(cache_t *c, uint32_t n)
{
    c->slots[n].newer = CACHE_NONE;
    c->slots[n].older = c->newest;
    *(c->newest == CACHE_NONE ? &c->oldest : &c->slots[c->newest].newer) = n;
    c->newest = n;
}


/* Frees a place of the table, and moves later entries that it separates from
 * their hash. */
static void
take_out(cache_t *c, uint32_t hole)
{
    uint32_t at = hole;

    for (;;) {
        uint32_t home;

        at = (at + 1) & c->mask;
        if (c->table[at] == CACHE_NONE) {
            break;
        }

        home = hash_of(c, c->slots[c->table[at]].id);
        if (((at - home) & c->mask) >= ((at - hole) & c->mask)) {
            c->table[hole] = c->table[at];
            hole = at;
        }
    }

    c->table[hole] = CACHE_NONE;
}


static void
evict(cache_t *c)
{
    uint32_t n = c->oldest;

    take_out(c, find(c, c->slots[n].id));
    unlink_slot(c, n);
    c->pages -= c->slots[n].pages;
    c->slots[n].newer = c->free;
    c->free = n;
}


cache_slot_t *
cache_use(cache_t *c, uint32_t id)
{
    uint32_t n = c->table[find(c, id)];

    if (n == CACHE_NONE) {
        return NULL;
    }

    if (n != c->newest) {
        unlink_slot(c, n);
        link_newest(c, n);
    }

    return &c->slots[n];
}


void
cache_put(cache_t *c, uint32_t id, uint32_t until_ms, uint32_t pages)
{
    cache_slot_t *slot = cache_use(c, id);
    uint32_t n;

    if (slot != NULL) {
        slot->until_ms = until_ms;
        return;
    }

    if (c->pages + pages > c->limit
        || (c->free == CACHE_NONE && c->n_used == c->n_slots))
    {
        uint64_t goal = c->limit - (c->limit >> SLACK_SHIFT);

        do {
            evict(c);
        } while (c->oldest != CACHE_NONE && c->pages + pages > goal);
    }

    n = c->free;
    if (n != CACHE_NONE) {
        c->free = c->slots[n].newer;
    } else {
        n = c->n_used++;
    }

    c->slots[n].id = id;
    c->slots[n].until_ms = until_ms;
    c->slots[n].pages = pages;
    c->table[find(c, id)] = n;
    c->pages += pages;
    link_newest(c, n);
}
