/*
 * artifact.h - artifacts of any kind, found for a request.
 *
 * Symcaches are opened by number and queried in chunks (resolver.h).  A request
 * needs few artifacts of other kinds, and their readers work on plain extents:
 * these functions find an artifact and return its extents.  An artifact is
 * valid as long as the resolver.  After sym_resolver_resume() it is also valid
 * in the new snapshot, unless it is lost.
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
    sym_debug_id_t debug_id; /* debug id of the artifact's object, if known */
    sym_str_t source;        /* URL or path of the file that the artifact was
                                made from */
    bool has_digest;         /* digest of the URL, shared by its artifacts */
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    bool is_unsound; /* one of its extents is damaged */
} sym_artifact_found_t;

/* Like sym_resolver_open(), but searches one source, or all visible ones ("").
 * *artifact must stay in place while it is read. */
sym_status_t sym_artifact_find(sym_resolver_t *r, sym_str_t scope,
                               const sym_lookup_t *of,
                               sym_artifact_found_t *artifact,
                               sym_missing_t *missing);

/* Gets extents of an artifact; has the type sym_extent_get_pt. */
sym_status_t sym_artifact_extent(void *artifact, uint32_t number,
                                 const uint8_t **data, size_t *len);

/* The same function and its context as one argument for readers. */
static inline sym_extent_source_t
sym_artifact_extents(sym_artifact_found_t *artifact)
{
    return (sym_extent_source_t){ sym_artifact_extent, artifact,
                                  artifact->n_extents };
}


/* Whether the store no longer has the artifact; for use after
 * sym_resolver_resume(). */
bool sym_artifact_is_lost(const sym_artifact_found_t *artifact);

#endif
