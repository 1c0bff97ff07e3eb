/*
 * flatten_sort.h - sorts the line records and inline ranges of a function.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_SORT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_SORT_H

#include "artifacts/symcache/write/flatten.h"

static inline bool
sym_pending_before(const sym_pending_t *a, const sym_pending_t *b)
{
    uint64_t x = (uint64_t) a->addr << 32 | a->depth;
    uint64_t y = (uint64_t) b->addr << 32 | b->depth;

    return x != y ? x < y : a->seq < b->seq;
}


/* Sorts the first n of fl->lines by address; stable. */
sym_status_t sym_flatten_sort_lines(sym_flatten_t *fl, size_t n);

/* Sorts the first n of fl->queue by merging with fl->spare, which must have the
 * same size. */
void sym_flatten_sort_queue(sym_flatten_t *fl, size_t n);

#endif
