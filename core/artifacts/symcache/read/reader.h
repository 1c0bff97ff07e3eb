/*
 * reader.h - looks up addresses in a symcache.
 *
 * The reader sees a symcache as numbered extents that its caller owns (the
 * store, or memory in tests) and trusts none of their bytes: whatever they
 * contain, a call returns an answer or a status, in bounded time, and reads
 * only inside the extents.  It allocates nothing.
 *
 * Views handed out live as long as the extents stay mapped: for the store,
 * until the snapshot ends.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_READER_H
#define SYM_ARTIFACTS_SYMCACHE_READ_READER_H

#include "base/error.h"
#include "base/str.h"
#include "artifacts/extents.h"
#include "artifacts/symcache/format.h"
#include "base/language.h"

/* Only the reader looks inside; the fields' names are
 * docs/formats/symcache.md's. */
typedef struct {
    sym_extent_get_pt get;
    void *ctx;
    sym_extent_view_t *extents; /* n_extents of them, or NULL */

    sym_extent_view_t first; /* extent 0 */
    uint64_t bytes;
    uint32_t n_extents;
    uint8_t quality;
    bool has_linker_names; /* C++ and Rust names are mangled */
    uint32_t flags;        /* SYM_FLAG_* */
    uint64_t image_base;   /* subtracted from the addresses of its file; 0 if
                            unknown */

    uint32_t n_index_pages, n_statement_pages, n_shown_pages, n_files;
    const uint8_t *root;       /* addr[n_index_pages], ref[n_index_pages] */
    const uint8_t *statements; /* same, for the index of statement pages */
    const uint8_t *shown;      /* same, for the table of shown names */
    const uint8_t *dict;       /* readable for SYM_DICT_SLACK bytes more */
    uint32_t dict_len;
    const uint8_t *file_pages; /* ref[] */
    const uint8_t *files;      /* that page if it is the only one, or NULL */

    /* the block of the last lookup: neighbouring addresses need no search */
    const uint8_t *block;
    uint32_t block_len;
    uint64_t block_from, block_to;

    uint64_t damaged; /* calls that found invalid bytes */
} sym_symcache_t;

/* A string of the module, still packed. */
typedef uint32_t sym_string_ref_t;
#define SYM_NO_REF 0u /* position 0 is the header: never a string */

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
    uint32_t function_size; /* 0: unknown (a public symbol, the last one) */
    uint8_t lang;
    uint32_t n_levels; /* 0: no symbol has the address */
    sym_level_t *levels;
} sym_answer_t;

#define SYM_LEVELS_MAX (SYM_INLINE_DEPTH_MAX + 1)

/* Language whose mangling a level's name has: known for the function only,
 * because inlined calls may be of another language. */
static inline uint8_t
sym_answer_lang(const sym_answer_t *answer, uint32_t level)
{
    return level + 1 == answer->n_levels ? answer->lang : SYM_LANG_UNKNOWN;
}

/*
 * Checks the header and fills *sc.  SYM_VERSION: another format version or
 * byte order; SYM_DAMAGED: not a symcache, or one with a hole.
 */
sym_status_t sym_symcache_open(sym_symcache_t *sc, sym_extent_get_pt get,
                               void *ctx, sym_error_t *err);

/* After open: gives the reader a table (zeroed, sc->n_extents entries) for
 * caching extents; without it every access calls `get`.  The table must live as
 * long as sc. */
void sym_symcache_remember(sym_symcache_t *sc, sym_extent_view_t *table);

/*
 * The symbol at addr.  `levels` has room for SYM_LEVELS_MAX.  SYM_OK with
 * n_levels 0: no symbol.  SYM_DAMAGED: invalid bytes (counted in sc->damaged);
 * the answer is then empty.
 */
sym_status_t sym_symcache_lookup(sym_symcache_t *sc, uint64_t addr,
                                 sym_level_t *levels, sym_answer_t *answer);

/*
 * Sets the file and line that atos shows for addr in the innermost level of its
 * answer, if they differ from the line table's; true if so.
 */
bool sym_symcache_statement(sym_symcache_t *sc, uint32_t addr,
                            sym_level_t *innermost);

