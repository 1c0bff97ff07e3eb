/*
 * ring.h - the node that nginx chooses by `hash ... consistent`.
 *
 * It repeats nginx's algorithm (ngx_http_upstream_hash_module.c): each server has
 * 160 points, which are CRC-32s of its address.  A text belongs to the server of
 * the first point at or after its own CRC-32.  t/bench_fleet.t compares it with a
 * real nginx.
 */
#ifndef SYM_BENCH_FLEET_RING_H
#define SYM_BENCH_FLEET_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    uint32_t hash;
    uint32_t server; /* its number */
} ring_point_t;

typedef struct {
    ring_point_t *points;
    uint32_t n;
} ring_t;

/* Servers are HOST:PORT or HOST.  Ends the program if there is no memory. */
ring_t ring_create(const char *const *servers, uint32_t n_servers);
void ring_free(ring_t *ring);

/* The server of a text.  If is_up is not NULL, servers without it are skipped,
 * as by `proxy_next_upstream`; one must be up. */
uint32_t ring_find(const ring_t *ring, sym_str_t text, const bool *is_up);

#endif
