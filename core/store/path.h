/*
 * path.h - records of paths at sources, and their meaning for an object.
 *
 * A record belongs to a source (its scope), a path, and the checksum that was
 * sent with the request.  It contains whether there is a file, which objects
 * the file contains, and which kinds of artifacts were made from it.  One
 * record of absence thus applies to all objects that could be under the path,
 * even if clients spell their ids differently.
 *
 * A place is a path at a source where an object may be.  Layout on disk:
 * docs/formats/store.md.  Writing: store/write_path.h.  Views live as long as
 * their snapshot.
 */
#ifndef SYM_STORE_PATH_H
#define SYM_STORE_PATH_H

#include "store/store_id.h"
#include "store/store.h"

typedef enum {
    SYM_PATH_READ = 1, /* a file was read */
    SYM_PATH_ABSENT,   /* there is no file */
    SYM_PATH_FAILED,   /* it could not be fetched this time */
    SYM_PATH_MALFORMED /* the file is unreadable */
} sym_path_outcome_t;

/* "read", "absent", ...: the word used in logs and JSON. */
const char *sym_path_outcome_name(sym_path_outcome_t outcome);

#define SYM_PATH_IDS_MAX 64
#define SYM_PATH_WORD_MAX 32
#define SYM_PATH_URL_MAX 1024

/* The word for a file that is too large for the quota; the record's bytes are
 * the file's size. */
#define SYM_PATH_TOO_LARGE "large"

typedef struct {
    sym_path_outcome_t outcome; /* 0: no record */
    uint16_t status;            /* HTTP status; 0: none */
    uint32_t expires_at;        /* seconds since 1970; 0: never.  A kind made
                                   from the file does not expire */
    int64_t stored_at;          /* set when the record is stored */
    uint32_t reader;            /* sym_kinds_reader() at that time */
    uint32_t tried, given; /* tried and given kinds, as 1 << kind; tried is 0
                              for a malformed file: all kinds */
    uint32_t ms;           /* duration of the request */
    uint64_t bytes;        /* of the file */
    uint16_t features;     /* contents of the file, one bit for each feature */
    uint16_t artifacts;    /* objects made from the file; set by the store */
    sym_str_t word;        /* short name of a failure: "timeout"; or "" */
    sym_str_t reason;      /* at most SYM_REASON_MAX bytes */
    sym_str_t url;         /* if the request was redirected */
    unsigned n_ids;
    sym_store_id_t ids[SYM_PATH_IDS_MAX]; /* ids of the objects in the file; of
                                             a companion, also if it is absent:
                                             of the modules that need it */
} sym_path_record_t;

/* Whether modules needed the file as their companion, and no artifact was made
 * from it. */
static inline bool
sym_path_is_companion(const sym_path_record_t *record)
{
    return record->n_ids != 0 && record->artifacts == 0 && record->tried == 0
           && record->outcome != SYM_PATH_MALFORMED;
}


typedef struct {
    sym_str_t scope;
    sym_str_t path;     /* not percent-encoded, and after the change of case */
    sym_str_t checksum; /* sent with the request, or "" */
} sym_path_key_t;

/* Removes the first part of a path; false: it has only one. */
static inline bool
sym_path_next_part(sym_str_t *path)
{
    const char *slash =
        path->len != 0 ? memchr(path->data, '/', path->len) : NULL;

    if (slash == NULL) {
        return false;
    }

    path->len -= (size_t) (slash + 1 - path->data);
    path->data = slash + 1;
    return true;
}


sym_status_t sym_snapshot_path(sym_snapshot_t *snapshot,
                               const sym_path_key_t *key,
                               sym_path_record_t *record, sym_error_t *err);

/* The places of an object at one source, in the order in which they are
 * tried. */
#define SYM_PLACES_MAX 64

typedef struct {
    sym_str_t scope, checksum;
    const sym_str_t *paths;
    unsigned n;
} sym_places_t;

/* A lookup of an object. */
typedef struct {
    const sym_object_ref_t *ref;
    sym_kind_t kind;
    uint32_t reader; /* result of sym_kinds_reader() */
    int64_t now_s;
    bool has_artifact; /* an object record of the source matches the
                          reference */
    bool is_poor;      /* that object's artifact is poor */
} sym_asking_t;

/* One place, for an object. */
typedef struct {
    sym_module_state_t state; /* 0: the place is open; READY: its file gave the
                                 stored artifact, or a poorer one */
    uint32_t until;           /* seconds since 1970; 0: until a change */
} sym_place_says_t;

/*
 * Derives the state of a place from its record, for an object.  A record with
 * outcome 0 leaves the place open.  If the stored artifact is poor, a record
 * counts for at least SYM_BETTER_AGAIN_S.
 */
sym_place_says_t sym_path_says(const sym_path_record_t *record,
                               const sym_asking_t *asking);

/* The combined state of all places of a source. */
typedef struct {
    uint64_t open;            /* a bit for each open place */
    sym_module_state_t state; /* if no place is open: ABSENT, FAILED or
                                 MALFORMED; READY if there is an artifact */
    unsigned place;           /* index of the place in this state ... */
    sym_str_t reason;         /* ... and why, from its record */
    uint32_t until;           /* time until which no place is open */
} sym_settled_t;

/*
 * Combines places: add each of them, then settle.  A source is settled if no
 * place is open.  If a place is open, places with less than a quarter of their
 * time left are open, too, so one search tries them all.  A source without
 * places is ABSENT.
 */
typedef struct {
    sym_settled_t result;
    uint64_t late; /* a bit for each place that expires soon */
    unsigned n;
} sym_settling_t;

void sym_settling_add(sym_settling_t *s, const sym_path_record_t *record,
                      const sym_asking_t *asking);
sym_settled_t sym_settling_end(const sym_settling_t *s);

/* Same with the records in a snapshot. */
sym_status_t sym_snapshot_settle(sym_snapshot_t *snapshot,
                                 const sym_places_t *places,
                                 const sym_asking_t *asking,
                                 sym_settled_t *settled, sym_error_t *err);

/* A path in the form of its key: long ones are cut. */
#define SYM_PATH_SHOWN_MAX 400

typedef struct {
    sym_str_t scope, path;
    sym_str_t checksum; /* 16 digits of the checksum's SHA-256, or "" */
    bool is_cut;
} sym_path_shown_t;

/* Calls fn for the records of a source, ordered by path; see
 * sym_snapshot_objects(). */
typedef sym_status_t (*sym_path_each_pt)(void *ctx, const sym_path_shown_t *key,
                                         const sym_path_record_t *record);
sym_status_t sym_snapshot_paths(sym_snapshot_t *snapshot, sym_str_t scope,
                                sym_store_mark_t *mark, uint64_t *records,
                                sym_path_each_pt fn, void *ctx,
                                sym_error_t *err);

/* Same for all records of a source that concern the reference: their file has
 * one of its ids, or their path contains one, in any spelling. */
sym_status_t sym_snapshot_paths_of(sym_snapshot_t *snapshot, sym_str_t scope,
                                   const sym_object_ref_t *ref,
                                   sym_path_each_pt fn, void *ctx,
                                   sym_error_t *err);

#endif