/*
 * The same lookup in steps: seek each address, advance all together, answer
 * each.  Each step prefetches the data of the next, so the addresses of a group
 * wait for memory together and not one after the other (measured on random
 * addresses of a module of 450 MB, 16 at a time: docs/design/README.md).  A
 * group may use several symcaches.
 */
#define SYM_FILE_NODES UINT32_MAX /* the file of the node */

typedef struct {
    sym_symcache_t *sc; /* valid only if rc is SYM_OK */
    sym_status_t rc;    /* SYM_NOT_FOUND: no symbol */
    uint32_t addr;
    const uint8_t *block, *piece; /* piece: inside the block */
    uint32_t block_len;
    uint32_t behind; /* distance of addr from the start of the piece */
    uint32_t node_base, root_ref, node_ref;
    uint32_t file;      /* number + 1, or SYM_FILE_NODES */
    uint32_t line;      /* added to ... */
    uint32_t line_mask; /* ... the first line of the node, masked by this */
} sym_probe_t;

void sym_symcache_seek(sym_symcache_t *sc, uint64_t addr, sym_probe_t *probe);
void sym_symcache_lead(sym_probe_t *probes, uint32_t n);
sym_status_t sym_symcache_answer(const sym_probe_t *probe, sym_level_t *levels,
                                 sym_answer_t *answer);

/* True if both found the same segment, and so have the same answer: for sorted
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
 * Unpacked length of a string, and whether it is all printable ASCII that needs
 * no escape in JSON (no quote, no backslash).
 */
sym_status_t sym_symcache_string_len(sym_symcache_t *sc, sym_string_ref_t ref,
                                     size_t *len, bool *is_plain);

/* The name of a file by its number + 1; SYM_NO_REF for 0. */
sym_string_ref_t sym_symcache_file(sym_symcache_t *sc, uint32_t number);

/* The name that Sentry's API shows for a name, if the module has one; or
 * SYM_NO_REF. */
sym_string_ref_t sym_symcache_shown(sym_symcache_t *sc, sym_string_ref_t name);

/* Prefetches a string that will be unpacked soon. */
void sym_symcache_expect(sym_symcache_t *sc, sym_string_ref_t ref);

/*
 * Unpacks a string to out, which has `room` bytes: its length, and
 * SYM_STRING_SLACK more (copies go by whole words).  Returns the length; 0 on
 * damage, also if the string is longer now than its length was, because another
 * process may write the bytes.  0 without damage: "", or it has several parts
 * and does not fit.  Names are valid UTF-8 unless the store is damaged.
 */
#define SYM_STRING_SLACK 32
size_t sym_symcache_string_within(sym_symcache_t *sc, sym_string_ref_t ref,
                                  char *out, size_t room, bool *is_plain);

/* Most bytes of an unpacked string. */
#define SYM_STRING_MAX SYM_NAME_BYTES_MAX

/* Room for any string of one part. */
#define SYM_PART_ROOM (SYM_PART_BYTES_MAX + SYM_STRING_SLACK)

/* The parts of a long string; each is a string that ends at a character's end.
 * Returns their number; 0 for a string of one part, or on damage. */
uint32_t sym_symcache_parts(sym_symcache_t *sc, sym_string_ref_t ref,
                            sym_string_ref_t parts[SYM_PARTS_MAX]);

/* Same, for an out with room for any string. */
static inline size_t
sym_symcache_string(sym_symcache_t *sc, sym_string_ref_t ref, char *out,
                    bool *is_plain)
{
    return sym_symcache_string_within(
        sc, ref, out, SYM_STRING_MAX + SYM_STRING_SLACK, is_plain);
}


/*
 * Module facts, which have one part, unpacked to out[SYM_PART_ROOM]; "" if not
 * known.
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

/* Counts kept in the header, as sym_writer_finish() gave them. */
typedef struct {
    uint64_t functions, publics, inlines, lines;
    uint64_t segments, nodes, strings, string_bytes;
    uint64_t dropped, truncated, source_bytes;
} sym_symcache_counts_t;
void sym_symcache_counts(const sym_symcache_t *sc,
                         sym_symcache_counts_t *counts);

#endif
