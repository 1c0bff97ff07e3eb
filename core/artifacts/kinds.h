/*
 * kinds.h - the kinds of artifacts: what is stored of an object.
 *
 * One object file may give several artifacts, each stored, found, evicted and
 * read by itself.  A kind is a row in sym_kinds: its number in the store, its
 * version, and what its reader tells of an artifact.  Workers link this table.
 * What only the loader does with a kind is in its own code (core/artifacts/KIND/
 * {write,export}, which a worker does not link).
 */
#ifndef SYM_ARTIFACTS_KINDS_H
#define SYM_ARTIFACTS_KINDS_H

#include <stdbool.h>

#include "artifacts/extents.h"
#include "base/str.h"

/* Numbers stand in keys of the store and in messages: none is used twice. */
typedef enum {
    SYM_KIND_ALL = 0,      /* in questions only: whatever kind it is of */
    SYM_KIND_SYMCACHE = 1, /* address -> frames */
    SYM_KIND_SOURCES = 2,  /* path -> text of a source file */
    SYM_KIND_PPDB = 3      /* .NET method, IL offset -> line */
} sym_kind_t;

/* What a question to an artifact names (symbolicate/question.h).  SYM_KIND_ALL
 * answers none. */
typedef enum {
    SYM_KEY_ADDRESS = 1, /* in an image */
    SYM_KEY_IL,          /* a .NET method, and an offset in its code */
    SYM_KEY_POSITION,    /* a line and column of generated code */
    SYM_KEY_METHOD,      /* a class, a method of it, and a line */
    SYM_KEY_PATH         /* a source file */
} sym_key_type_t;

#define SYM_KINDS 3
#define SYM_KIND_MAX 31 /* what a key of the store may hold */

/* Takes what an artifact says of itself. */
typedef struct {
    void (*text)(void *ctx, const char *key, sym_str_t value);
    void (*number)(void *ctx, const char *key, uint64_t value);
    void *ctx;
} sym_kind_facts_t;

typedef struct {
    sym_kind_t kind;
    const char *name;
    uint32_t version; /* that this program writes */
    uint32_t oldest;  /* that its reader still reads */
    sym_key_type_t keyed_by;

    /* A quality is a number of the kind's own, higher is better.  One below
     * `good` does not end the search: another source may have better. */
    uint8_t good;
    const char *(*quality_name)(unsigned quality);

    /* What no checksum tells: the header, and that all it names is there.
     * SYM_DAMAGED, SYM_VERSION. */
    sym_status_t (*verify)(const sym_extent_source_t *extents,
                           sym_error_t *err);

    /* Its facts and counts, in a fixed order. */
    sym_status_t (*describe)(const sym_extent_source_t *extents,
                             const sym_kind_facts_t *facts, sym_error_t *err);
} sym_kind_row_t;

extern const sym_kind_row_t sym_kinds[SYM_KINDS];

/* NULL: a kind that this program does not know. */
const sym_kind_row_t *sym_kind_find(unsigned kind);
const sym_kind_row_t *sym_kind_named(sym_str_t name);

/* The kind that is keyed so; SYM_KIND_ALL: none that this program knows. */
sym_kind_t sym_kind_keyed_by(sym_key_type_t key);

/* "symcache", "sources", "ppdb"; "unknown". */
const char *sym_kind_name(unsigned kind);

/* The reader of the kind reads this version. */
bool sym_kind_reads(unsigned kind, uint32_t version);

#endif
