/*
 * made_artifact.h - the artifact that was made from the file at a place, as an
 * artifact file for another node (artifacts/artifact_file.h).
 */
#ifndef SYM_SYMBOLICATE_MADE_ARTIFACT_H
#define SYM_SYMBOLICATE_MADE_ARTIFACT_H

#include "store/artifact_head.h"
#include "symbolicate/artifact.h"

typedef struct {
    sym_artifact_found_t artifact;
    sym_shared_artifact_t shared;
    uint32_t left_s; /* if there is no file: time until the source is asked
                        again */
} sym_made_artifact_t;

/*
 * Finds an artifact, as sym_snapshot_shared() does.  SYM_OK: it is there, or the
 * file is known not to give it; SYM_NOT_FOUND: the source is known to have no file at the path;
 * SYM_UNSUPPORTED: neither is known.
 */
sym_status_t sym_made_artifact(sym_resolver_t *r, const sym_object_ref_t *ref,
                               sym_kind_t kind, const sym_path_key_t *path,
                               sym_made_artifact_t *made);

#endif
