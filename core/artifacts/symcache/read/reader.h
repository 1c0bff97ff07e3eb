/*
 * reader.h - looks up addresses in a symcache.
 *
 * The reader sees a symcache as numbered extents that its caller owns (the
 * store, or memory in tests), and trusts none of their bytes.  For any
 * contents, a call returns an answer or a status in bounded time, and reads
 * only inside the extents.  It allocates nothing.  Views live as long as the
 * extents stay mapped; for the store, until the snapshot ends.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_READER_H
#define SYM_ARTIFACTS_SYMCACHE_READ_READER_H

#include "base/error.h"
#include "base/str.h"
#include "artifacts/extents.h"
#include "artifacts/symcache/format.h"
#include "base/language.h"

/* Only the reader uses the members. docs/formats/symcache.md explains the names
 * of the fields. */
typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    sym_extent_view_t *extents; /* n_extents entries, or NULL */

    sym_extent_view_t first; /* extent 0 */
    uint64_t bytes;
    uint32_t n_extents;
    uint8_t quality;
    bool has_linker_names; /* C++ and Rust names are mangled */
    uint32_t flags;        /* SYM_FLAG_* */
    uint64_t image_base;   /* subtracted from the file's addresses; 0 if
                              unknown */

    uint32_t n_index_pages, n_statement_pages, n_shown_pages, n_files;
    const uint8_t *root;       /* addr[n_index_pages], ref[n_index_pages] */
    const uint8_t *statements; /* same for the index of statement pages */
    const uint8_t *shown;      /* same for the table of shown names */
    const uint8_t *dict;       /* SYM_DICT_SLACK bytes more can be read */
    uint32_t dict_len;
    const uint8_t *file_pages; /* ref[] */
    const uint8_t *files;      /* the page of files if there is only one, or
                                  NULL */

    /* The block of the last lookup, because neighbouring addresses need no
     * search. */
    const uint8_t *block;
    uint32_t block_len;
    uint64_t block_from, block_to;

    uint64_t damaged; /* number of calls that found invalid bytes */
} sym_symcache_t;

/* A packed string of the module. */
typedef uint32_t sym_string_ref_t;
#define SYM_NO_REF 0u /* position 0 is the header, so it is never a string */

/* One level of an answer. */
typedef struct {
    sym_string_ref_t name; /* SYM_NO_REF: "" */
    sym_string_ref_t file; /* SYM_NO_REF: unknown */
    uint32_t line;         /* 0: unknown */
} sym_level_t;

/* levels[0] is the innermost inlined call, levels[n_levels - 1] the
 * function. */
typedef struct {
    uint32_t function_addr;
    uint32_t function_size; /* 0: unknown (the last symbol, if public) */
    uint8_t lang;
    uint32_t n_levels; /* 0: no symbol has the address */
    sym_level_t *levels;
} sym_answer_t;

#define SYM_LEVELS_MAX (SYM_INLINE_DEPTH_MAX + 1)

/* Language whose mangling the level's name has.  It is known only for the
 * function, because inlined calls may be of other languages. */
static inline uint8_t
sym_answer_lang(const sym_answer_t *answer, uint32_t level)
{
    return level + 1 == answer->n_levels ? answer->lang : SYM_LANG_UNKNOWN;
}

/*
 * Checks the header and fills *sc.  SYM_VERSION: another format version or byte
 * order.  SYM_DAMAGED: the bytes are not a symcache, or extents are missing.
 */
sym_status_t sym_symcache_open(sym_symcache_t *sc, sym_extent_get_pt get,
                               void *ctx, sym_error_t *err);

/* Call it after open.  Gives the reader a table (zeroed, sc->n_extents entries)
 * to cache extents in; without it every access calls `get`.  The table must
 * live as long as sc. */
void sym_symcache_remember(sym_symcache_t *sc, sym_extent_view_t *table);

/*
 * Finds the symbol at addr.  `levels` has room for SYM_LEVELS_MAX.  SYM_OK with
 * n_levels 0: there is no symbol.  SYM_DAMAGED: bytes are invalid (counted in
 * sc->damaged), and the answer is empty.
 */
sym_status_t sym_symcache_lookup(sym_symcache_t *sc, uint64_t addr,
                                 sym_level_t *levels, sym_answer_t *answer);

/*
 * Sets file and line of the answer's innermost level to those that atos shows
 * for addr.  Returns true if they differ from the line table's.
 */
bool sym_symcache_statement(sym_symcache_t *sc, uint32_t addr,
                            sym_level_t *innermost);

/*
 * Does the same lookup in steps: seek each address, advance all together,
 * answer each.  Each step prefetches the data of the next.  So the addresses of
 * a group wait for memory together, not one after the other (measured on random
 * addresses of a module of 450 MB, 16 at a time: docs/design/README.md).  A
 * group may use several symcaches.
 */
#define SYM_FILE_NODES UINT32_MAX /* file of the node */

