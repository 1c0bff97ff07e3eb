/*
 * calls.h - the inlined calls of one walked function, as a tree with ranges.
 *
 * A walk returns segments, each with its innermost call.  Output formats need
 * each call with all addresses inside it.  Another function inside a call does
 * not end the call's range.  Memory is reused for the next function.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_CALLS_H
#define SYM_ARTIFACTS_SYMCACHE_READ_CALLS_H

#include "artifacts/symcache/read/walk.h"

/* Limit on the ranges of all calls of a function. */
#define SYM_CALL_RANGES_MAX 4194304

typedef struct {
    uint64_t end;
    uint32_t addr;
    uint32_t next; /* next range of the same call: index + 1; 0: the last */
} sym_call_range_t;

typedef struct {
    uint32_t first, last;                /* indexes of ranges, plus 1 */
    uint32_t parent;                     /* node */
    uint32_t child, last_child, sibling; /* indexes of nodes; 0: none */
} sym_call_t;

typedef struct {
    sym_call_t *calls; /* indexed like the nodes of the walk */
    size_t calls_size;
    sym_call_range_t *ranges;
    size_t n_ranges, ranges_size;
} sym_calls_t;

/* A zeroed sym_calls_t can be used. */
void sym_calls_free(sym_calls_t *c);

sym_status_t sym_calls_fill(sym_calls_t *c, const sym_walk_function_t *f,
                            sym_error_t *err);

/* The call after `node`.  A call precedes the calls inlined in it; each
 * level is sorted by address. 0 returns the first call; the call after the
 * last is 0. */
uint32_t sym_calls_next(const sym_calls_t *c, uint32_t node);

/* The range of a call after `range`, by address.  NULL returns the first range;
 * after the last range it returns NULL. */
const sym_call_range_t *sym_calls_range(const sym_calls_t *c, uint32_t node,
                                        const sym_call_range_t *range);

#endif
