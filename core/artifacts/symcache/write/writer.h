/*
 * writer.h - builds a symcache from what a format reader finds.
 *
 * A reader of any format interns its strings, hands over functions and public
 * symbols in the order of its file, and calls sym_writer_finish().  The writer
 * flattens inline ranges and line records into segments, settles overlaps,
 * packs the result into extents and gives each to the caller's sink as soon as
 * it is full, so memory follows the output, not the input.
 *
 * Addresses are relative to the module's image base and fit 32 bits; a
 * symcache has no room for others (no client can ask for them either).
 *
 * Every call returns SYM_OK or the status it also put in *err; after a failure
 * the writer is only good for sym_writer_free().
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_WRITER_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_WRITER_H

#include "base/thread_pool.h"
#include "base/error.h"
#include "base/str.h"
#include "artifacts/symcache/format.h"
#include "artifacts/symcache/write/moves.h"
#include "base/language.h"

typedef struct sym_writer_s sym_writer_t;
typedef struct sym_shard_s sym_shard_t; /* part.h */

/* "no such string": an unknown file, a function without a name. */
#define SYM_NO_STRING UINT32_MAX

typedef struct {
    uint32_t addr;
    uint32_t size; /* not 0; what follows up to the next line is still its own,
                      unless an inlined call begins or ends there */
    uint32_t line; /* 0: unknown */
    uint32_t file; /* string id, or SYM_NO_STRING */
} sym_line_t;

/* One range of one inlined call. */
typedef struct {
    uint32_t addr;
    uint32_t size;
    uint32_t depth;     /* 0: inlined straight into the function */
    uint32_t name;      /* string id */
    uint32_t call_line; /* where the call stands; 0: unknown */
    uint32_t call_file; /* string id, or SYM_NO_STRING */
} sym_inline_t;

typedef struct {
    uint32_t addr;
    uint32_t size;           /* not 0; addr + size <= 2^32 */
    uint32_t name;           /* string id */
    uint8_t lang;            /* SYM_LANG_* */
    const sym_line_t *lines; /* in file order, need not be sorted */
    size_t n_lines;
    const sym_inline_t *inlines; /* in file order */
    size_t n_inlines;
} sym_function_t;

/* A function, or a call inlined in it.  Of the function only the name
 * counts. */
typedef struct {
    uint32_t parent; /* index of a node before this one */
    uint32_t name;   /* string id, or SYM_NO_STRING */
    uint32_t call_file, call_line;
} sym_flat_node_t;

/* What every address from addr to the next segment belongs to. */
typedef struct {
    uint32_t addr;
    uint32_t node;
    uint32_t file; /* string id or SYM_NO_STRING */
    uint32_t line; /* 0 without a file */
} sym_segment_t;

/* Where atos shows another place than the segments have
 * (docs/formats/macho.md). */
typedef struct {
    uint32_t addr;
    uint32_t size; /* not 0 */
    uint32_t file; /* string id or SYM_NO_STRING */
    uint32_t line; /* 0 without a file */
} sym_statement_t;

/*
 * A stretch of a function that its reader has settled itself: segments in
 * order, the first at addr, the last up to addr + size; statements in order,
 * inside of it, none inside another.
 */
typedef struct {
    uint32_t addr;
    uint32_t size; /* not 0; addr + size <= 2^32 */
    uint8_t lang;
    bool is_generated; /* no line is its own; calls inlined in it may have
                        * some (sym_writer_keep_twins()) */
    const sym_flat_node_t *nodes; /* nodes[0] is the function */
    size_t n_nodes;
    const sym_segment_t *segments;
    size_t n_segments; /* not 0 */
    const sym_statement_t *statements;
    size_t n_statements;
} sym_flat_function_t;

/* Unknown facts of a module are empty views. */
typedef struct {
    sym_str_t debug_id;   /* canonical */
    sym_str_t debug_file; /* from the file itself */
    sym_str_t code_id;
    sym_str_t code_file; /* name shown instead of the debug file's, or "" */
    sym_str_t arch;
    sym_str_t os;
    uint64_t source_bytes;   /* size of the file that was read */
    uint32_t flags;          /* SYM_FLAG_* */
    uint64_t image_base;     /* what was taken off its addresses */
    sym_str_t source_server; /* what keeps its sources: "Perforce", ... */
} sym_module_info_t;

