/*
 * artifact.h - artifacts of any kind, found for a request.
 *
 * Symcaches are opened by number and asked in chunks (resolver.h).  A request
 * needs few artifacts of other kinds, and their readers work on plain extents:
 * this finds the artifact and returns its extents.  It is valid as long as the
 * resolver, and stays valid in another snapshot after sym_resolver_resume(),
 * unless it is lost.
 */
#ifndef SYM_SYMBOLICATE_ARTIFACT_H
#define SYM_SYMBOLICATE_ARTIFACT_H

#include "artifacts/extents.h"
#include "artifacts/kinds.h"
#include "symbolicate/resolver.h"

typedef struct {
    sym_resolver_t *resolver;
    uint64_t id; /* 0: not found */
    uint32_t n_extents;
    sym_debug_id_t debug_id; /* of its object, if known */
    sym_str_t source;        /* URL or path of the file it was made from */
    bool has_digest;         /* digest of the URL, shared by its artifacts */
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    bool is_unsound; /* one of its extents is damaged */
} sym_artifact_found_t;

/* Like sym_resolver_open(), in one source, or ("") in all visible ones.
 * *artifact must stay in place while it is read. */
sym_status_t sym_artifact_find(sym_resolver_t *r, sym_str_t scope,
                               const sym_lookup_t *of,
                               sym_artifact_found_t *artifact,
                               sym_missing_t *missing);

/* Gets extents of an artifact: a sym_extent_get_pt. */
sym_status_t sym_artifact_extent(void *artifact, uint32_t number,
                                 const uint8_t **data, size_t *len);

/* Same, as one argument for readers. */
static inline sym_extent_source_t
sym_artifact_extents(sym_artifact_found_t *artifact)
{
    return (sym_extent_source_t){ sym_artifact_extent, artifact,
                                  artifact->n_extents };
}


/* After sym_resolver_resume(): the store no longer has it. */
bool sym_artifact_is_lost(const sym_artifact_found_t *artifact);

#endif
