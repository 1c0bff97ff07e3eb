/*
 * walk.h - visits all of a symcache, function by function, in order of address.
 *
 * Used by export, verification and tests.  The walk reads each page once and
 * holds one function at a time, so its memory depends on the largest function,
 * not on the module.  Like the reader it does not trust the pages: addresses
 * must rise, chains of calls end after SYM_INLINE_DEPTH_MAX, and work is
 * bounded by the number of pieces.  Functions that overlap are returned in the
 * order of their first addresses, each with all its segments.  Segments of
 * other functions are in the gaps between these.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_WALK_H
#define SYM_ARTIFACTS_SYMCACHE_READ_WALK_H

#include "artifacts/symcache/read/reader.h"

typedef struct sym_walk_s sym_walk_t;

/* A function, or a call inlined in it.  File numbers are for
 * sym_symcache_file(); 0: unknown. */
typedef struct {
    uint32_t parent; /* index of an earlier node */
    uint32_t depth;  /* 0: the function */
    sym_string_ref_t name;
    uint32_t call_file, call_line; /* position of the call; 0 and 0 for the
                                      function */
} sym_walk_node_t;

/* Owner of [addr, end). */
typedef struct {
    uint64_t end; /* <= 2^32 */
    uint32_t addr;
    uint32_t node;
    uint32_t file, line; /* 0: no file */
} sym_walk_segment_t;

/* A function.  Its arrays are valid until the next call. */
typedef struct {
    uint32_t addr;
    uint32_t size; /* 0: unknown, for some public symbols */
    uint8_t lang;
    bool is_public;
    const sym_walk_node_t *nodes; /* nodes[0] is the function; all nodes are
                                     in use */
    size_t n_nodes;
    const sym_walk_segment_t *segments; /* sorted by address; none is empty */
    size_t n_segments;                  /* not 0 */

    /* first address that has a symbol after the first run of adjacent segments;
     * 2^32: none */
    uint64_t next;
} sym_walk_function_t;

/* Borrows sc.  NULL: out of memory. */
sym_walk_t *sym_walk_create(sym_symcache_t *sc, sym_error_t *err);
void sym_walk_free(sym_walk_t *w);

/*
 * Gets the next function.  SYM_NOT_FOUND: there are no more, and *err is
 * unchanged.  SYM_DAMAGED: bytes are invalid; SYM_LIMIT: functions overlap too
 * much; SYM_NOMEM.
 */
sym_status_t sym_walk_next(sym_walk_t *w, sym_walk_function_t *f,
                           sym_error_t *err);

/* Restarts the walk. */
void sym_walk_rewind(sym_walk_t *w);

#endif
