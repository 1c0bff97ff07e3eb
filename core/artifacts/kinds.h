/*
 * kinds.h - the kinds of artifacts that are stored for an object.
 *
 * One object file may give several artifacts.  Each is stored, found, evicted
 * and read separately.  A kind is a row in list.h.  This header has the part
 * that workers link; tools.h has the part that only the loader links.
 */
#ifndef SYM_ARTIFACTS_KINDS_H
#define SYM_ARTIFACTS_KINDS_H

#include <stdbool.h>

#include "artifacts/extents.h"
#include "artifacts/list.h"
#include "object/files.h"
#include "object/object_id.h"

#define SYM_KIND_NUMBER(number, NAME, name) SYM_KIND_##NAME = (number),
#define SYM_KIND_ONE(number, NAME, name) +1

typedef enum {
    SYM_KIND_ALL = 0, /* any kind; used only in requests */
    SYM_ARTIFACT_KINDS(SYM_KIND_NUMBER)
} sym_kind_t;

#define SYM_KINDS (0 SYM_ARTIFACT_KINDS(SYM_KIND_ONE))
#define SYM_KIND_MAX 31 /* largest number in a key of the store */

/* Receives a fact about an artifact. */
typedef struct {
    void (*text)(void *ctx, const char *key, sym_str_t value);
    void (*number)(void *ctx, const char *key, uint64_t value);
    void *ctx;
} sym_kind_facts_t;

/* Contents of a file from which artifacts are made. */
#define SYM_FEATURE_DEBUG_INFO 4u /* lines */
#define SYM_FEATURE_SYMBOLS 8u    /* a table of symbols */
#define SYM_FEATURE_UNWIND_INFO 16u
#define SYM_FEATURE_SOURCES 32u /* source texts, or links to them */
#define SYM_FEATURES 60u

typedef struct {
    sym_kind_t kind;
    const char *name;
    uint32_t version; /* version that this program writes */
    uint32_t oldest;  /* oldest version that this program reads */

    /* The files from which it is made, by type of object: 1 <<
     * sym_source_file_t.  For an unknown type, the path decides.  0: it is not
     * fetched from sources. */
    unsigned files[SYM_OBJECT_TYPES];

    /* Features of every file from which it is made.  An artifact may have
       more. */
    unsigned features;

    /* Qualities are numbers of the kind; higher is better.  A quality below
     * `good` does not end a search, because another source may have a better
     * artifact. */
    uint8_t good;
    const char *(*quality_name)(unsigned quality);

    /* Used by sym_kind_verify().  *n: number of extents according to the
     * header. */
    sym_status_t (*verify)(const sym_extent_source_t *extents, uint32_t *n,
                           sym_error_t *err);

    /* Reports facts and counts of the artifact, in a fixed order. */
    sym_status_t (*describe)(const sym_extent_source_t *extents,
                             const sym_kind_facts_t *facts, sym_error_t *err);
} sym_kind_row_t;

/* The files of a kind, if they are the same for all types of objects. */
#define SYM_FILES_OF_ANY_TYPE(set)                                             \
    {                                                                          \
        set, set, set, set, set, set                                           \
    }

/* The rows, in the order of list.h. */
extern const sym_kind_row_t *const sym_kinds[SYM_KINDS];

/* The row of a kind; NULL for an unknown kind. */
const sym_kind_row_t *sym_kind_find(unsigned kind);
const sym_kind_row_t *sym_kind_named(sym_str_t name);

/* The name of a kind; "unknown" for an unknown kind. */
const char *sym_kind_name(unsigned kind);

/* The files from which artifacts of the kind are made; 0: none. */
unsigned sym_kind_files(unsigned kind, sym_object_type_t type);

/* Whether code files are tried before debug files, because debug files seldom
 * contain the kind. */
bool sym_kind_wants_code(unsigned kind);

/* Checks the parts that checksums do not cover: the header, that everything to
 * which it refers exists, and that there are no other extents.  SYM_DAMAGED,
 * SYM_VERSION. */
sym_status_t sym_kind_verify(const sym_kind_row_t *kind,
                             const sym_extent_source_t *extents,
                             sym_error_t *err);

/* Whether the kind's reader reads this version. */
bool sym_kind_reads(unsigned kind, uint32_t version);

/* The version of this program's readers of files.  Another version may be able to
 * read a file that this one could not. */
uint32_t sym_kinds_reader(void);

#endif
