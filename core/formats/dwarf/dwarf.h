/*
 * dwarf.h - reads DWARF 2 to 5 into a symcache writer.
 *
 * The loader's converter calls it with the decompressed sections of one debug
 * file (core/ opens no files).  Two hot loops, the walk over .debug_info and
 * the line programs, are our own bounded decoders; the rules are
 * llvm-symbolizer's, see docs/formats/dwarf.md.
 *
 * Views are borrowed until sym_dwarf_read() returns; missing sections are empty
 * views.  A broken unit is left out and counted, and the other units are kept.
 * The call fails only if memory runs out or the writer fails.
 */
#ifndef SYM_FORMATS_DWARF_DWARF_H
#define SYM_FORMATS_DWARF_DWARF_H

#include "base/thread_pool.h"
#include "base/error.h"
#include "base/str.h"
#include "artifacts/symcache/write/writer.h"

/* Most references from a concrete function to its name. */
#define SYM_DWARF_CHAIN_MAX 16

/* Entries of .debug_info nested deeper than this end their unit. */
#define SYM_DWARF_DEPTH_MAX 4096

/* Limit per unit.  A program has some hundred thousand after LTO. */
#define SYM_DWARF_RANGES_MAX ((size_t) 1 << 22)
#define SYM_DWARF_ROWS_MAX ((size_t) 1 << 24)

/* Limit on all work, as a multiple of the sections' bytes.  Work is repeated
 * reads (line programs shared by units, range lists, abbreviations, names) and
 * output, at the prices below. */
#define SYM_DWARF_REREAD_MAX 32

/* Prices of output, in bytes.  In a real file the input pays for its output: a
 * range takes three bytes, and gives at most one record. */
#define SYM_DWARF_RECORD_PRICE 64
#define SYM_DWARF_NODE_PRICE 16
#define SYM_DWARF_SEGMENT_PRICE 16

typedef struct {
    sym_str_t info, abbrev, line, str, line_str, str_offsets, addr, ranges,
        rnglists;
} sym_dwarf_sections_t;

/* Addresses are those in the file: image_base is not subtracted. */
typedef struct {
    sym_str_t name; /* "": no symbol covers the address */
    uint64_t begin;
    uint64_t end; /* at most the start of the next symbol; UINT64_MAX:
                     unknown */
} sym_dwarf_symbol_t;

/* Gets the symbol that covers addr, an address in the file. */
typedef sym_dwarf_symbol_t (*sym_dwarf_symbol_pt)(void *ctx, uint64_t addr);

/*
 * Identifies the file that contains the entries of a skeleton unit.  The names
 * are untrusted, because they come from the debug file.
 */
typedef struct {
    sym_str_t name, comp_dir; /* DW_AT_dwo_name; DW_AT_comp_dir or "" */
    uint64_t id;              /* dwo_id */
    unsigned attempt;         /* number of files that were tried already */
} sym_dwarf_skeleton_t;

/* Sections of a .dwo file, or of one unit in a .dwp: .debug_info.dwo is `info`,
 * and so on for abbrev, str, str_offsets and rnglists. */
typedef struct {
    sym_dwarf_sections_t sections;
    void *file; /* belongs to the code that opened the unit */
} sym_dwarf_split_t;

/* Returns SYM_OK or SYM_NOMEM.  Any other status means that there is no such
 * unit. */
typedef sym_status_t (*sym_dwarf_split_open_pt)(
    void *ctx, const sym_dwarf_skeleton_t *skeleton, sym_dwarf_split_t *split);
typedef void (*sym_dwarf_split_close_pt)(void *ctx, sym_dwarf_split_t *split);

/*
 * Sections that can be read before they have arrived completely.  All threads
 * of the pool first call work(), which may keep some of them while others read.
 */
typedef struct {
    void (*work)(void *ctx);

    /* Returns when n bytes of .debug_info, and all other sections, have
     * arrived.  False: they will never arrive; discard everything that was
     * read. */
    bool (*wait)(void *ctx, uint64_t n);
    void *ctx;
} sym_dwarf_supply_t;

typedef struct {
    sym_dwarf_sections_t sections;
    const sym_dwarf_supply_t *supply; /* NULL: the sections are complete */
    const sym_dwarf_sections_t *alt;  /* dwz's supplementary file, or NULL */

    /* opens split units, one at a time; or NULL */
    sym_dwarf_split_open_pt split_open;
    sym_dwarf_split_close_pt split_close;
    void *split_ctx;

    bool is_big_endian;
    uint64_t image_base;   /* subtracted from every address */
    bool is_base_negative; /* image_base is negative, modulo 2^64:
                              WebAssembly addresses count from the code
                              section */

    /* An address belongs to the last row at or below it, as with LLVM's tools.
       has_statements: also makes the lines that atos shows, from rows with
       is_stmt only, and the first of several at one address. */
    bool has_statements;

    /* names functions, with precedence over their entries, and code that has
     * lines but no function, such as assembler; or NULL */
    sym_dwarf_symbol_pt symbol; /* called on all threads of the pool */
    void *symbol_ctx;

    /* removes the platform's decoration of names; or NULL.  The result is a
     * view of the argument. */
    sym_str_t (*undecorate)(sym_str_t name);

    /* replaces names and parts of paths; or NULL.  Runs on all threads of the
     * pool.  The result lives as long as the sections. */
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
    uint64_t units;           /* units in .debug_info */
    uint64_t units_broken;    /* units given up, entirely or partly */
    uint64_t units_no_lines;  /* units with code, but without a usable line
                                 table */
    uint64_t functions;       /* functions with code */
    uint64_t functions_empty; /* declarations, abstract functions, dropped
                                 code */
    uint64_t inlines;         /* inlined calls with code */
    uint64_t names_missing;   /* functions and inlines without a name */
    uint64_t ranges_dropped;  /* tombstones, and ranges below the base or
                                 above 4 GiB */
    uint64_t rows;
    uint64_t split_units;     /* units with entries in a .dwo file */
    uint64_t split_missing;   /* split units whose file was not found */
    uint64_t split_foreign;   /* .dwo files that contained another unit */
    sym_error_t first_broken; /* why the first broken unit was given up */
} sym_dwarf_stats_t;

/*
 * Gets the part of a package (.dwp) for the unit with that id.  False: the
 * package has no such unit.  index: .debug_cu_index.
 */
bool sym_dwarf_package_find(const sym_dwarf_sections_t *package,
                            sym_str_t index, bool is_big_endian, uint64_t id,
                            sym_dwarf_sections_t *unit);

/* Does not call sym_writer_finish().  *stats is always filled.  The owner of
 * the supply must check whether the supply failed. */
sym_status_t sym_dwarf_read(const sym_dwarf_input_t *in, sym_writer_t *w,
                            sym_dwarf_stats_t *stats, sym_error_t *err);

#endif
