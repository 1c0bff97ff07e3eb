/*
 * plan.h - the places of an object at a source: paths below its base, in the
 * order of requests.
 *
 * Workers and the loader calculate the same plan from the same reference and
 * rules, so they need not exchange paths.
 *
 * Paths are plain: keys of objects, or files below a folder.
 * sym_source_encode() encodes a path like S3's own clients, and like the
 * canonical URI of Signature V4: every byte but A-Z a-z 0-9 - . _ ~ becomes %XX
 * in upper case.  Mozilla's clients leave + and @ unchanged; here they become
 * %2B and %40, because
 *  - S3 reads a bare + in a path as a space, so "libstdc++.so" would be another
 *    object there.  MinIO, s3rver and nginx read it as a plus.
 *  - all of them decode %XX, so %2B, %40, %7B, %3C and %20 reach the same object
 *    as the bare bytes.
 *  - the signed path and the sent path are the same text, so it does not matter
 *    which bytes the server decodes before it checks the signature.
 * ~ is not encoded: S3 signs it bare, and by RFC 3986 (2.3), %7E and ~ are
 * equal.
 */
#ifndef SYM_SOURCES_PATHS_PLAN_H
#define SYM_SOURCES_PATHS_PLAN_H

#include "base/arena.h"
#include "sources/paths/rules.h"

/* Maximum length of an id as sent that has places of its own. */
#define SYM_SOURCE_ID_MAX SYM_REF_SENT_MAX

/* Maximum length of a plain path: two names, an id, slashes, prefixes and
 * suffixes. */
#define SYM_SOURCE_PATH_MAX (2 * SYM_NAME_MAX + SYM_SOURCE_ID_MAX + 32)
#define SYM_SOURCE_ENCODED_MAX ((size_t) 3 * SYM_SOURCE_PATH_MAX)

#define SYM_PLAN_MAX 64

typedef struct {
    sym_source_file_t file;
    bool is_sent; /* only the id as sent leads to this path, not the canonical
                     form */
    sym_str_t path;
} sym_source_place_t;

typedef struct {
    unsigned n;
    sym_source_place_t at[SYM_PLAN_MAX];
} sym_source_plan_t;

/* Which files of a complete object are tried first.  Symbolicator requests code
 * files first, and all of them, but they are mostly stripped. */
typedef enum { SYM_DEBUG_FILES_FIRST, SYM_CODE_FILES_FIRST } sym_file_order_t;

/*
 * Makes the plan of an object.  files: types to search for; the rules may
 * exclude some.  Each path occurs once, for the first type that has it.  Paths
 * are in the arena.  The plan is empty if the object lacks the parts of all
 * paths, or if its name is not allowed (sym_source_name_ok()).  SYM_OK;
 * SYM_NOMEM.
 */
sym_status_t sym_source_plan(sym_arena_t *arena, const sym_object_ref_t *ref,
                             const sym_source_rules_t *rules, unsigned files,
                             sym_file_order_t order, sym_source_plan_t *plan);

/* Encodes a path of a plan. */
sym_str_t sym_source_encode(sym_str_t path, char out[SYM_SOURCE_ENCODED_MAX]);

#endif