/* Counts that `symloader show` prints; see docs/formats/symcache.md. */
typedef struct {
    uint64_t functions, publics, inlines, lines; /* as given */
    uint64_t segments, nodes, strings;           /* as written */
    uint64_t string_bytes;                       /* before compression */
    uint64_t bytes;                              /* of all extents */
    uint32_t extents;
    uint64_t dropped;   /* records that cover no address, or none left */
    uint64_t truncated; /* names that were too long, and cut */
    uint8_t quality;    /* SYM_QUALITY_* */
} sym_writer_stats_t;

/*
 * Takes one finished extent: at most SYM_EXTENT_MAX bytes, valid during the
 * call.  Numbers come in any order, each once, and leave no hole.
 */
typedef sym_status_t (*sym_extent_put_pt)(void *ctx, uint32_t number,
                                          const uint8_t *data, size_t len,
                                          sym_error_t *err);

/* NULL when out of memory. */
sym_writer_t *sym_writer_create(sym_error_t *err);
void sym_writer_free(sym_writer_t *w);

/* Hands that may help with the last step; NULL: none.  What is written is the
 * same with any.  The sink is then called in their threads, one at a time. */
void sym_writer_lend(sym_writer_t *w, const sym_thread_pool_t *pool);

/* Of functions of shards that have the same addresses, those with lines of their
 * own are settled as functions that overlap: the last stands.  If none has lines,
 * or without this call, the first does. */
void sym_writer_keep_twins(sym_writer_t *w);

/* Interns text (UTF-8): equal text gives the same id. */
sym_status_t sym_writer_string(sym_writer_t *w, sym_str_t text, uint32_t *id);

/* The same in two steps, with other work between them: names lie where memory
 * is slow, and are fetched meanwhile. */
uint32_t sym_writer_expect(const sym_writer_t *w, sym_str_t text);
sym_status_t sym_writer_expected(sym_writer_t *w, sym_str_t text, uint32_t hash,
                                 uint32_t *id);

/*
 * An id whose text comes later, or never (then it is ""): an inlined call may
 * be read before the record that names it.
 */
sym_status_t sym_writer_reserve(sym_writer_t *w, uint32_t *id);
sym_status_t sym_writer_define(sym_writer_t *w, uint32_t id, sym_str_t text);

/* Whether the text was interned; then its id. */
bool sym_writer_find(const sym_writer_t *w, sym_str_t text, uint32_t *id);

/* Takes *moves, which must be sorted: lines, calls and statements of all
 * functions move.  At most once. */
void sym_writer_move(sym_writer_t *w, sym_moves_t *moves);

/* Copies what it needs of *f. */
sym_status_t sym_writer_function(sym_writer_t *w, const sym_function_t *f);

/* Takes what is in a part: as if all of it had been given now.  The part is
 * empty afterwards, or good for sym_shard_free() only. */
sym_status_t sym_writer_join(sym_writer_t *w, sym_shard_t *part);

/* A symbol without a size: reaches to the next symbol or function.  Of equal
 * addresses the first call stands. */
sym_status_t sym_writer_public(sym_writer_t *w, uint32_t addr, uint32_t name);

/* One that ends after `size` bytes, if no symbol begins before; functions have
 * what they cover of it.  0: as above, and so does what is larger than all
 * addresses. */
sym_status_t sym_writer_symbol(sym_writer_t *w, uint32_t addr, uint64_t size,
                               uint32_t name);

/* A symbol of unknown size that ends there at the latest.  It continues after
 * the functions that it covers only if it is their name. */
sym_status_t sym_writer_open_symbol(sym_writer_t *w, uint32_t addr,
                                    uint64_t size, uint32_t name);

/* One without a size, after all functions: where they have its address its name
 * is not even kept. */
sym_status_t sym_writer_late_public(sym_writer_t *w, uint32_t addr,
                                    sym_str_t name);

/* Writes what is shown for a name to out[SYM_SWIFT_SHOWN_MAX], and returns its
 * length; 0: the name itself. */
typedef size_t (*sym_swift_show_pt)(void *ctx, const char *name, char *out);

/* How many names of Swift there are, and whether there may be any: those of
 * Swift 3 are not counted, as names of C can begin so. */
uint64_t sym_writer_swift_names(const sym_writer_t *w);
bool sym_writer_has_swift(const sym_writer_t *w);

/* To be called when all names are known: the symcache will have what `show` says
 * next to each name of Swift. */
sym_status_t sym_writer_show_swift(sym_writer_t *w, sym_swift_show_pt show,
                                   void *ctx);

/* *stats may be NULL. */
sym_status_t sym_writer_finish(sym_writer_t *w, const sym_module_info_t *info,
                               sym_extent_put_pt put, void *ctx,
                               sym_writer_stats_t *stats);

#endif
