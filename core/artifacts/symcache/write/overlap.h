/*
 * overlap.h - chooses the function of an address that several cover.
 *
 * The rules are those of specs 3.3 (docs/use/compat.md): a line start of a
 * later function beats the same start of an earlier one; a function without a
 * line at its start gives way; where a function ends inside another, the
 * enclosing one continues (the specs' table has a hole there).
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_OVERLAP_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_OVERLAP_H

#include "artifacts/symcache/write/flatten.h"

typedef struct {
    uint32_t addr, size;
    uint32_t order;                /* in the file */
    const sym_segment_t *segments; /* the first at addr */
    size_t n_segments;
} sym_overlap_function_t;

/* From start to the next run's start; function SYM_NO_FUNCTION: no function. */
#define SYM_NO_FUNCTION UINT32_MAX

typedef struct {
    uint32_t start;
    uint32_t function; /* index in the given array */
    uint32_t segment;  /* of that function; begins at or before start */
} sym_overlap_start_t;

/*
 * Takes functions sorted by (addr, order) that cover one stretch without a
 * hole.  The caller frees *starts.
 */
sym_status_t sym_overlap_settle(const sym_overlap_function_t *functions,
                                size_t n, sym_overlap_start_t **starts,
                                size_t *n_starts, sym_error_t *err);

#endif
