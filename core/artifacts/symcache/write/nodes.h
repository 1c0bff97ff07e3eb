/*
 * nodes.h - encodes functions and inlined calls, in a row of extents.
 *
 * Nodes refer to each other by distances.  So the first extent can get any
 * number later; the other extents must follow it.  Layout:
 * docs/formats/symcache.md, 6.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_NODES_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_NODES_H

#include "artifacts/symcache/format.h"
#include "artifacts/symcache/write/writer.h"
#include "base/error.h"

/* A function whose nodes are being written.  Names are refs.  Files are numbers
 * from 1; 0: none. */
typedef struct {
    uint32_t addr, size; /* size 0: unknown */
    uint8_t lang;
    bool is_public;
    const sym_flat_node_t *nodes;
    size_t n_nodes;
    const sym_segment_t *segments; /* segments of all nodes of the function */
    size_t n_segments;
} sym_block_function_t;

/* Position of a node, and the values relative to which its segments are
 * stored. */
typedef struct {
    uint32_t ref;
    uint32_t file;
    uint32_t line;
} sym_node_place_t;

/* Key of equal calls (twins), and the position of the first one. */
typedef struct {
    uint32_t name, call_line, call_file, file, parent_file;
    uint32_t extent; /* number of the extent; a slot with another number is
                        free */
    uint32_t ref, line;
} sym_shared_node_t;

/* Hash table of an extent's nodes.  A thread reuses it for each row of extents.
 * All zeros: it is not allocated yet. */
typedef struct {
    sym_shared_node_t *slots;
    uint32_t extents; /* so far */
} sym_twins_t;

typedef struct {
    uint8_t *data; /* extents, at distances of 64 KiB */
    size_t size;
    uint32_t end; /* ref of the end of the last node, counted from extent 0 */
    uint64_t n;
    sym_twins_t *twins; /* the table of this thread */
    sym_error_t *err;
} sym_nodes_t;

/* Sets the position of the first node, which is in the first extent. */
sym_status_t sym_nodes_begin(sym_nodes_t *n, uint32_t start, sym_twins_t *twins,
                             sym_error_t *err);
void sym_nodes_free(sym_nodes_t *n);

/* Writes the function's nodes, and sets places[n_nodes]. */
sym_status_t sym_nodes_add(sym_nodes_t *n, const sym_block_function_t *f,
                           sym_node_place_t *places);

#endif
