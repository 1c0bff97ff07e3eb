/*
 * blocks.h - the writer's second half: writes stretches, and the index of their
 * blocks.
 *
 * Stretches arrive in order of address.  Layout: docs/formats/symcache.md.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_BLOCKS_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_BLOCKS_H

#include "artifacts/symcache/write/extents.h"
#include "artifacts/symcache/write/file_table.h"
#include "artifacts/symcache/write/stretch.h"

/* A name and its shown name, as ids of strings. */
typedef struct {
    uint32_t name, shown;
} sym_shown_name_t;

typedef struct {
    uint32_t addr, ref;
} sym_index_entry_t;

/* Pages, sorted by their first address. */
typedef struct {
    sym_index_entry_t *entries;
    size_t n, size;
} sym_index_t;

typedef struct {
    sym_error_t *err;
    sym_extents_t *x;
    const uint32_t *string_refs; /* indexed by string id */
    size_t n_strings;

    sym_index_t index; /* index of blocks */

    sym_statement_t *statements; /* statements of the page being filled */
    size_t n_statements;
    sym_index_t statement_index;
    sym_index_t shown_index; /* sorted by the names' refs */

    sym_file_table_t files;

    uint64_t n_segments, n_nodes;
} sym_blocks_t;

sym_status_t sym_blocks_begin(sym_blocks_t *b, sym_extents_t *x,
                              const uint32_t *string_refs, size_t n_strings,
                              sym_error_t *err);

/* The ref of a string; 0 for no string and for an empty one. */
static inline uint32_t
sym_blocks_string(const sym_blocks_t *b, uint32_t id)
{
    return id < b->n_strings ? b->string_refs[id] : 0;
}


/* The number of a file in the symcache's table, from 1; a new file is added. 0
 * for no file and for an empty name. */
sym_status_t sym_blocks_file(sym_blocks_t *b, uint32_t id, uint32_t *number);

/* Writes a stretch.  Its nodes begin at sym_extents_start() in the first
 * stretch, and at 0 in all others. */
sym_status_t sym_blocks_take(sym_blocks_t *b, const sym_stretch_t *s);

/* Writes the table of shown names. */
sym_status_t sym_blocks_shown(sym_blocks_t *b, const sym_shown_name_t *shown,
                              size_t n);

/* Writes the indexes and the files' table. */
sym_status_t sym_blocks_end(sym_blocks_t *b, sym_header_t *header);

void sym_blocks_free(sym_blocks_t *b);

#endif
