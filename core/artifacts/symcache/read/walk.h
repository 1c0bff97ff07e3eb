/*
 * walk.h - visits all of a symcache, function by function, in order of address.
 *
 * Used by export, verification and tests.  The walk reads each page once and
 * holds one function at a time, so its memory depends on the largest function,
 * not on the module.  It trusts the pages as little as the reader does:
 * addresses must rise, chains of calls end after SYM_INLINE_DEPTH_MAX, and
 * work is bounded by the number of pieces.
 *
 * Overlapping functions come in the order of their first addresses, each with
 * all its segments; segments of other functions are in the gaps between them.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_WALK_H
#define SYM_ARTIFACTS_SYMCACHE_READ_WALK_H

#include "artifacts/symcache/read/reader.h"

typedef struct sym_walk_s sym_walk_t;

/* A function, or a call inlined in it.  File numbers are for
 * sym_symcache_file(); 0: unknown. */
typedef struct {
    uint32_t parent; /* index of a node before this one */
    uint32_t depth;  /* 0: the function */
    sym_string_ref_t name;
    uint32_t call_file, call_line; /* 0 and 0 for the function */
} sym_walk_node_t;

/* Owner of [addr, end). */
typedef struct {
    uint64_t end; /* <= 2^32 */
    uint32_t addr;
    uint32_t node;
    uint32_t file, line; /* line: 0 without a file */
} sym_walk_segment_t;

/* Arrays live until the next call. */
typedef struct {
    uint32_t addr;
    uint32_t size; /* 0: unknown, of some public symbols */
    uint8_t lang;
    bool is_public;
    const sym_walk_node_t *nodes; /* [0] is the function; only nodes in use */
    size_t n_nodes;
    const sym_walk_segment_t *segments; /* by address, none is empty */
    size_t n_segments;                  /* not 0 */

    /* first address with a symbol after the first run of adjacent segments;
     * 2^32: none */
    uint64_t next;
} sym_walk_function_t;

/* Borrows sc.  NULL when out of memory. */
sym_walk_t *sym_walk_create(sym_symcache_t *sc, sym_error_t *err);
void sym_walk_free(sym_walk_t *w);

/*
 * The next function.  SYM_NOT_FOUND: that was the last one, *err is unchanged.
 * SYM_DAMAGED: invalid bytes; SYM_LIMIT: functions overlap too much; SYM_NOMEM.
 */
sym_status_t sym_walk_next(sym_walk_t *w, sym_walk_function_t *f,
                           sym_error_t *err);

/* Begins again. */
void sym_walk_rewind(sym_walk_t *w);

#endif
