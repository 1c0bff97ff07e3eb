/*
 * stretch.h - nodes and blocks of a stretch of a module's addresses, made in
 * memory.
 *
 * Stretches are independent, so several threads can make them.  Each stretch
 * has its own extents of nodes, from number 0, and blocks that refer to them
 * (blocks.h assigns the final numbers).
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_STRETCH_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_STRETCH_H

#include "artifacts/symcache/write/nodes.h"
#include "base/buffer.h"

/* Scratch memory of a thread, reused for each stretch.  All zeros: it is not
 * allocated yet. */
typedef struct {
    sym_twins_t twins;
    uint32_t *starts; /* starts of the pieces in a block */
    uint16_t *positions;
    uint8_t *body;
} sym_stretch_desk_t;

void sym_stretch_desk_free(sym_stretch_desk_t *d);

typedef struct {
    sym_error_t err;
    sym_stretch_desk_t *desk;
    sym_nodes_t nodes;
    uint32_t start; /* position of the first node in its extent */

    sym_block_t block; /* the block being filled */
    size_t body_len;

    sym_buffer_t blocks; /* finished blocks, in order */
    size_t *block_ends;
    size_t n_blocks, block_ends_size;
    uint64_t n_segments;

    sym_statement_t *statements; /* files are numbers */
    size_t n_statements, statements_size;
} sym_stretch_t;

/* s: all zeros, or a used stretch, whose memory is reused. */
sym_status_t sym_stretch_begin(sym_stretch_t *s, uint32_t start,
                               sym_stretch_desk_t *desk);
void sym_stretch_free(sym_stretch_t *s);

/* Writes the function's nodes, and their positions to places[]. */
sym_status_t sym_stretch_nodes(sym_stretch_t *s, const sym_block_function_t *f,
                               sym_node_place_t *places);

/* Adds segments [0, n) of one function, valid up to `end`.  Runs must be added
 * in order of address. */
sym_status_t sym_stretch_run(sym_stretch_t *s, const sym_segment_t *segments,
                             size_t n, uint64_t end,
                             const sym_node_place_t *places);

/* Adds a statement, for which atos shows another line.  Statements must be
 * sorted by address, and none may be inside another one. */
sym_status_t sym_stretch_statement(sym_stretch_t *s,
                                   const sym_statement_t *statement);

/* Ends the last block. */
sym_status_t sym_stretch_end(sym_stretch_t *s);

#endif
