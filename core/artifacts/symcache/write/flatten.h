/*
 * flatten.h - converts line records and inline ranges of one function to
 * segments.
 *
 * A segment assigns the addresses from its start to the start of the next
 * segment to a node (the function, or a call inlined in it), with a file and a
 * line.  The rules are those of specs 3.3 (docs/use/compat.md), which are
 * Sentry's, so results are the same as today's.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H

#include "artifacts/symcache/write/writer.h"

/* A queued inline range; below, an open one. */
typedef struct {
    uint32_t addr;
    uint32_t depth;
    uint32_t which; /* index of the sym_inline_t */
    uint32_t seq;   /* keeps the order of equal ranges */
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
    sym_pending_t *queue; /* sorted; requeued ranges are in the heap */
    size_t queue_size;
    sym_pending_t *spare; /* for sorting the queue; has the same size */
    size_t spare_size;
    sym_pending_t *heap;
    size_t n_heap, heap_size;
    uint32_t *table; /* hash table of nodes; n_table is a power of two */
    size_t n_table, table_size;
    sym_open_t open[SYM_INLINE_DEPTH_MAX + 1];
    uint32_t n_open; /* number of open levels, without the function */

    uint64_t dropped; /* number of records that cover no address, in all
                         functions */
} sym_flatten_t;

void sym_flatten_init(sym_flatten_t *fl, sym_error_t *err);
void sym_flatten_free(sym_flatten_t *fl);

/* Fills segments and nodes.  Segments are sorted, and the first is at f->addr;
 * some repeat the previous one, which matters where functions overlap.  Nodes
 * are only those that a segment needs. */
sym_status_t sym_flatten(sym_flatten_t *fl, const sym_function_t *f);

#endif
