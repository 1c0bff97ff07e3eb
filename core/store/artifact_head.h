/*
 * artifact_head.h - a stored artifact as an artifact file
 * (artifacts/artifact_file.h): what precedes its extents.
 */
#ifndef SYM_STORE_ARTIFACT_HEAD_H
#define SYM_STORE_ARTIFACT_HEAD_H

#include "artifacts/artifact_file.h"
#include "store/object.h"

/* Whether another store can have the artifact: it is READY, this program reads
 * its version, and the object has an id of its own. */
bool sym_object_can_travel(const sym_object_record_t *record);

/* Whether other nodes of a fleet may have the artifact.  It can travel, and it is
 * complete: one without a companion would stay with them when the companion has
 * come. */
bool sym_object_is_shareable(const sym_object_record_t *record);

/* Writes the head of an artifact that can travel; returns its length.  0: a
 * text is too long. */
size_t sym_snapshot_artifact_head(sym_snapshot_t *snapshot, sym_str_t scope,
                                  const sym_object_record_t *record,
                                  char out[SYM_ARTIFACT_HEAD_MAX]);

/* An artifact for other nodes of a fleet. */
typedef struct {
    uint64_t module_id;
    uint32_t slot;    /* of its use clock */
    uint32_t extents; /* 0: none, its head says that the file lacks the kind */
    size_t n_head;
    char head[SYM_ARTIFACT_HEAD_MAX];
} sym_shared_artifact_t;

/* Finds the shareable artifact that was made from the file at the path.  False:
 * the store has none, and does not know that the file gives none. */
bool sym_snapshot_shared(sym_snapshot_t *snapshot, const sym_path_key_t *path,
                         const sym_object_ref_t *ref, sym_kind_t kind,
                         sym_shared_artifact_t *shared);

#endif
