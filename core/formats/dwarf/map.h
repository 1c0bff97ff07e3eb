/*
 * map.h - a map from numbers to ids, for names that were read already.
 *
 * Clearing it costs nothing, because each slot contains the generation that
 * filled it.
 */
#ifndef SYM_FORMATS_DWARF_MAP_H
#define SYM_FORMATS_DWARF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    uint32_t value;
    uint32_t generation; /* a slot of another generation is free */
} sym_dw_map_slot_t;

typedef struct {
    sym_dw_map_slot_t *slots;
    size_t n_slots, used; /* n_slots is a power of two */
    uint32_t generation;
} sym_dw_map_t;

void sym_dw_map_free(sym_dw_map_t *map);
void sym_dw_map_forget(sym_dw_map_t *map);

bool sym_dw_map_get(const sym_dw_map_t *map, uint64_t key, uint32_t *value);

/* Adds a key that is not in the map.  False when out of memory. */
bool sym_dw_map_put(sym_dw_map_t *map, uint64_t key, uint32_t value);

#endif