typedef struct {
    sym_symcache_t *sc; /* valid only if rc is SYM_OK */
    sym_status_t rc;    /* SYM_NOT_FOUND: no symbol */
    uint32_t addr;
    const uint8_t *block, *piece; /* piece: inside the block */
    uint32_t block_len;
    uint32_t behind; /* distance of addr from the piece's start */
    uint32_t node_base, root_ref, node_ref;
    uint32_t file;      /* number + 1, or SYM_FILE_NODES */
    uint32_t line;      /* added to the node's first line, ... */
    uint32_t line_mask; /* ... which this masks */
} sym_probe_t;

void sym_symcache_seek(sym_symcache_t *sc, uint64_t addr, sym_probe_t *probe);
void sym_symcache_lead(sym_probe_t *probes, uint32_t n);
sym_status_t sym_symcache_answer(const sym_probe_t *probe, sym_level_t *levels,
                                 sym_answer_t *answer);

/* True if both found the same segment, and so have the same answer.  For sorted
 * addresses the previous answer can be reused. */
static inline bool
sym_symcache_is_same(const sym_probe_t *a, const sym_probe_t *b)
{
    return a->rc == SYM_OK && b->rc == SYM_OK && a->sc == b->sc
           && a->node_ref == b->node_ref && a->line == b->line
           && a->line_mask == b->line_mask && a->file == b->file
           && a->root_ref == b->root_ref;
}


/*
 * Unpacked length of a string, and whether it consists of printable ASCII that
 * JSON does not escape (no quote, no backslash).
 */
sym_status_t sym_symcache_string_len(sym_symcache_t *sc, sym_string_ref_t ref,
                                     size_t *len, bool *is_plain);

/* The name of the file with that number + 1; SYM_NO_REF for 0. */
sym_string_ref_t sym_symcache_file(sym_symcache_t *sc, uint32_t number);

/* The name that Sentry's API shows in place of a name; SYM_NO_REF: none. */
sym_string_ref_t sym_symcache_shown(sym_symcache_t *sc, sym_string_ref_t name);

/* Prefetches a string that will be unpacked soon. */
void sym_symcache_expect(sym_symcache_t *sc, sym_string_ref_t ref);

/*
 * Unpacks a string to out, which has `room` bytes. room must be at least the
 * string's length and SYM_STRING_SLACK, because copies move whole words.
 * Returns the length. 0 with damage: also if the string has become longer,
 * because another process may write the bytes. 0 without damage: "", or the
 * string has several parts and does not fit.  Names are valid UTF-8 unless the
 * store is damaged.
 */
#define SYM_STRING_SLACK 32
size_t sym_symcache_string_within(sym_symcache_t *sc, sym_string_ref_t ref,
                                  char *out, size_t room, bool *is_plain);

/* Limit on the length of an unpacked string. */
#define SYM_STRING_MAX SYM_NAME_BYTES_MAX

/* Room for any string of one part. */
#define SYM_PART_ROOM (SYM_PART_BYTES_MAX + SYM_STRING_SLACK)

/* Gets the parts of a long string.  Each is a string that ends with a
 * complete character.  Returns their number; 0 for a string of one part, or
 * on damage. */
uint32_t sym_symcache_parts(sym_symcache_t *sc, sym_string_ref_t ref,
                            sym_string_ref_t parts[SYM_PARTS_MAX]);

/* Same, for an `out` with room for any string. */
static inline size_t
sym_symcache_string(sym_symcache_t *sc, sym_string_ref_t ref, char *out,
                    bool *is_plain)
{
    return sym_symcache_string_within(
        sc, ref, out, SYM_STRING_MAX + SYM_STRING_SLACK, is_plain);
}


/*
 * Facts about the module, which have one part, unpacked to out[SYM_PART_ROOM];
 * "" if unknown.
 */
typedef enum {
    SYM_INFO_DEBUG_ID,
    SYM_INFO_DEBUG_FILE,
    SYM_INFO_CODE_ID,
    SYM_INFO_CODE_FILE,
    SYM_INFO_ARCH,
    SYM_INFO_OS,
    SYM_INFO_COUNT
} sym_info_t;
size_t sym_symcache_info(sym_symcache_t *sc, sym_info_t which, char *out);

/* Writes the name of the file's version control system ("Perforce") to out, and
 * returns its length, like sym_symcache_info(). */
size_t sym_symcache_source_server(sym_symcache_t *sc, char *out);

/*
 * The address of a byte of the module's file, by its table of loads.  False: the
 * byte is not code, or the symcache has no table, because its file has none: the
 * address may then differ from the offset.
 */
bool sym_symcache_offset(sym_symcache_t *sc, uint64_t offset, uint64_t *addr);

/* Counts in the header, as written by sym_writer_finish(). */
typedef struct {
    uint64_t functions, publics, inlines, lines;
    uint64_t segments, nodes, strings, string_bytes;
    uint64_t dropped, truncated, source_bytes;
} sym_symcache_counts_t;
void sym_symcache_counts(const sym_symcache_t *sc,
                         sym_symcache_counts_t *counts);

#endif
