/*
 * overlap.h - chooses the function of an address that several functions cover.
 *
 * The rules are those of specs 3.3 (docs/use/compat.md).  If a line of two
 * functions starts at one address, the later function wins.  A function without
 * a line at its start loses.  If a function ends inside another one, the
 * enclosing one continues (the specs' table has a hole there).
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_OVERLAP_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_OVERLAP_H

#include "artifacts/symcache/write/flatten.h"

typedef struct {
    uint32_t addr, size;
    uint32_t order;                /* in the file */
    const sym_segment_t *segments; /* the first is at addr */
    size_t n_segments;
} sym_overlap_function_t;

/* Owner of the addresses up to the start of the next run.  SYM_NO_FUNCTION:
 * none. */
#define SYM_NO_FUNCTION UINT32_MAX

typedef struct {
    uint32_t start;
    uint32_t function; /* index in the caller's array */
    uint32_t segment;  /* segment of the function, at or before start */
} sym_overlap_start_t;

/*
 * Takes functions sorted by (addr, order) that cover one stretch without a gap.
 * The caller frees *starts.
 */
sym_status_t sym_overlap_settle(const sym_overlap_function_t *functions,
                                size_t n, sym_overlap_start_t **starts,
                                size_t *n_starts, sym_error_t *err);

#endif
