/*
 * emit.h - the last step of a writer: makes blocks from functions and symbols.
 *
 * Functions and public symbols are sorted by address; the first of equal ones
 * wins.  Where functions overlap, overlap.h decides which function owns an
 * address.  Public symbols get the addresses without a function.  The result is
 * cut into stretches of addresses (stretch.h), which threads make if the caller
 * has a pool (base/relay.h).  The cuts do not depend on threads.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_EMIT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_EMIT_H

#include "base/arena.h"
#include "artifacts/symcache/write/blocks.h"
#include "artifacts/symcache/write/flatten.h"
#include "artifacts/symcache/write/packed_function.h"
#include "artifacts/symcache/write/strings.h"
#include "artifacts/symcache/write/writer.h"

/* A joined part: the drafts of its functions, and a map from its string ids to
 * the writer's.  The first part is the writer's own and needs no map. */
typedef struct {
    sym_arena_t drafts;
    uint32_t *ids;          /* NULL: no map */
    sym_file_table_t files; /* files of its drafts */
} sym_joined_t;

typedef struct {
    uint32_t addr;
    uint32_t size; /* 0: up to the next symbol */
    uint32_t name;
    bool is_open;
    bool is_told; /* atomic, because several threads make stretches that it
                     overlaps */
} sym_public_t;

typedef struct {
    uint64_t begin, end;
} sym_covered_t;

struct sym_writer_s {
    sym_error_t *err;
    sym_strings_t strings;
    sym_shown_name_t *shown;
    size_t n_shown, shown_size;
    sym_flatten_t flatten;

    sym_joined_t *parts;
    size_t n_parts, parts_size;
    sym_buffer_t scratch;
    sym_packed_function_t *functions;
    size_t n_functions, functions_size;
    sym_public_t *publics;
    size_t n_publics, publics_size;

    /* addresses with functions: start and end of each run, and the number of
     * functions from which the runs were made */
    sym_covered_t *covered;
    size_t n_covered, covered_of;

    sym_moves_t moves;
    uint64_t counts[SYM_COUNTS];
    bool has_lines, has_inlines;
    bool keeps_twins; /* keeps functions of shards that have the same
                         addresses */
    const sym_thread_pool_t *pool;
};

/* Sets err and returns SYM_NOMEM. */
sym_status_t sym_writer_no_memory(sym_writer_t *w);

/* --- sort_records.c --- */

/* Stable sort by address. */
sym_status_t sym_writer_sort_functions(sym_writer_t *w);
sym_status_t sym_writer_sort_publics(sym_writer_t *w);

/* Keeps the first of equal symbols. */
void sym_writer_drop_equal_publics(sym_writer_t *w);

/*
 * Drops twins: functions at the same addresses, which several units describe
 * because the linker folded or merged code.  The first one is kept; if twins
 * are kept, all that have lines of their own.  Functions must be sorted by
 * address and order.
 */
void sym_writer_drop_twins(sym_writer_t *w);

/* --- emit.c --- */

/* refs: position of each of the n_strings strings, from sym_strings_write(). */
sym_status_t sym_emit(sym_writer_t *w, sym_extents_t *extents,
                      const uint32_t *refs, size_t n_strings,
                      sym_header_t *header);

#endif
