#include "formats/dwarf/map.h"

#include <stdlib.h>

#define SLOTS_MIN 1024

static size_t
slot_of(const sym_dw_map_t *map, uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;

    return (size_t) (h >> 20) & (map->n_slots - 1);
}


/* The slot of key, or a free one for it. */
static size_t
probe(const sym_dw_map_t *map, uint64_t key)
{
    size_t at = slot_of(map, key);

    while (map->slots[at].generation == map->generation
           && map->slots[at].key != key)
    {
        at = (at + 1) & (map->n_slots - 1);
    }

    return at;
}


void
sym_dw_map_free(sym_dw_map_t *map)
{
    free(map->slots);
    *map = (sym_dw_map_t){ 0 };
}


void
sym_dw_map_forget(sym_dw_map_t *map)
{
    map->used = 0;

    if (++map->generation == 0) {
        /* after 2^32 generations old slots would look new */
        free(map->slots);
        *map = (sym_dw_map_t){ .generation = 1 };
    }
}


bool
sym_dw_map_get(const sym_dw_map_t *map, uint64_t key, uint32_t *value)
{
    size_t at;

    if (map->used == 0) {
        return false;
    }

    at = probe(map, key);
    *value = map->slots[at].value;
    return map->slots[at].generation == map->generation;
}


static bool
grow(sym_dw_map_t *map)
{
    sym_dw_map_t larger = { .n_slots = map->n_slots * 2, .generation = 1 };

    if (larger.n_slots == 0) {
        larger.n_slots = SLOTS_MIN;
    }

    larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return false;
    }

    for (size_t i = 0; i < map->n_slots; i++) {
        if (map->slots[i].generation == map->generation) {
            sym_dw_map_slot_t *to =
                &larger.slots[probe(&larger, map->slots[i].key)];

            *to = map->slots[i];
            to->generation = larger.generation;
            larger.used++;
        }
    }

    free(map->slots);
    *map = larger;
    return true;
}


bool
sym_dw_map_put(sym_dw_map_t *map, uint64_t key, uint32_t value)
{
    if (map->used >= map->n_slots / 2 && !grow(map)) {
        return false;
    }

    map->slots[probe(map, key)] =
        (sym_dw_map_slot_t){ key, value, map->generation };
    map->used++;
    return true;
}
