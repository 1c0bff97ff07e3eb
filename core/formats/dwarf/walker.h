/*
 * walker.h - converts the entries of one unit at a time to symcache records.
 *
 * walk.c collects the functions and inlined calls of a unit with their ranges,
 * cover.c finds the owner of each address, emit.c combines that with the line
 * table.  A walker is used by one thread, and passes its records to its own
 * shard.  Walkers share the list of units.  Private to this folder.
 */
#ifndef SYM_FORMATS_DWARF_WALKER_H
#define SYM_FORMATS_DWARF_WALKER_H

#include "formats/dwarf/line.h"
#include "formats/dwarf/names.h"
#include "formats/dwarf/ranges.h"

#define SYM_DW_NONE UINT32_MAX

/* A function or an inlined call, in the order of the unit: a call follows its
 * caller. */
typedef struct {
    const sym_dw_info_t *named_in; /* position of its name */
    uint64_t named_at;
    uint32_t parent; /* SYM_DW_NONE: a function */
    uint32_t root;   /* the call's function */
    uint32_t depth;
    uint32_t call_line;
    uint64_t call_file;
    uint64_t symbol; /* start of the function's symbol; UINT64_MAX: unknown */
    uint32_t range;  /* start of the function's range that was covered last */
    uint32_t node;   /* node in the record, valid if `record` is current */
    uint32_t record;
    uint16_t language; /* DW_LANG_* of a function */
} sym_dw_call_t;

/* Addresses of a call; `last` is inclusive. */
typedef struct {
    uint32_t low, last;
    uint32_t call;
} sym_dw_piece_t;

typedef struct {
    uint64_t low, high;
} sym_dw_stretch_t;

/* The result of the last lookup in the line table. */
typedef struct {
    size_t sequence, row;
    uint64_t from, until;      /* addresses for which the result is valid */
    const sym_dw_row_t *found; /* NULL: the address has no row */
} sym_dw_line_place_t;

/* The current record. */
typedef struct {
    bool is_open;
    bool has_row;
    uint32_t root; /* SYM_DW_NONE: code without a function */
    uint32_t number;
    uint64_t low, high;
    sym_dwarf_symbol_t symbol; /* symbol at low; no name: it belongs to
                                  another function */
    sym_flat_node_t *nodes;
    size_t n_nodes, nodes_size;
    sym_segment_t *segments;
    size_t n_segments, segments_size;
    sym_statement_t *statements;
    size_t n_statements, statements_size;
} sym_dw_record_t;

/* The file with a skeleton's entries, open while its unit is walked. */
typedef struct {
    bool is_open;
    sym_dwarf_split_t file;
    sym_dwarf_sections_t sections; /* sections of the file, and shared ones
                                      of the main file */
    sym_dw_info_t info;
    sym_dw_open_t skeleton;
} sym_dw_split_t;

typedef struct {
    const sym_dwarf_input_t *in;
    sym_shard_t *part;
    sym_dwarf_stats_t *stats;
    sym_dw_context_t x;
    sym_dw_names_t names;
    sym_error_t *err;  /* error of the current unit */
    sym_error_t given; /* error while its records were passed */
    bool is_fatal;     /* out of memory for entries */

    sym_dw_open_t u; /* owner of the entries; for a skeleton the split unit */
    sym_dw_split_t split;
    sym_dw_level_t stack[SYM_DWARF_DEPTH_MAX];
    sym_dw_call_t *calls;
    size_t n_calls, calls_size;
    sym_dw_piece_t *pieces;
    size_t n_pieces, pieces_size;
    sym_dw_piece_t *spare; /* scratch memory for sorting */
    size_t spare_size;
    sym_dw_piece_t *cover; /* stack of cover.c */
    size_t cover_size;
    sym_dw_ranges_t ranges;

    sym_dw_lines_t lines;
    uint64_t lines_at;  /* position of the line program; SYM_DW_NO_LINES:
                           none */
    uint32_t *file_ids; /* indexed by number; SYM_DW_UNSEEN: not looked up
                           yet */
    size_t n_file_ids, file_ids_size;
    sym_buffer_t path;
    sym_dw_line_place_t place;
    size_t statement; /* index of the last result */

    sym_dw_record_t record;
    sym_dw_stretch_t *stretches; /* addresses passed to the shard, sorted */
    size_t n_stretches, stretches_size;
    sym_dw_stretch_t *own; /* addresses that the unit claims */
    size_t n_own, own_size;
} sym_dw_walker_t;

