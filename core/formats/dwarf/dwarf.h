/*
 * dwarf.h - reads DWARF 2 to 5 into a symcache writer.
 *
 * Called by the loader's converter with the sections of one debug file, already
 * decompressed (core/ knows no files).  Two hot loops, the walk over
 * .debug_info and the line programs, are bounded decoders of our own; the rules
 * are llvm-symbolizer's, see docs/formats/dwarf.md.
 *
 * Views are borrowed until sym_dwarf_read() returns; missing sections are empty
 * views.  A unit that is broken is left out and counted, the rest is kept: the
 * call fails only without memory or when the writer fails.
 */
#ifndef SYM_FORMATS_DWARF_DWARF_H
#define SYM_FORMATS_DWARF_DWARF_H

#include "base/thread_pool.h"
#include "base/error.h"
#include "base/str.h"
#include "artifacts/symcache/write/writer.h"

/* Longest way from a concrete function to its name, as references. */
#define SYM_DWARF_CHAIN_MAX 16

/* Entries of .debug_info nested deeper than this end their unit. */
#define SYM_DWARF_DEPTH_MAX 4096

/* Of one unit; a whole program after LTO has some hundred thousand. */
#define SYM_DWARF_RANGES_MAX ((size_t) 1 << 22)
#define SYM_DWARF_ROWS_MAX ((size_t) 1 << 24)

/* All work may sum up to so many times the sections' bytes: what is read more
 * than once (line programs that units share, range lists, abbreviations,
 * names), and what is made of it, at the prices below. */
#define SYM_DWARF_REREAD_MAX 32

/* Prices in bytes.  What an honest file has is paid by the bytes that say so: a
 * range takes three, and at most is a record of its own. */
#define SYM_DWARF_RECORD_PRICE 64
#define SYM_DWARF_NODE_PRICE 16
#define SYM_DWARF_SEGMENT_PRICE 16

typedef struct {
    sym_str_t info, abbrev, line, str, line_str, str_offsets, addr, ranges,
        rnglists;
} sym_dwarf_sections_t;

/* Addresses are the file's own, before image_base. */
typedef struct {
    sym_str_t name; /* "": there is no symbol, only the next one's beginning */
    uint64_t begin;
    uint64_t end; /* where the next one begins, at most; UINT64_MAX: nowhere */
} sym_dwarf_symbol_t;

/* The symbol that covers addr (of the file). */
typedef sym_dwarf_symbol_t (*sym_dwarf_symbol_pt)(void *ctx, uint64_t addr);

/*
 * Where a skeleton unit says that its entries are.  Names are the file's own
 * words: not to be believed.
 */
typedef struct {
    sym_str_t name, comp_dir; /* DW_AT_dwo_name; DW_AT_comp_dir or "" */
    uint64_t id;              /* dwo_id */
    unsigned attempt; /* files that were tried already: another is wanted */
} sym_dwarf_skeleton_t;

/* What a .dwo file has, or a .dwp for one unit: .debug_info.dwo and so on, of
 * info, abbrev, str, str_offsets and rnglists. */
typedef struct {
    sym_dwarf_sections_t sections;
    void *file; /* whoever opened it knows */
} sym_dwarf_split_t;

/* SYM_OK or SYM_NOMEM; any other status: no such unit. */
typedef sym_status_t (*sym_dwarf_split_open_pt)(
    void *ctx, const sym_dwarf_skeleton_t *skeleton, sym_dwarf_split_t *split);
typedef void (*sym_dwarf_split_close_pt)(void *ctx, sym_dwarf_split_t *split);

/*
 * Sections whose bytes come while they are read.  All threads of the pool call
 * work() before anything else; one may be kept there while others read.
 */
typedef struct {
    void (*work)(void *ctx);

    /* Comes back when n bytes of .debug_info are there, and all other sections.
     * False: they never will be, what was read is of no use. */
    bool (*wait)(void *ctx, uint64_t n);
    void *ctx;
} sym_dwarf_supply_t;

typedef struct {
    sym_dwarf_sections_t sections;
    const sym_dwarf_supply_t *supply; /* of sections; NULL: they are there */
    const sym_dwarf_sections_t *alt;  /* dwz's supplementary file, or NULL */

    /* opens split units, one at a time; or NULL */
    sym_dwarf_split_open_pt split_open;
    sym_dwarf_split_close_pt split_close;
    void *split_ctx;

    bool is_big_endian;
    uint64_t image_base;   /* subtracted from every address */
    bool is_base_negative; /* ... modulo 2^64: so WebAssembly's, whose addresses
                              count from the code section, get that added */

    /* an address belongs to the last row at or below it, as with LLVM's tools;
       also says what atos shows: of rows with is_stmt alone, of several at one
       address the first */
    bool has_statements;

    /* names functions before their entries do, and code that has lines but no
     * function, as assembler; or NULL */
    sym_dwarf_symbol_pt symbol; /* called in all threads of the pool */
    void *symbol_ctx;

    /* takes off names what their platform adds; or NULL.  What it returns lies in
     * the name that it was given. */
    sym_str_t (*undecorate)(sym_str_t name);

    /* gives names and parts of paths that stand for others; or NULL.  Called in
     * all threads of the pool.  What it returns lives as long as the sections. */
    sym_str_t (*resolve)(const void *ctx, sym_str_t text);
    const void *resolve_ctx;

    const sym_thread_pool_t *pool; /* NULL: the caller works alone */
} sym_dwarf_input_t;

static inline sym_str_t
sym_dwarf_resolve(const sym_dwarf_input_t *in, sym_str_t text)
{
    return in->resolve != NULL && text.data != NULL
               ? in->resolve(in->resolve_ctx, text)
               : text;
}

typedef struct {
    uint64_t units;           /* in .debug_info */
    uint64_t units_broken;    /* of them given up, wholly or from a point on */
    uint64_t units_no_lines;  /* with code, without a line table of use */
    uint64_t functions;       /* with code */
    uint64_t functions_empty; /* declarations, abstract ones, dropped code */
    uint64_t inlines;         /* with code */
    uint64_t names_missing;   /* functions and inlines without a name */
    uint64_t ranges_dropped;  /* tombstones, below the base, past 4 GiB */
    uint64_t rows;
    uint64_t split_units;     /* their entries are in a .dwo file */
    uint64_t split_missing;   /* of them without that file */
    uint64_t split_foreign;   /* files that had another unit */
    sym_error_t first_broken; /* why the first broken unit was given up */
} sym_dwarf_stats_t;

/*
 * The part of a package (.dwp; sections as it has them) that belongs to the
 * unit of that id; false: none.  index: .debug_cu_index.
 */
bool sym_dwarf_package_find(const sym_dwarf_sections_t *package,
                            sym_str_t index, bool is_big_endian, uint64_t id,
                            sym_dwarf_sections_t *unit);

/* Does not call sym_writer_finish().  *stats is always filled.  Whether the
 * supply failed is for its owner to know. */
sym_status_t sym_dwarf_read(const sym_dwarf_input_t *in, sym_writer_t *w,
                            sym_dwarf_stats_t *stats, sym_error_t *err);

#endif
