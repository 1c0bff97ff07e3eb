/*
 * packed_function.h - a flattened function, kept small until the file is read
 * to its end.
 *
 * Functions may arrive in any order and overlap, so nothing can be written
 * before the last one is known.  A packed function takes 8 bytes for each
 * segment and call, or 16 if its numbers are large.  Squeezed, it takes about
 * five.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_PACKED_FUNCTION_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_PACKED_FUNCTION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "artifacts/symcache/write/file_table.h"
#include "artifacts/symcache/write/writer.h"

typedef struct {
    sym_segment_t *segments;
    size_t n_segments;
    sym_flat_node_t *nodes;
    size_t n_nodes;
} sym_packed_functions_t;

/* A packed function, and its unpacked parts. */
typedef struct {
    const uint64_t *draft;
    const sym_statement_t *statements; /* not packed, because they are few */
    uint32_t n_statements;
    uint32_t addr, size;
    uint32_t name;
    uint32_t order; /* in the file */
    uint32_t part;  /* the part to which the draft's ids belong */
    uint32_t n_nodes;
    uint8_t lang;
    bool is_settled; /* the reader has already flattened the function */
    bool is_generated;
} sym_packed_function_t;

/* Maps numbers in a packed function to current ones. */
typedef struct {
    const uint32_t *ids;   /* indexed by string id; NULL: ids are unchanged */
    const uint32_t *files; /* indexed by number in the table of files; [0]:
                              no file */
} sym_packed_names_t;

/*
 * Packs nodes and segments of a function, whose strings have ids less than
 * n_ids; `files` collects its files.  squeezes: compresses more, and takes
 * longer. The result is in the arena; `scratch` is reused from call to call.
 * NULL when out of memory.
 */
const uint64_t *sym_packed_function_pack(sym_arena_t *arena,
                                         sym_buffer_t *scratch,
                                         sym_file_table_t *files, size_t n_ids,
                                         bool squeezes,
                                         const sym_flat_function_t *f);

/* Current id of a string in a draft; ids NULL: unchanged. */
static inline uint32_t
sym_packed_function_id(const uint32_t *ids, uint32_t id)
{
    return ids == NULL || id == SYM_NO_STRING ? id : ids[id];
}


/* Unpacks into the arena: names with current ids, files by `names`.
 * drops_repeats: omits segments that repeat the previous one.  f->name is
 * already a current id.  False when out of memory. */
bool sym_packed_function_unpack(sym_arena_t *arena,
                                const sym_packed_function_t *f,
                                const sym_packed_names_t *names,
                                bool drops_repeats,
                                sym_packed_functions_t *draft);

#endif
