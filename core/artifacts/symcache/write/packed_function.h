/*
 * packed_function.h - a flattened function, kept small until the whole file is
 * read.
 *
 * Functions may come in any order and overlap, so nothing can be written
 * before the last one is known.  A packed function takes some six bytes a
 * segment.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_PACKED_FUNCTION_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_PACKED_FUNCTION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    sym_segment_t *segments;
    size_t n_segments;
    sym_flat_node_t *nodes;
    size_t n_nodes;
} sym_packed_functions_t;

/* A function of which the rest is packed. */
typedef struct {
    const uint8_t *draft;
    const sym_statement_t *statements; /* few: they are not packed */
    uint32_t n_statements;
    uint32_t addr, size;
    uint32_t name;
    uint32_t order; /* in the file */
    uint32_t part;  /* whose ids the draft has */
    uint8_t lang;
    bool is_settled; /* its reader has flattened it */
    bool is_generated;
} sym_packed_function_t;

/* Packs nodes and segments of a function; the bytes live in the arena.
 * `scratch` is reused from call to call.  NULL when out of memory. */
const uint8_t *sym_packed_function_pack(sym_arena_t *arena,
                                        sym_buffer_t *scratch,
                                        const sym_flat_function_t *f);

/* What a string of a draft is called now; ids NULL: the same. */
static inline uint32_t
sym_packed_function_id(const uint32_t *ids, uint32_t id)
{
    return ids == NULL || id == SYM_NO_STRING ? id : ids[id];
}


/* The reverse, into the arena.  ids: what strings of nodes and segments are
 * called now, by their ids in the draft; NULL: the same.  f->name is of today.
 * False when out of memory. */
bool sym_packed_function_unpack(sym_arena_t *arena,
                                const sym_packed_function_t *f,
                                const uint32_t *ids,
                                sym_packed_functions_t *draft);

#endif
