/*
 * request.h - a request to any API, as seen by its driver.
 *
 * An API decodes a body, lists its needs, and writes its answer; it neither
 * opens the store nor uses the network.  A need is an artifact of one kind of
 * one object, such as the symcache of a module that frames refer to, or the
 * sources of a module whose lines are shown.  Needs may follow from other
 * needs, so a request is processed in rounds:
 *
 *     create -> parse (until not SYM_AGAIN)
 *     answer (until not SYM_AGAIN) -> SYM_OK: done, drop the arena
 *                                  -> SYM_NOT_FOUND: the server settles needs,
 *                                     then reopen and answer
 *
 * SYM_NOT_FOUND, only with `tells_missing` and before the first byte, means
 * that unsettled needs are missing from the store.  The server goes through
 * sym_request_needs(), to which later rounds append.  It fetches files where it
 * can, and settles the other needs.  After reopen the request continues in
 * another snapshot, in which artifacts of earlier rounds may be missing.  If
 * the server settles all needs without waiting, the answer may continue without
 * reopen.
 *
 * An answer is a chain of steps (sym_request_step_t).  request.c calls them in
 * slices of `budget` frames, so that a large request does not block an event
 * loop.  It opens needs before the step that uses them, and moves the answer to
 * another snapshot.  An API keeps derived data in its own structure, which may
 * be large and lasts for all rounds; only views of the store end with their
 * snapshot.
 *
 * The number of rounds is limited: an API adds a need once for each object and
 * kind, and the server tries each need only a few times.
 *
 * All memory is in the caller's arena; the body must stay in place until the
 * end.
 */
#ifndef SYM_API_REQUEST_H
#define SYM_API_REQUEST_H

#include "base/arena.h"
#include "base/error.h"
#include "json/out.h"
#include "object/ref_key.h"
#include "sources/request/sources.h"
#include "symbolicate/artifact.h"
#include "symbolicate/cache/worker.h"
#include "symbolicate/resolver.h"
#include "store/store.h"

/* Limits; 0: no limit. */
typedef struct {
    uint32_t jobs;    /* per request */
    uint32_t stacks;  /* in a job */
    uint32_t frames;  /* per request */
    uint32_t modules; /* in a job */
} sym_request_limits_t;

/* Settings of the driver; they are the same for every API. */
typedef struct {
    bool tells_missing; /* see above */
    sym_request_limits_t limits;
    const sym_scopes_t *scopes; /* sources whose modules are visible; NULL: only
                                   modules loaded by hand */
    double (*now_s)(void);      /* clock: monotonic seconds */
    sym_names_t *names;         /* cache for demangling; NULL: names are shown
                                   as stored */
    sym_str_t node;             /* random name of this server in its fleet */
    sym_str_t
        source_policy; /* restrictions on sources defined by requests, in any
                          form; they become part of these sources' scopes
                          (sources/request/sources.h) */
} sym_request_options_t;

/* The result of a need's lookup. */
typedef enum {
    SYM_NEED_UNUSED,  /* no frame needs it, or it has no name or id */
    SYM_NEED_PENDING, /* not settled in time */
    SYM_NEED_FOUND,
    SYM_NEED_MISSING
} sym_need_state_t;

/* An artifact of one kind for one object. */
typedef struct {
    const sym_object_ref_t *ref; /* in the arena; without an id, it cannot be
                                    found */
    bool is_thorough; /* the files of all sources are needed, not only one good
                        file, so each path is tried (not with ref->is_either) */
    sym_kind_t kind;
    bool is_artifact; /* the file is at a URL of the request's source
                         `artifacts`, not of `links` */
    unsigned without; /* bits 1 << sym_source_file_t: files that do not contain
                         it, known from the artifact of another kind */
    uint32_t next; /* next need of the same object, of another kind; 0: none */
    sym_artifact_found_t artifact; /* if found, and not a symcache */
    sym_need_state_t found;
    sym_missing_t missing; /* why it was not found, or what a source may have
                              better */
    bool is_settled;       /* the driver has settled it, and has set `found` in
                              case the store does not have the artifact */
    bool is_fetched;       /* it was missing, and has now been fetched */
    bool is_waited;        /* the driver waited for it: waited_s */
    double waited_s;
    uint64_t fetched_bytes; /* size of the fetched file, or 0 */
} sym_need_t;

typedef struct {
    uint32_t jobs, stacks, frames;
    uint32_t modules;       /* distinct modules that frames refer to */
    uint32_t missing;       /* number of these that were not found */
    uint32_t fetched;       /* number of these that were fetched while the
                               driver waited */
    uint64_t fetched_bytes; /* total size of the fetched files */
    double waited_s;        /* time for which the driver waited for missing
                               ones */
    uint32_t lost;          /* number of these that were removed during the
                               answer */
    double lookup_s;        /* time spent in lookups */
    uint64_t damaged;       /* number of lookups that found damaged bytes in the
                               store */
    bool is_unsound; /* a module turned out to be damaged: an unsent answer
                        should be discarded and written again */
} sym_request_stats_t;

