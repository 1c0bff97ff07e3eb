/*
 * flatten.h - line records and inline ranges of one function -> segments.
 *
 * A segment says what every address from its start to the next one's belongs
 * to: a node (the function, or a call inlined in it) with a file and a line.
 * The rules are those of specs 3.3 (docs/use/compat.md), which are Sentry's:
 * what today's clients see.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_FLATTEN_H

#include "artifacts/symcache/write/writer.h"

/* An inline range that waits for its turn, and one that is open. */
typedef struct {
    uint32_t addr;
    uint32_t depth;
    uint32_t which; /* index of the sym_inline_t */
    uint32_t seq;   /* keeps the order of equals */
    uint64_t end;
} sym_pending_t;

typedef struct {
    uint64_t end;
    uint32_t node;
} sym_open_t;

/* Scratch that is kept from one function to the next. */
typedef struct {
    sym_error_t *err;

    sym_segment_t *segments;
    size_t n_segments, segments_size;
    sym_flat_node_t *nodes;
    size_t n_nodes, nodes_size;

    sym_line_t *lines;
    size_t lines_size;
    sym_pending_t *queue; /* sorted; what is put back goes to a heap */
    size_t queue_size;
    sym_pending_t *spare; /* to sort the queue through; always as large */
    size_t spare_size;
    sym_pending_t *heap;
    size_t n_heap, heap_size;
    uint32_t *table; /* hash of nodes, n_table a power of two */
    size_t n_table, table_size;
    sym_open_t open[SYM_INLINE_DEPTH_MAX + 1];
    uint32_t n_open; /* levels open, without the function */

    uint64_t dropped; /* records that reach no address, over all functions */
} sym_flatten_t;

void sym_flatten_init(sym_flatten_t *fl, sym_error_t *err);
void sym_flatten_free(sym_flatten_t *fl);

/* Fills segments (the first at f->addr, sorted; some repeat the one before them,
 * which counts where functions overlap) and nodes (only those that a segment
 * needs). */
sym_status_t sym_flatten(sym_flatten_t *fl, const sym_function_t *f);

#endif
