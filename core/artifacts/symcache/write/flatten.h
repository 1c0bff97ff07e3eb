/*
 * flatten.h - line records and inline ranges of one function -> segments.
 *
 * A segment gives the owner of all addresses from its start to the next
 * segment's: a node (the function, or a call inlined in it) with a file and a
 * line.  The rules are those of specs 3.3 (docs/use/compat.md), which are
 * Sentry's, so clients see what they see today.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H

#include "artifacts/symcache/write/writer.h"

/* A queued inline range, and an open one. */
typedef struct {
    uint32_t addr;
    uint32_t depth;
    uint32_t which; /* index of the sym_inline_t */
    uint32_t seq;   /* keeps the order of equal ones */
    uint64_t end;
} sym_pending_t;

typedef struct {
    uint64_t end;
    uint32_t node;
} sym_open_t;

/* Scratch memory, reused from one function to the next. */
typedef struct {
    sym_error_t *err;

    sym_segment_t *segments;
    size_t n_segments, segments_size;
    sym_flat_node_t *nodes;
    size_t n_nodes, nodes_size;

    sym_line_t *lines;
    size_t lines_size;
    sym_pending_t *queue; /* sorted; requeued ranges go to a heap */
    size_t queue_size;
    sym_pending_t *spare; /* for sorting the queue; always of the same size */
    size_t spare_size;
    sym_pending_t *heap;
    size_t n_heap, heap_size;
    uint32_t *table; /* hash of nodes, n_table a power of two */
    size_t n_table, table_size;
    sym_open_t open[SYM_INLINE_DEPTH_MAX + 1];
    uint32_t n_open; /* levels open, without the function */

    uint64_t dropped; /* records that cover no address, over all functions */
} sym_flatten_t;

void sym_flatten_init(sym_flatten_t *fl, sym_error_t *err);
void sym_flatten_free(sym_flatten_t *fl);

/* Fills segments (the first at f->addr, sorted; some repeat the one before,
 * which matters where functions overlap) and nodes (only those that a segment
 * needs). */
sym_status_t sym_flatten(sym_flatten_t *fl, const sym_function_t *f);

#endif
