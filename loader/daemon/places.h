/*
 * places.h - stores the results of searches at the places of a source.
 *
 * Workers report places by their numbers in the plan of a search (plan.h); the
 * daemon calculates the same plan, and puts a record for each path
 * (store/path.h).  Records are committed with the negative outcomes of a turn.
 */
#ifndef SYMLOADER_DAEMON_PLACES_H
#define SYMLOADER_DAEMON_PLACES_H

#include "daemon/inflight.h"
#include "store/write_object.h"

/* Maximum length of a path in a plan: a URL, and a part that distinguishes its
 * texts. */
#define SYM_PLACE_PATH_MAX (SYM_REF_URL_MAX + 64)

typedef struct {
    sym_store_t *store;
    void *owner;
    void (*failed)(void *owner, const sym_error_t *err); /* called when the
                                                            store failed */
    bool is_waiting; /* a record is not committed */
    sym_path_ticket_t last;
    sym_hash_key_t key; /* secret */
} places_t;

/* A file from a worker, until its record is stored. */
typedef struct {
    sym_path_key_t place; /* without a path: the worker did not send where the
                             file was */
    uint16_t number;      /* number of the place in the plan */
    sym_source_file_t type;
    sym_path_record_t record;
    char url[SYM_PATH_URL_MAX], path[SYM_PLACE_PATH_MAX];
} place_file_t;

/* Number of a path at a source for owner_each(). */
uint64_t places_hash(const places_t *p, sym_str_t scope, sym_str_t path);

/*
 * Looks up the artifact of an ENSURE in the store.  plan->open: the places to
 * be tried.  SYM_NOT_FOUND: there are open places; or the store failed.
 */
sym_status_t places_look_up(places_t *p, const sym_rpc_message_t *ensure,
                            fetch_result_t *o, owner_plan_t *plan);

/* Same for an in-flight request, after places_commit(). */
sym_status_t places_look_again(places_t *p, const inflight_t *inflight,
                               fetch_result_t *o, uint64_t *open);

/* Gets the result of an in-flight request, after places_commit().
 * SYM_NOT_FOUND: the store has none; *o is unchanged. */
sym_status_t places_result(places_t *p, const inflight_t *inflight,
                           fetch_result_t *o);

/*
 * Puts the outcomes of an INGEST or NONE.  Places of the FETCH before the file
 * (or all of them, if no file was found) may lack an outcome, because they were
 * not tried: either an index does not list the file (absent), or the search
 * ended earlier (failed).  Fills in *file, except the fields that depend on the
 * conversion.
 */
void places_note(places_t *p, inflight_t *inflight, const sym_rpc_message_t *m,
                 place_file_t *file);

/* Maximum number of paths of a companion: one at each source of a location, or
 * two for a map of lines. */
#define COMPANION_PATHS_MAX 32

/* A companion, the modules that need it, and where it was looked for. */
typedef struct {
    sym_store_id_t ids[SYM_PATH_IDS_MAX]; /* of itself and of the modules */
    unsigned n_ids;
    uint64_t paths[COMPANION_PATHS_MAX]; /* results of places_hash() */
    unsigned n_paths;
} companion_places_t;

void places_companion_add(companion_places_t *of, const sym_object_ref_t *ref);

/* Puts the outcomes of an INGEST or NONE about a companion, and adds their
 * paths.  If the file has a record as a module, that is kept. */
void places_note_companion(places_t *p, companion_places_t *of,
                           const sym_rpc_message_t *m);

/* Stores the record of a file without artifacts; other records are stored
 * together with the artifacts. */
void places_put_file(places_t *p, const place_file_t *file);

/* Stores an outcome for places that were not tried, given as bits. */
void places_settle(places_t *p, inflight_t *inflight, uint64_t places,
                   const fetch_result_t *o);

void places_commit(places_t *p);

#endif
