/*
 * plan.h - the places of an object at a source: paths below its base, in the order
 * of asking.
 *
 * Workers and the loader calculate the same plan from the same reference and
 * rules, so no path travels between them.
 *
 * Paths are plain: keys of objects, files below a folder.  sym_source_encode()
 * encodes one as S3's own clients encode keys, and as the canonical URI of
 * Signature V4 wants it: every byte but A-Z a-z 0-9 - . _ ~ as %XX in upper case.
 * Mozilla's clients leave + and @ as they are; here they become %2B and %40,
 * because
 *  - S3 takes a bare + in a path for a space: "libstdc++.so" is another object
 *    there.  MinIO, s3rver and nginx take it for itself.
 *  - all of them decode %XX, so %2B, %40, %7B, %3C and %20 reach the same object
 *    as the bare bytes do.
 *  - signed and sent path are the same text, so the bytes that
 *    the other side decodes before it checks the signature do not matter.
 * ~ stays: S3 signs it bare, and RFC 3986 (2.3) makes %7E and ~ the same.
 */
#ifndef SYM_SOURCES_PATHS_PLAN_H
#define SYM_SOURCES_PATHS_PLAN_H

#include "base/arena.h"
#include "sources/paths/rules.h"

/* No longer id as sent has places. */
#define SYM_SOURCE_ID_MAX SYM_REF_SENT_MAX

/* The longest plain path: two names, an id, slashes, prefixes and suffixes. */
#define SYM_SOURCE_PATH_MAX (2 * SYM_NAME_MAX + SYM_SOURCE_ID_MAX + 32)
#define SYM_SOURCE_ENCODED_MAX ((size_t) 3 * SYM_SOURCE_PATH_MAX)

#define SYM_PLAN_MAX 64

typedef struct {
    sym_source_file_t file;
    bool is_sent; /* only the id as sent leads there, not its canonical form */
    sym_str_t path;
} sym_source_place_t;

typedef struct {
    unsigned n;
    sym_source_place_t at[SYM_PLAN_MAX];
} sym_source_plan_t;

/* Which files of a complete object are tried first.  Symbolicator
 * asks for code files first, and for all of them; they are mostly stripped. */
typedef enum { SYM_DEBUG_FILES_FIRST, SYM_CODE_FILES_FIRST } sym_file_order_t;

/*
 * files: types to ask for, of which the rules may exclude some.  Each path occurs
 * once, for the first file that has it.  Paths are in the arena.  An object without
 * the parts of any path, or with a name that no source may be asked for
 * (sym_source_name_ok()), has an empty plan.  SYM_OK; SYM_NOMEM.
 */
sym_status_t sym_source_plan(sym_arena_t *arena, const sym_object_ref_t *ref,
                             const sym_source_rules_t *rules, unsigned files,
                             sym_file_order_t order, sym_source_plan_t *plan);

/* Encodes a path of a plan. */
sym_str_t sym_source_encode(sym_str_t path, char out[SYM_SOURCE_ENCODED_MAX]);

#endif
