/*
 * blocks.h - the writer's second half: runs of segments -> nodes, pieces,
 * blocks, index.
 *
 * Runs come in order of address.  Layout: docs/formats/symcache.md.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_BLOCKS_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_BLOCKS_H

#include "base/buffer.h"
#include "artifacts/symcache/write/extents.h"
#include "artifacts/symcache/write/flatten.h"

/* A function whose nodes are or will be written. */
typedef struct {
    uint32_t addr, size; /* size 0: unknown */
    uint8_t lang;
    bool is_public;
    const sym_flat_node_t *nodes;
    size_t n_nodes;
    const sym_segment_t *segments; /* all of the function's */
    size_t n_segments;
} sym_block_function_t;

/* Where a node went, and what its segments count from. */
typedef struct {
    uint32_t ref;
    uint32_t file; /* string id */
    uint32_t line;
} sym_node_place_t;

/* What makes two calls twins, and where the first of them is; files by number,
 * so that what is left out because the parent has it is the same too. */
typedef struct {
    uint32_t name, call_line, call_file, file, parent_file;
    uint32_t ref; /* 0: free slot */
    uint32_t line;
} sym_shared_node_t;

#define SYM_TWINS 16384 /* more than an extent has nodes that are none */

/* A name and what is shown for it: ids of strings. */
typedef struct {
    uint32_t name, shown;
} sym_shown_name_t;

typedef struct {
    uint32_t addr, ref;
} sym_index_entry_t;

/* Pages, by their first address. */
typedef struct {
    sym_index_entry_t *entries;
    size_t n, size;
} sym_index_t;

typedef struct {
    sym_error_t *err;
    sym_extents_t *x;
    const uint32_t *string_refs; /* by string id */
    size_t n_strings;

    uint8_t *chunk; /* of nodes, being filled */
    uint32_t chunk_ref;
    size_t chunk_len, chunk_size;
    unsigned n_chunks;
    sym_shared_node_t *twins; /* hash table of the extent's nodes */

    sym_block_t block; /* being filled */
    uint32_t *starts;
    uint16_t *positions;
    uint8_t *body;
    size_t body_len;

    sym_index_t index; /* of blocks */

    sym_statement_t *statements; /* of the page being filled */
    size_t n_statements;
    sym_index_t statement_index;
    sym_index_t shown_index; /* by the names' refs */

    uint32_t *file_numbers; /* by string id: number + 1 */
    uint32_t *files;        /* string refs by number */
    size_t n_files, files_size;

    uint64_t n_segments, n_nodes;
} sym_blocks_t;

sym_status_t sym_blocks_begin(sym_blocks_t *b, sym_extents_t *x,
                              const uint32_t *string_refs, size_t n_strings,
                              sym_error_t *err);

/* What places[], of n_nodes, begins as: without where they are. */
void sym_blocks_bases(const sym_block_function_t *f, sym_node_place_t *places);

/* Writes the function's nodes, and where they are to places[]. */
sym_status_t sym_blocks_nodes(sym_blocks_t *b, const sym_block_function_t *f,
                              sym_node_place_t *places);

/* Segments [0, n) of one function, in force up to `end`. */
sym_status_t sym_blocks_run(sym_blocks_t *b, const sym_segment_t *segments,
                            size_t n, uint64_t end,
                            const sym_node_place_t *places);

/* What atos shows where it differs; by address, none inside another. */
sym_status_t sym_blocks_statement(sym_blocks_t *b, const sym_statement_t *s);

/* What is shown for names that have more than one text. */
sym_status_t sym_blocks_shown(sym_blocks_t *b, const sym_shown_name_t *shown,
                              size_t n);

/* Writes the last block, the indexes and the files' table. */
sym_status_t sym_blocks_end(sym_blocks_t *b, sym_header_t *header);

void sym_blocks_free(sym_blocks_t *b);

#endif
