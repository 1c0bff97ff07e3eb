/*
 * object.h - artifacts of objects in a store: reading.
 *
 * A record belongs to a source (its scope), an object (an id, and a name if
 * that is needed to identify it) and a kind.  It refers to the extents of one
 * artifact, and can be looked up by each id of the object.  Layout on disk:
 * docs/formats/store.md.  Writing: store/write_object.h.
 */
#ifndef SYM_STORE_OBJECT_H
#define SYM_STORE_OBJECT_H

#include "store/path.h"

/* Whether a new artifact replaces an old one: the new one has a higher quality;
 * or the same quality, and only the new one is complete; or the same rank, and
 * its place is not later. */
bool sym_object_replaces(const sym_object_record_t *a,
                         const sym_object_record_t *b);

/* Whether the search for a better artifact continues. */
bool sym_object_is_poor(const sym_object_record_t *record);

/*
 * Finds the artifact of a kind for a reference at one source.  An object whose
 * name is part of its key is found by its debug id only if the reference has
 * the same name or no name.  The best of several artifacts wins, then the
 * first.  SYM_NOT_FOUND also for a version of the kind that this program cannot
 * read.
 */
sym_status_t sym_snapshot_object(sym_snapshot_t *snapshot, sym_str_t scope,
                                 const sym_object_ref_t *ref, sym_kind_t kind,
                                 sym_object_record_t *record, sym_error_t *err);

/* Returns the URL of the file that an artifact was made from.  Without a URL in
 * its record: its path, or the name of a file that was loaded by hand. */
sym_str_t sym_snapshot_source(sym_snapshot_t *snapshot, sym_str_t scope,
                              const sym_object_record_t *record);

/* Whether an artifact was made from the file at the path. */
bool sym_object_is_from(const sym_object_record_t *record,
                        const sym_path_key_t *path);

/* Calls fn for each object and kind that match the reference.  A reference
 * without a name matches all names. */
sym_status_t sym_snapshot_matches(sym_snapshot_t *snapshot, sym_str_t scope,
                                  const sym_object_ref_t *ref,
                                  sym_object_each_pt fn, void *ctx,
                                  sym_error_t *err);

/*
 * Same for all objects of a source (NULL: of all sources), ordered by name.
 * Starts after *mark (len 0: at the first) and advances it.  Reads at most
 * *records records, and subtracts their number from *records.  SYM_AGAIN: there
 * may be more, or fn returned it.  Skips damaged records.
 */
sym_status_t sym_snapshot_objects(sym_snapshot_t *snapshot,
                                  const sym_str_t *scope,
                                  sym_store_mark_t *mark, uint64_t *records,
                                  sym_object_each_pt fn, void *ctx,
                                  sym_error_t *err);

/* The result for an object at several sources. */
typedef struct {
    sym_module_state_t state; /* READY, or the combined state of all sources */
    uint32_t source;          /* index of the scope with the artifact, or with
                                 the place in this state */
    bool is_open;             /* a source has an open place */
    uint32_t until;   /* the result is valid until then; 0: until a change */
    sym_str_t reason; /* why the state is not READY */
    sym_object_record_t record; /* of a READY artifact */
} sym_choice_t;

/* Gets the places of an object at scope number n; false: this source is not
 * searched for the object. */
typedef bool (*sym_places_pt)(void *ctx, uint32_t n, sym_places_t *places);

/*
 * Returns the first artifact that is not poor, else the best poor one, else the
 * combined state of all sources.  SYM_NOT_FOUND while any place is open.
 */
sym_status_t sym_snapshot_choose_object(sym_snapshot_t *snapshot,
                                        const sym_scopes_t *scopes,
                                        const sym_object_ref_t *ref,
                                        sym_kind_t kind, sym_places_pt plan,
                                        void *ctx, int64_t now_s,
                                        sym_choice_t *choice, sym_error_t *err);

#endif
