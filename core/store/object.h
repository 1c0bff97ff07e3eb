/*
 * object.h - artifacts of objects in a store: reading.
 *
 * A record belongs to a source (its scope), an object (an id, and a name if the
 * name is needed to identify it) and a kind; it leads to the extents of one
 * artifact.  It is found by each id of the object.  Layout on disk:
 * docs/formats/store.md.  Writing: store/write_object.h.
 */
#ifndef SYM_STORE_OBJECT_H
#define SYM_STORE_OBJECT_H

#include "store/path.h"

typedef struct {
    sym_object_type_t type;
    bool is_nameless; /* its ids alone identify it */
    bool has_file_id, has_digest;
    sym_debug_id_t debug_id;
    sym_code_id_t code_id;
    uint8_t file_id[16];
    uint8_t digest[16]; /* of a URL, release and dist */
    sym_str_t name;     /* of its debug file; or "" */
} sym_object_key_t;

typedef struct {
    sym_object_key_t object;
    uint64_t module_id; /* of its extents; never used twice */
    sym_module_state_t
        state; /* READY, or MALFORMED: what was loaded by hand was
                                 damaged and is gone, until it expires */
    sym_kind_t kind;
    uint32_t kind_version;
    uint8_t quality;
    uint16_t place; /* of its file in the plan that found it */
    uint32_t slot;  /* in the use clock */
    uint32_t extents;
    uint64_t bytes, pages;
    uint64_t source_bytes;
    int64_t stored_at;
    uint32_t used_at;    /* from the clock; 0: not since it was stored */
    uint32_t expires_at; /* of a state that is not READY */
    bool has_path;       /* its file has a record in the table of paths */
    sym_str_t path;      /* of its file, as its key has it; of a file that was
                            loaded by hand its name */
    sym_str_t reason; /* which files were missing when it was made: then it is
                            incomplete; or why it is not READY */
} sym_object_record_t;

/* Whether an artifact of a replaces b: it has a higher quality, or the same and is
 * complete while b is not; or it ranks the same and its place is not a later
 * one. */
bool sym_object_replaces(const sym_object_record_t *a,
                         const sym_object_record_t *b);

/* Whether the search for a better artifact goes on. */
bool sym_object_is_poor(const sym_object_record_t *record);

/*
 * The artifact of a kind for a reference at one source.  An object whose name is
 * part of its key is found by its debug id only if the reference has that name, or
 * none.  Of several the best, of equals the first.  SYM_NOT_FOUND also for a
 * version of the kind that this program cannot read.
 */
sym_status_t sym_snapshot_object(sym_snapshot_t *snapshot, sym_str_t scope,
                                 const sym_object_ref_t *ref, sym_kind_t kind,
                                 sym_object_record_t *record, sym_error_t *err);

/* Calls fn for each object that matches the reference, whatever its name if the
 * reference has none, and of each kind, until it gives something else than
 * SYM_OK. */
typedef sym_status_t (*sym_object_each_pt)(void *ctx, sym_str_t scope,
                                           const sym_object_record_t *record);
sym_status_t sym_snapshot_matches(sym_snapshot_t *snapshot, sym_str_t scope,
                                  const sym_object_ref_t *ref,
                                  sym_object_each_pt fn, void *ctx,
                                  sym_error_t *err);

/* The same for all objects of a source (NULL: of all), in the order of their
 * names, as sym_snapshot_part(). */
sym_status_t sym_snapshot_objects(sym_snapshot_t *snapshot,
                                  const sym_str_t *scope,
                                  sym_store_mark_t *mark, uint64_t *records,
                                  sym_object_each_pt fn, void *ctx,
                                  sym_error_t *err);

/* The result for an object at several sources. */
typedef struct {
    sym_module_state_t state; /* READY, or that of all sources */
    uint32_t source;          /* number of the scope that has the artifact, or
                                 whose place has the state */
    bool is_open;             /* a place of a source is to be tried */
    uint32_t until; /* until which the result holds; 0: until a change */
    sym_object_record_t record; /* of a READY one */
} sym_choice_t;

/* The places of an object at the scope of that number; false: this source is not
 * asked for it. */
typedef bool (*sym_places_pt)(void *ctx, uint32_t n, sym_places_t *places);

/*
 * The first artifact that is not poor, else the best poor one; else what all
 * sources say together: SYM_NOT_FOUND while a place of one is open.
 */
sym_status_t sym_snapshot_choose_object(sym_snapshot_t *snapshot,
                                        const sym_scopes_t *scopes,
                                        const sym_object_ref_t *ref,
                                        sym_kind_t kind, sym_places_pt plan,
                                        void *ctx, int64_t now_s,
                                        sym_choice_t *choice, sym_error_t *err);

#endif