typedef struct sym_request_s sym_request_t;

/* A file at a URL that a request names. */
typedef struct {
    sym_str_t url;
    const sym_request_sources_t *sources; /* its source `artifacts` has the
                                             file */
    const struct sym_api_route_s *route;  /* route of the request that continues
                                             with the file (registry.h) */
} sym_request_link_t;

/* The server's view of the store for an answer.  Snapshot and kept (the cache of
 * its store, or NULL) stay the same until the answer is complete, or until
 * sym_request_resume(). */
typedef struct {
    sym_snapshot_t *snapshot; /* NULL: an empty store */
    sym_worker_cache_t *kept;
    uint32_t now_s;
} sym_view_t;

/*
 * Writes about *budget frames of the answer, and charges them to *budget.
 * SYM_OK: request.c continues with r->step, unless it is NULL, and first opens
 * the needs that were added.  SYM_AGAIN: request.c calls this step again later;
 * the step may still have added needs.  SYM_NOMEM; SYM_TRUNCATED: the answer
 * cannot be completed.  On each call there is some budget, and room in the
 * output.
 */
typedef sym_status_t (*sym_request_step_t)(sym_request_t *r, sym_out_t *out,
                                           uint32_t *budget);

/* Functions for a kind of request. */
typedef struct {
    size_t size; /* size of the structure that begins with sym_request_t */

    /* Sets the needs, and in stats: jobs, stacks, frames and modules.  Reads at
     * most `budget` frames in one call. */
    sym_status_t (*parse)(sym_request_t *r, uint32_t budget);

    /* First step in each snapshot.  All needs are open, views of an earlier
     * snapshot are invalid, and the output is empty. */
    sym_request_step_t begin;

    /* The answer continues in another snapshot: lookups must be repeated.
     * False: impossible, because the module of a partly written frame was
     * removed.  NULL: always possible. */
    bool (*resume)(sym_request_t *r);

    /* Counts the first `max` frames by module, and adds to counts[module].
     * NULL: the API does not count them. */
    void (*count_frames)(const sym_request_t *r, uint32_t max,
                         uint32_t *counts);
} sym_request_ops_t;

/* The first member of each API's own structure. */
struct sym_request_s {
    const sym_request_ops_t *ops;
    sym_arena_t *arena;
    sym_str_t body;
    sym_str_t message; /* reason of a refusal */
    const char
        *trouble; /* with SYM_TRUNCATED: why; NULL: a module was evicted */
    const char *answer_type; /* set by parse: content type of the answer; NULL:
                                that of the route or API */
    unsigned refused_as;     /* HTTP status of a refusal; 0: 400 */
    uint32_t max_age_s; /* how long the answer is valid; 0: it does not say */
    const sym_request_options_t *options;
    const sym_request_link_t
        *link; /* set by parse: another request continues with this file */
    const sym_request_sources_t
        *request_sources; /* sources of the request, set by parse; NULL: those
                             of the server */
    const sym_scopes_t
        *scopes; /* set by the driver: scopes of `request_sources`; NULL: as in
                    options */
    sym_need_t *needs;  /* needs of the modules that parse found, then those of
                           later rounds */
    uint32_t n_further; /* number of needs of later rounds */
    uint32_t max_further;
    sym_request_stats_t stats;
    uint32_t
        cache_tag; /* set by the registry; separates cached texts of APIs */

    unsigned form; /* distinguishes the API's texts for one address in the
                      cache: sym_resolver_repeat(); 0: texts are not cached */
    bool is_timed; /* the answer shows sym_request_spent_s() */

    sym_request_step_t step; /* the next step; NULL: the answer is complete */
    sym_resolver_t
        *resolver; /* resolver for this snapshot, set by request.c; its modules
                      have the same numbers as the needs */
    bool was_unsound; /* a damaged module ended the answer, so data derived from
                        it is wrong.  Reset after the first step */

    /* private to request.c */
    bool is_opening;
    sym_ref_key_t *ahead; /* keys of the next modules */
    uint32_t n_opened;
    uint32_t hits;      /* number of modules found without waiting */
    uint32_t unsettled; /* number of modules not found, and not settled by the
                           server */
    double spent_s, started_s;
};

/* --- for the driver --- */

/* Creates a request that is not parsed yet; its other fields are zero.  Copies
 * the options.  NULL: out of memory. */