#define SYM_DW_NO_LINES UINT64_MAX
#define SYM_DW_UNSEEN (SYM_NO_STRING - 1)

void sym_dw_walker_init(sym_dw_walker_t *w, const sym_dwarf_input_t *in,
                        const sym_dw_info_t *main, const sym_dw_info_t *alt);
void sym_dw_walker_free(sym_dw_walker_t *w);

/* Begins units of this many bytes in total.  Earlier work has no effect, as if
 * this were a new file. */
void sym_dw_walker_begin(sym_dw_walker_t *w, sym_shard_t *part,
                         sym_dwarf_stats_t *stats, uint64_t bytes);

/* Reads a unit and passes its records to the shard.  After a failure the
 * records before the error were passed. */
sym_status_t sym_dw_walk(sym_dw_walker_t *w, const sym_dw_unit_t *unit,
                         sym_error_t *err);

/* --- split.c --- */

/*
 * If the current unit is a skeleton, opens the split unit in its place.  If no
 * file contains it, the skeleton itself is used.  Fails only when out of
 * memory.
 */
sym_status_t sym_dw_split_enter(sym_dw_walker_t *w);
void sym_dw_split_leave(sym_dw_walker_t *w);

/* True if the address is below the image base. */
static inline bool
sym_dw_is_below(const sym_dwarf_input_t *in, uint64_t addr)
{
    return addr < in->image_base && !in->is_base_negative;
}


/* The unit with the addresses and the line table: for a split unit, its
 * skeleton. */
static inline const sym_dw_open_t *
sym_dw_whole(const sym_dw_walker_t *w)
{
    return w->split.is_open ? &w->split.skeleton : &w->u;
}


/* --- failures --- */

static inline sym_status_t
sym_dw_out_of_memory(sym_dw_walker_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, "no memory for a function");
}


/* Ends all reading after a failure of the shard or of the names. */
static inline sym_status_t
sym_dw_fatal(sym_dw_walker_t *w, sym_status_t rc)
{
    w->is_fatal = true;
    return sym_fail(w->err, rc, "the symcache takes no more");
}


/* --- unit_lines.c --- */

/* Reads the unit's line table, unless it is the current one. */
sym_status_t sym_dw_unit_lines_begin(sym_dw_walker_t *w);

/* Whether rows without a function belong to the unit. */
bool sym_dw_unit_lines_own(const sym_dw_walker_t *w);

/* The string id of a file, or SYM_NO_STRING. */
sym_status_t sym_dw_unit_lines_file(sym_dw_walker_t *w, uint64_t file,
                                    uint32_t *id);

/* Finds the row of addr and stores it in w->place. */
void sym_dw_unit_lines_seek(sym_dw_walker_t *w, uint64_t addr);

/* The last of rows [low, high) at or below addr; if there is none, the
 * first. */
size_t sym_dw_row_at(const sym_dw_rows_t *rows, size_t low, size_t high,
                     uint64_t addr);

/* --- cover.c --- */

/* Calls sym_dw_emit() for each address that has a call, in order. */
sym_status_t sym_dw_cover(sym_dw_walker_t *w);

/* --- emit.c --- */

/* Begins a unit, with its line table. */
sym_status_t sym_dw_emit_begin(sym_dw_walker_t *w);

/* Addresses [low, high) belong to the call, and are part of function root.
 * That is the call's own function, except for calls outside it. */
sym_status_t sym_dw_emit(sym_dw_walker_t *w, uint64_t low, uint64_t high,
                         uint32_t call, uint32_t root);

/* Passes the last record, and code with lines but without a function. */
sym_status_t sym_dw_emit_end(sym_dw_walker_t *w);

#endif
