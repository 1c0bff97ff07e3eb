/*
 * path.h - what a source has under a path: records of paths, and what they say
 * about an object.
 *
 * A record belongs to a source (its scope), a path, and the checksum that was
 * sent with the request.  It says whether there is a file, which objects are in
 * it, and which kinds of artifacts it gave.  Absence is thus known once for all
 * objects that could be under the path, whatever clients call them.
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
    SYM_PATH_MALFORMED /* it cannot be read */
} sym_path_outcome_t;

#define SYM_PATH_IDS_MAX 64
#define SYM_PATH_WORD_MAX 32
#define SYM_PATH_URL_MAX 1024

typedef struct {
    sym_path_outcome_t outcome; /* 0: there is no record */
    uint16_t status;            /* of HTTP; 0: none */
    uint32_t expires_at;        /* seconds since 1970; 0: never.  A kind that
                                   the file gave does not expire */
    int64_t stored_at;          /* set when it is put */
    uint32_t reader;            /* sym_path_reader() when it was put */
    uint32_t tried, given;      /* kinds: 1 << kind */
    uint32_t ms;                /* that the request took */
    uint64_t bytes;             /* of the file */
    uint16_t features;          /* what the file has: a bit each */
    uint16_t artifacts; /* objects made from the file; set by the store */
    sym_str_t word;     /* of what failed: "timeout"; or "" */
    sym_str_t reason;   /* at most SYM_REASON_MAX bytes */
    sym_str_t url;      /* if it was redirected */
    unsigned n_ids;
    sym_store_id_t ids[SYM_PATH_IDS_MAX]; /* of the objects in the file */
} sym_path_record_t;

typedef struct {
    sym_str_t scope;
    sym_str_t path;     /* not encoded, as it is after casing */
    sym_str_t checksum; /* that is sent, or "" */
} sym_path_key_t;

/* The version of this program's readers; another version may read what this one
 * could not. */
uint32_t sym_path_reader(void);

sym_status_t sym_snapshot_path(sym_snapshot_t *snapshot,
                               const sym_path_key_t *key,
                               sym_path_record_t *record, sym_error_t *err);

/* The places of an object at one source, in the order in which they are tried. */
#define SYM_PLACES_MAX 64

typedef struct {
    sym_str_t scope, checksum;
    const sym_str_t *paths;
    unsigned n;
} sym_places_t;

/* How an object is asked for. */
typedef struct {
    const sym_object_ref_t *ref;
    sym_kind_t kind;
    uint32_t reader; /* sym_path_reader() */
    int64_t now_s;
    bool has_artifact; /* the source's object record matches the reference */
    bool is_poor;      /* and its artifact is */
} sym_asking_t;

/* One place, for an object. */
typedef struct {
    sym_module_state_t state; /* 0: the place is open; READY: its file gave the
                                 artifact that is there, or a poorer one */
    uint32_t until;           /* seconds since 1970; 0: until a change */
} sym_place_says_t;

/*
 * Whether a record counts against an object, and as what.  A record with outcome
 * 0 leaves the place open.  Beside a poor artifact, what counts does so for at
 * least SYM_BETTER_AGAIN_S.
 */
sym_place_says_t sym_path_says(const sym_path_record_t *record,
                               const sym_asking_t *asking);

/* All places of a source together. */
typedef struct {
    uint64_t open;            /* a bit for each place to be tried */
    sym_module_state_t state; /* if none is: ABSENT, FAILED or MALFORMED;
                                 READY if an artifact is there */
    unsigned place;           /* the one that has this state */
    uint32_t until;           /* as long as no place is open */
} sym_settled_t;

/*
 * Adds places one after the other, then settles.  A source is settled when every
 * place counts.  If a place is open, so are those of which less than a quarter of
 * their time is left: one search tries them all.  A source without places has
 * nothing.
 */
typedef struct {
    sym_settled_t result;
    uint64_t late; /* places that are soon to expire */
    unsigned n;
} sym_settling_t;

void sym_settling_add(sym_settling_t *s, const sym_path_record_t *record,
                      const sym_asking_t *asking);
sym_settled_t sym_settling_end(const sym_settling_t *s);

/* The same of the records in a snapshot. */
sym_status_t sym_snapshot_settle(sym_snapshot_t *snapshot,
                                 const sym_places_t *places,
                                 const sym_asking_t *asking,
                                 sym_settled_t *settled, sym_error_t *err);

/* A path as its key has it: of a long one the beginning only. */
typedef struct {
    sym_str_t scope, path;
    sym_str_t checksum; /* 16 digits of its digest, or "" */
    bool is_cut;
} sym_path_shown_t;

/* Calls fn for the records of a source in the order of their paths; the rest as
 * sym_snapshot_part(). */
typedef sym_status_t (*sym_path_each_pt)(void *ctx, const sym_path_shown_t *key,
                                         const sym_path_record_t *record);
sym_status_t sym_snapshot_paths(sym_snapshot_t *snapshot, sym_str_t scope,
                                sym_store_mark_t *mark, uint64_t *records,
                                sym_path_each_pt fn, void *ctx,
                                sym_error_t *err);

#endif