sym_request_t *sym_request_create(sym_arena_t *arena,
                                  const sym_request_ops_t *ops,
                                  const sym_request_options_t *options,
                                  sym_str_t body);

/*
 * Parses a part of the body.  SYM_OK; SYM_AGAIN: call again; SYM_MALFORMED or
 * SYM_LIMIT: refused, see sym_request_message(); SYM_NOMEM.
 */
sym_status_t sym_request_parse(sym_request_t *r, uint32_t budget);

/* The message for the client, in the arena or static, such as "job 0 is
 * invalid: no stacks specified". */
sym_str_t sym_request_message(const sym_request_t *r);

/* After parse: returns the distinct modules that frames refer to. */
sym_need_t *sym_request_modules(sym_request_t *r, uint32_t *n);

/* Returns all needs: those of modules, then those of later rounds.  Valid until
 * the next answer. */
sym_need_t *sym_request_needs(sym_request_t *r, uint32_t *n);

/* Whether a store or source can have the object, judged by its name and ids. */
bool sym_need_is_askable(const sym_need_t *need);

/* Returns the word for explanations: "found", "pending", "absent", ... */
const char *sym_need_word(const sym_need_t *need);

/* Makes the key of the object's current records; the text at a URL has a
 * scope.  False: there is no key. */
bool sym_request_key(const sym_request_t *r, const sym_need_t *need,
                     sym_ref_key_t *key);

/*
 * Looks frames up and writes the answer.  SYM_OK; SYM_AGAIN: the budget is
 * spent, or out is full; SYM_NOT_FOUND (with tells_missing: nothing is written
 * yet); SYM_NOMEM (also when out failed).
 */
sym_status_t sym_request_answer(sym_request_t *r, const sym_view_t *view,
                                sym_out_t *out, uint32_t budget);

/*
 * Continues an answer (SYM_AGAIN) with another view of the same store.  Modules
 * that were removed become pending.  False: the answer cannot continue, because
 * a module disappeared while one of its frames was being written.
 */
bool sym_request_resume(sym_request_t *r, const sym_view_t *view);

/* Call this before any part of the answer is sent: the next call then looks all
 * modules up again, in another snapshot. */
void sym_request_reopen(sym_request_t *r);

/* Reports that a missing need has been fetched: the next answer will find
 * it. */
void sym_request_fetched(sym_request_t *r, uint32_t need);

/* Adds one wait for all missing needs to the statistics. */
void sym_request_waited(sym_request_t *r, double seconds);

/* Adds the waiting time for one of these needs. */
void sym_request_waited_for(sym_request_t *r, uint32_t need, double seconds);

const sym_request_stats_t *sym_request_stats(const sym_request_t *r);

/* Adds the statistics of another part of the same request. */
void sym_request_stats_add(sym_request_stats_t *sum,
                           const sym_request_stats_t *part);

/* --- for APIs --- */

/* Refuses the request with an HTTP status and a message for the client; may
 * return SYM_NOMEM. */
__attribute__((format(printf, 3, 4))) sym_status_t sym_request_refuse(
    sym_request_t *r, sym_status_t status, const char *format, ...);

#define SYM_REQUEST_FORM_BITS 16

/* Marks damaged modules as pending.  Call it before the answer lists the
 * modules found. */
void sym_request_note_damage(sym_request_t *r);

/* A step that ends the answer, because it cannot be completed: an error before
 * its first byte, a cut after it. */
sym_status_t sym_request_cut(sym_request_t *r, sym_out_t *out,
                             uint32_t *budget);

/* Time spent on the request so far, including waits. */
double sym_request_spent_s(const sym_request_t *r);

/*
 * Finds or adds the need for an artifact of this kind, for the same object as
 * the need `of`.  A new need begins another round.  *need is its index, which
 * never changes.  SYM_OK; SYM_NOMEM.
 */
sym_status_t sym_request_need(sym_request_t *r, uint32_t of, sym_kind_t kind,
                              uint32_t *need);

/* Same for another object, such as a module that only an answer named; the
 * reference must stay in place. */
sym_status_t sym_request_need_object(sym_request_t *r,
                                     const sym_object_ref_t *ref,
                                     sym_kind_t kind, uint32_t *need);

/*
 * Finds or adds the need for the text at a URL, from the request's source
 * `links`.  A new one begins another round.  SYM_OK; SYM_NOT_FOUND: there is no
 * such need yet and is_new is not set, or the limit SYM_REQUEST_LINKS_MAX is
 * reached; SYM_NOMEM.
 */
#define SYM_REQUEST_LINKS_MAX 64
sym_status_t sym_request_need_text(sym_request_t *r, sym_str_t url, bool is_new,
                                   uint32_t *need);

/* The scopes in which a need is looked up. */
uint32_t sym_request_n_scopes(const sym_request_t *r);

#endif
