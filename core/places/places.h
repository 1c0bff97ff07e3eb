/*
 * places.h - artifacts at the sources of a location, and the records of the
 * places where their files may be.
 *
 * Connects the plans of sources (sources/paths/plan.h) with the records of
 * paths (store/path.h).
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
    unsigned without; /* files without such an artifact: bits 1 <<
                         sym_source_file_t */
} sym_lookup_t;

/* Calls sym_snapshot_choose_object() with the places at the sources.  A text at
 * a URL without rules has the URL as its place.  At the end, the arena is as
 * before. */
sym_status_t sym_places_choose(sym_snapshot_t *snapshot,
                               const sym_scopes_t *scopes,
                               const sym_lookup_t *of, int64_t now_s,
                               sym_arena_t *arena, sym_choice_t *choice,
                               sym_error_t *err);

/* A place, and its record in the store. */
typedef struct {
    sym_path_key_t key;
    const sym_path_record_t *record; /* NULL: no record; its texts are valid as
                                        long as the snapshot */
    sym_module_state_t state; /* state for the object, even if the record has
                                 expired; 0: open */
} sym_place_t;

/* Makes a place from a record; leaves its state 0. */
static inline sym_place_t
sym_place_of(const sym_path_shown_t *key, const sym_path_record_t *record)
{
    return (sym_place_t){ { key->scope, key->path, key->checksum }, record, 0 };
}

/* Calls fn for each place of an object at the source with index n, in order;
 * paths stay in the arena. */
typedef void (*sym_place_each_pt)(void *ctx, const sym_place_t *place);
sym_status_t sym_places_each(sym_snapshot_t *snapshot,
                             const sym_scopes_t *scopes, uint32_t n,
                             const sym_lookup_t *of, sym_file_order_t order,
                             sym_arena_t *arena, sym_place_each_pt fn,
                             void *ctx, unsigned *n_places, sym_error_t *err);

/* Returns the outcome as a word or HTTP status, and the address of the file. */
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

/* Combines the places of an object in a record without an artifact; includes
 * expired places.  Returns true if this place decides the state. */
bool sym_place_weigh(const sym_place_t *place, sym_object_record_t *record);

/* Whether the place was tried.  False if the source's index lacked the file, or
 * if there was no time. */
bool sym_place_is_tried(const sym_place_t *place);

#endif
