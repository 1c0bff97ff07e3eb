/*
 * draft.h - a flattened function, kept small until the whole file is read.
 *
 * Functions may come in any order and overlap, so nothing can be written before
 * the last one is known.  A draft takes some six bytes a segment.
 */
#ifndef SYM_SYMCACHE_DRAFT_H
#define SYM_SYMCACHE_DRAFT_H

#include "base/arena.h"
#include "symcache/buffer.h"
#include "symcache/writer.h"

typedef struct {
    sym_segment_t *segments;
    size_t n_segments;
    sym_flat_node_t *nodes;
    size_t n_nodes;
} sym_draft_t;

/* Packs nodes and segments of a function; the bytes live in the arena.
 * `scratch` is reused from call to call.  NULL when out of memory. */
const uint8_t *sym_draft_pack(sym_arena_t *arena, sym_buffer_t *scratch,
                              const sym_flat_function_t *f);

/* The reverse, into the arena.  False when out of memory. */
bool sym_draft_unpack(sym_arena_t *arena, const uint8_t *packed,
                      uint32_t function_addr, uint32_t function_name,
                      sym_draft_t *draft);

#endif
