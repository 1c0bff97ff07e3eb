/*
 * writer.h - builds a symcache from the output of a format reader.
 *
 * A reader of any format interns its strings, passes functions and public
 * symbols in the order of its file, and calls sym_writer_finish().  The writer
 * flattens inline ranges and line records into segments, resolves overlaps, and
 * packs the result into extents.  It passes each extent to the caller's sink as
 * soon as it is full, so memory is proportional to the output, not the input.
 * Addresses are relative to the module's image base and have 32 bits; no client
 * can request others.
 *
 * Every call returns SYM_OK or the status it also put in *err; after a failure
 * only sym_writer_free() may be called.
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
    uint32_t size; /* not 0.  The gap up to the next line also belongs to
                      this line, unless an inlined call begins or ends in it */
    uint32_t line; /* 0: unknown */
    uint32_t file; /* string id, or SYM_NO_STRING */
} sym_line_t;

/* One range of one inlined call. */
typedef struct {
    uint32_t addr;
    uint32_t size;
    uint32_t depth;     /* 0: inlined directly into the function */
    uint32_t name;      /* string id */
    uint32_t call_line; /* position of the call; 0: unknown */
    uint32_t call_file; /* string id, or SYM_NO_STRING */
} sym_inline_t;

typedef struct {
    uint32_t addr;
    uint32_t size;           /* not 0; addr + size <= 2^32 */
    uint32_t name;           /* string id */
    uint8_t lang;            /* SYM_LANG_* */
    const sym_line_t *lines; /* in file order, which need not be sorted */
    size_t n_lines;
    const sym_inline_t *inlines; /* in file order */
    size_t n_inlines;
} sym_function_t;

/* A function, or a call inlined in it.  Only the name of a function is used. */
typedef struct {
    uint32_t parent; /* index of an earlier node */
    uint32_t name;   /* string id, or SYM_NO_STRING */
    uint32_t call_file, call_line;
} sym_flat_node_t;

/* The owner of all addresses from addr to the next segment. */
typedef struct {
    uint32_t addr;
    uint32_t node;
    uint32_t file; /* string id or SYM_NO_STRING */
    uint32_t line; /* 0 if there is no file */
} sym_segment_t;

/* Addresses for which atos shows a line other than the segment's
 * (docs/formats/macho.md). */
typedef struct {
    uint32_t addr;
    uint32_t size; /* not 0 */
    uint32_t file; /* string id or SYM_NO_STRING */
    uint32_t line; /* 0 if there is no file */
} sym_statement_t;

/*
 * A part of a function that the reader has flattened.  Segments are sorted; the
 * first is at addr, and the last ends at addr + size.  Statements are sorted
 * and within the part; none is inside another one.
 */
typedef struct {
    uint32_t addr;
    uint32_t size; /* not 0; addr + size <= 2^32 */
    uint8_t lang;
    bool is_generated; /* the function has no lines of its own, but calls
                          inlined in it may have (sym_writer_keep_twins()) */
    const sym_flat_node_t *nodes; /* nodes[0] is the function */
    size_t n_nodes;
    const sym_segment_t *segments;
    size_t n_segments; /* not 0 */
    const sym_statement_t *statements;
    size_t n_statements;
} sym_flat_function_t;

/* Facts about a module; unknown facts are empty views. */
typedef struct {
    sym_str_t debug_id;   /* canonical */
    sym_str_t debug_file; /* name in the file itself */
    sym_str_t debug_path; /* the same with its folders, or "" */
    sym_str_t code_id;
    sym_str_t code_file; /* name shown instead of the debug file's, or "" */
    sym_str_t arch;
    sym_str_t os;
    uint64_t source_bytes;   /* size of the input file */
    uint32_t flags;          /* SYM_FLAG_* */
    uint64_t image_base;     /* subtracted from the file's addresses */
    sym_str_t source_server; /* version control system of its source code:
                                "Perforce", ... */
    const sym_load_t *loads; /* at most SYM_LOADS_MAX */
    size_t n_loads;
} sym_module_info_t;

/* Counts that `symloader show` prints (docs/formats/symcache.md). */
typedef struct {
    uint64_t functions, publics, inlines, lines; /* as given */
    uint64_t segments, nodes, strings;           /* as written */
    uint64_t string_bytes;                       /* before compression */
    uint64_t bytes;                              /* size of all extents */
    uint32_t extents;
    uint64_t dropped;   /* number of records that cover no address */
    uint64_t truncated; /* number of names that were too long, and were cut */
    uint8_t quality;    /* SYM_QUALITY_* */
} sym_writer_stats_t;

