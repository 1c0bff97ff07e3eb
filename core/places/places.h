/*
 * places.h - artifacts at the sources of a location, and what is known of the
 * places where their files may be.
 *
 * Connects the plans of sources (sources/paths/plan.h) with the records of paths
 * (store/path.h).
 */
#ifndef SYM_PLACES_PLACES_H
#define SYM_PLACES_PLACES_H

#include "base/arena.h"
#include "sources/paths/plan.h"
#include "store/object.h"

/* An artifact that is looked up. */
typedef struct {
    const sym_object_ref_t *ref;
    sym_kind_t kind;
    unsigned without; /* files that do not have it: 1 << sym_source_file_t */
} sym_lookup_t;

/* sym_snapshot_choose_object() with the places at the sources.  Without rules
 * a text at a URL has this place.  The arena is as before at the end. */
sym_status_t sym_places_choose(sym_snapshot_t *snapshot,
                               const sym_scopes_t *scopes,
                               const sym_lookup_t *of, int64_t now_s,
                               sym_arena_t *arena, sym_choice_t *choice,
                               sym_error_t *err);

/* A place, and what the store knows of it. */
typedef struct {
    sym_path_key_t key;
    const sym_path_record_t *record; /* NULL: nothing; its texts live as long as
                                        the snapshot */
    sym_module_state_t state; /* for the object, even if the record has expired;
                                 0: open */
} sym_place_t;

/* The place of a record; its state is left 0. */
static inline sym_place_t
sym_place_of(const sym_path_shown_t *key, const sym_path_record_t *record)
{
    return (sym_place_t){ { key->scope, key->path, key->checksum }, record, 0 };
}

/* Calls fn for each place of an object at the source with number n, in order; paths
 * stay in the arena. */
typedef void (*sym_place_each_pt)(void *ctx, const sym_place_t *place);
sym_status_t sym_places_each(sym_snapshot_t *snapshot,
                             const sym_scopes_t *scopes, uint32_t n,
                             const sym_lookup_t *of, sym_file_order_t order,
                             sym_arena_t *arena, sym_place_each_pt fn,
                             void *ctx, unsigned *n_places, sym_error_t *err);

/* The outcome as a word or status, and where the file is or would be. */
#define SYM_PLACE_OUTCOME_MAX 32
sym_str_t sym_place_outcome(const sym_path_record_t *record,
                            char text[SYM_PLACE_OUTCOME_MAX]);
static inline sym_str_t
sym_place_location(const sym_place_t *place)
{
    return place->record != NULL && place->record->url.len != 0
               ? place->record->url
               : place->key.path;
}

/* Combines places of an object in a record without an artifact, also those whose
 * records have expired.  True: this one decides. */
bool sym_place_weigh(const sym_place_t *place, sym_object_record_t *record);

/* Whether it was tried: its source did not only lack it in an index, nor was
 * there no time. */
bool sym_place_is_tried(const sym_place_t *place);

#endif
