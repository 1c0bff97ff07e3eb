/*
 * cache.h - the store of one node: which modules it has, least recently used
 * first.
 *
 * Like the real one (core/store/write/evict.c), it frees more than it needs when
 * it is full.
 */
#ifndef SYM_BENCH_FLEET_CACHE_H
#define SYM_BENCH_FLEET_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_NONE UINT32_MAX

typedef struct {
    uint32_t id;
    uint32_t until_ms; /* a module: when it is ready; an absent one: when it
                          expires */
    uint32_t pages;
    uint32_t newer, older;
} cache_slot_t;

typedef struct {
    cache_slot_t *slots;
    uint32_t *table; /* slots by the hash of the id, with linear probing */
    uint32_t mask;   /* of the table */
    uint32_t n_slots, n_used;
    uint32_t free; /* list, by newer */
    uint32_t newest, oldest;
    uint64_t pages, limit; /* of 4 KiB */
} cache_t;

/* limit: pages for modules; mean: expected pages of one.  Ends the program if
 * there is no memory. */
void cache_init(cache_t *c, uint64_t limit, double mean);
void cache_free(cache_t *c);
void cache_clear(cache_t *c);

/* The entry, now the most recently used; NULL: none. */
cache_slot_t *cache_use(cache_t *c, uint32_t id);

/* Adds an entry, or changes its time, and evicts others if necessary. */
void cache_put(cache_t *c, uint32_t id, uint32_t until_ms, uint32_t pages);

/* Whether it is full, or was since it was empty. */
bool cache_is_full(const cache_t *c);

#endif