/*
 * Receives one finished extent: at most SYM_EXTENT_MAX bytes, valid during the
 * call.  Numbers come in any order, each once, without gaps.
 */
typedef sym_status_t (*sym_extent_put_pt)(void *ctx, uint32_t number,
                                          const uint8_t *data, size_t len,
                                          sym_error_t *err);

/* NULL when out of memory. */
sym_writer_t *sym_writer_create(sym_error_t *err);
void sym_writer_free(sym_writer_t *w);

/* Sets the pool for the last step; NULL: none.  Threads do not change the
 * output.  The sink is then called on these threads, one call at a time. */
void sym_writer_lend(sym_writer_t *w, const sym_thread_pool_t *pool);

/* If functions of several shards have the same addresses, those with lines of
 * their own are treated as functions that overlap, of which the last wins.  If
 * none has lines, or without this call, the first wins. */
void sym_writer_keep_twins(sym_writer_t *w);

/* Interns text (UTF-8): equal text gives the same id. */
sym_status_t sym_writer_string(sym_writer_t *w, sym_str_t text, uint32_t *id);

/* The same in two steps, with other work between them.  The table of names is
 * in slow memory, and the first step prefetches it. */
uint32_t sym_writer_expect(const sym_writer_t *w, sym_str_t text);
sym_status_t sym_writer_expected(sym_writer_t *w, sym_str_t text, uint32_t hash,
                                 uint32_t *id);

/*
 * An id whose text follows later, or never (then it is "").  An inlined call
 * may precede the record with its name.
 */
sym_status_t sym_writer_reserve(sym_writer_t *w, uint32_t *id);
sym_status_t sym_writer_define(sym_writer_t *w, uint32_t id, sym_str_t text);

/* Whether the text is interned; if so, *id is its id. */
bool sym_writer_find(const sym_writer_t *w, sym_str_t text, uint32_t *id);

/* Takes *moves, which must be sorted.  They apply to lines, calls and
 * statements of all functions.  Call it at most once. */
void sym_writer_move(sym_writer_t *w, sym_moves_t *moves);

/* Copies the needed data from *f. */
sym_status_t sym_writer_function(sym_writer_t *w, const sym_function_t *f);

/* Adds the contents of a part, as if they were passed now.  The part is empty
 * afterwards.  After a failure only sym_shard_free() may be called. */
sym_status_t sym_writer_join(sym_writer_t *w, sym_shard_t *part);

/* Adds a symbol without a size: it ends at the next symbol or function.  The
 * first call for an address wins. */
sym_status_t sym_writer_public(sym_writer_t *w, uint32_t addr, uint32_t name);

/* Adds a symbol that ends after `size` bytes, or earlier at the next symbol;
 * functions own the parts that they cover.  If size is 0, or larger than the
 * address space, this is the same as adding a symbol without a size. */
sym_status_t sym_writer_symbol(sym_writer_t *w, uint32_t addr, uint64_t size,
                               uint32_t name);

/* Adds a symbol of unknown size that ends at `end` at the latest.  It continues
 * after functions that it covers only if it has their name. */
sym_status_t sym_writer_open_symbol(sym_writer_t *w, uint32_t addr,
                                    uint64_t size, uint32_t name);

/* Adds a symbol without a size, when all functions have been added.  If a
 * function has its address, the symbol's name is not stored. */
sym_status_t sym_writer_late_public(sym_writer_t *w, uint32_t addr,
                                    sym_str_t name);

/* Writes the shown name of a name to out[SYM_SWIFT_SHOWN_MAX], and returns its
 * length.  0: the name is shown unchanged. */
typedef size_t (*sym_swift_show_pt)(void *ctx, const char *name, char *out);

/* Number of Swift names, and whether there may be any.  Names of Swift 3 are
 * not counted, because C names can have their prefix. */
uint64_t sym_writer_swift_names(const sym_writer_t *w);
bool sym_writer_has_swift(const sym_writer_t *w);

/* Call it when all names are known.  The symcache gets the shown name of each
 * Swift name from `show`. */
sym_status_t sym_writer_show_swift(sym_writer_t *w, sym_swift_show_pt show,
                                   void *ctx);

/* stats may be NULL. */
sym_status_t sym_writer_finish(sym_writer_t *w, const sym_module_info_t *info,
                               sym_extent_put_pt put, void *ctx,
                               sym_writer_stats_t *stats);

#endif
