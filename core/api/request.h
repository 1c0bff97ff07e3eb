/*
 * request.h - a request to any API, as its driver sees it.
 *
 * An API turns a body into questions and what the store answers into its
 * response; it touches neither the life of the store nor the network.  What its
 * answer is made from are needs: artifacts of one kind of one object, such as the
 * symcache of a module that frames refer to, and then the sources of those whose
 * lines are to be shown.  Needs may follow from what others gave, so a request
 * goes in rounds:
 *
 *     create -> parse (until not SYM_AGAIN)
 *     answer (until not SYM_AGAIN) -> SYM_OK: done, drop the arena
 *                                  -> SYM_NOT_FOUND: the driver settles needs,
 *                                     then reopen and answer
 *
 * SYM_NOT_FOUND, only with `tells_missing` and before the first byte, says that
 * the store lacks needs that are not settled.  The driver looks through
 * sym_request_needs(), where later rounds have added to the end, gets what it can
 * and settles the rest.  After reopen the answer begins again in another snapshot,
 * as what earlier rounds found may be gone; it meets the same needs, and perhaps
 * further ones.  If the driver settles all without waiting, the answer may go on
 * without reopen.
 *
 * Rounds end: an API adds a need once for each object and kind, and the driver
 * tries each a few times only.
 *
 * parse and answer work in slices of `budget` frames, so that a large request
 * does not keep an event loop from others.  Everything lives in the caller's
 * arena; the body must stay in place until the end.
 */
#ifndef SYM_API_REQUEST_H
#define SYM_API_REQUEST_H

#include "base/arena.h"
#include "base/error.h"
#include "json/out.h"
#include "symbolicate/artifact.h"
#include "symbolicate/cache/worker.h"
#include "symbolicate/question.h"
#include "symbolicate/resolver.h"
#include "store/store.h"

/* 0: no limit. */
typedef struct {
    uint32_t jobs;    /* in a request */
    uint32_t stacks;  /* in a job */
    uint32_t frames;  /* in a request */
    uint32_t modules; /* in a job */
} sym_request_limits_t;

/* What the driver tells every API. */
typedef struct {
    bool tells_missing; /* see above */
    sym_request_limits_t limits;
    const sym_scopes_t *scopes; /* whose modules are seen; NULL: only those that
                                   were loaded by hand */
    double (*now_s)(void);      /* monotonic seconds */
    sym_names_t *names;         /* to demangle with; NULL: names as kept */
} sym_request_options_t;

/* What a need turned out to be. */
typedef enum {
    SYM_NEED_UNUSED,  /* no frame asks for it, or no name or id */
    SYM_NEED_PENDING, /* not settled in time */
    SYM_NEED_FOUND,
    SYM_NEED_MISSING
} sym_need_state_t;

/* An artifact of one kind of one object. */
typedef struct {
    sym_str_t name, id;   /* of the object, as sent */
    sym_module_key_t key; /* canonical; id "" when it is not a debug id */
    sym_kind_t kind;
    uint32_t next; /* need of the same object, of another kind; 0: the last */
    sym_artifact_found_t artifact; /* if found, of what is no symcache */
    sym_need_state_t found;
    sym_missing_t missing; /* why it was not found, or what may be better */
    bool is_settled;       /* the driver's: if the store has it not, `found` is
                              as the driver says */
    bool is_fetched;       /* it was missing, and came */
    bool is_waited;        /* the driver waited for it: waited_s */
    double waited_s;
    uint64_t fetched_bytes; /* of the file that it was made from, if it came */
} sym_need_t;

typedef struct {
    uint32_t jobs, stacks, frames;
    uint32_t modules;       /* distinct, referred to by a frame */
    uint32_t missing;       /* of these, not found */
    uint32_t fetched;       /* of these, that came while the driver waited */
    uint64_t fetched_bytes; /* of the files that those were made from */
    double waited_s;        /* by the driver, for missing ones */
    uint32_t lost;          /* of these, gone in the middle of the answer */
    double lookup_s;        /* time in lookups */
    uint64_t damaged;       /* lookups that met damaged bytes in the store */
    bool
        is_unsound; /* a module that was found proved to be damaged: what is not
                        sent yet had better be given up, and looked up again */
} sym_request_stats_t;

typedef struct sym_request_s sym_request_t;

/* What the driver gives to each answer of a request: the same store, snapshot
 * and kept (of this store, or NULL) until it is complete, or until
 * sym_request_resume(). */
typedef struct {
    sym_store_t *store;
    sym_snapshot_t *snapshot; /* NULL: an empty store */
    sym_worker_cache_t *kept;
    uint32_t now_s;
} sym_view_t;

/* What an API does. */
typedef struct {
    sym_status_t (*parse)(sym_request_t *r, uint32_t budget);
    sym_status_t (*answer)(sym_request_t *r, const sym_view_t *view,
                           sym_out_t *out, uint32_t budget);
    void (*reopen)(sym_request_t *r);
    bool (*resume)(sym_request_t *r, const sym_view_t *view);
} sym_request_ops_t;

/* The first member of every API's own; filled by it, except where it says
 * otherwise. */
struct sym_request_s {
    const sym_request_ops_t *ops;
    sym_arena_t *arena;
    sym_str_t body;
    sym_str_t message; /* why it was refused */
    const sym_request_options_t *options;
    sym_need_t *needs;  /* first the modules, as parse found them */
    uint32_t n_further; /* behind those, of later rounds */
    uint32_t max_further;
    sym_request_stats_t stats;
    uint32_t cache_tag; /* the registry's: tells its texts from other APIs' */

    /* of sym_request_open_needs() */
    uint32_t n_opened;
    uint32_t hits;      /* modules found without waiting */
    uint32_t unsettled; /* not found, and not settled by the driver */
};

/* --- for the driver --- */

/*
 * SYM_OK; SYM_AGAIN: call again; SYM_MALFORMED or SYM_LIMIT: err-free, the
 * message for the client is sym_request_message(); SYM_NOMEM.
 */
sym_status_t sym_request_parse(sym_request_t *r, uint32_t budget);

/* "job 0 is invalid: no stacks specified"; lives in the arena or is static. */
sym_str_t sym_request_message(const sym_request_t *r);

/* After parse: the distinct modules that frames refer to. */
sym_need_t *sym_request_modules(sym_request_t *r, uint32_t *n);

/* The same, and behind them the needs of later rounds.  A view until the next
 * answer. */
sym_need_t *sym_request_needs(sym_request_t *r, uint32_t *n);

/* Whether a store or a source can have it: its name and id are such. */
bool sym_need_is_askable(const sym_need_t *need);

/*
 * Looks frames up and writes the answer.  SYM_OK; SYM_AGAIN: the budget is
 * spent, or out is full; SYM_NOT_FOUND (with tells_missing: nothing is written
 * yet); SYM_NOMEM (also when out failed).
 */
sym_status_t sym_request_answer(sym_request_t *r, const sym_view_t *view,
                                sym_out_t *out, uint32_t budget);

/*
 * In the middle of an answer (SYM_AGAIN), the driver has given its view up and
 * has another of the same store.  A module that is gone from it is pending from
 * here on.  False: the answer cannot go on, as a module went in the middle of
 * its address.
 */
bool sym_request_resume(sym_request_t *r, const sym_view_t *view);

/* Only before any part of the answer is sent: the next call looks all modules
 * up again, in another snapshot. */
void sym_request_reopen(sym_request_t *r);

/* What was missing has come: the next answer will find it. */
void sym_request_fetched(sym_request_t *r, uint32_t need);

/* Adds the seconds of one wait for all that was missing, for the statistics. */
void sym_request_waited(sym_request_t *r, double seconds);

/* Adds the seconds that one of them was waited for, until it came or was given
 * up. */
void sym_request_waited_for(sym_request_t *r, uint32_t need, double seconds);

const sym_request_stats_t *sym_request_stats(const sym_request_t *r);

/* --- for APIs --- */

/* Refuses the request: `status`, and the message for the client; SYM_NOMEM. */
__attribute__((format(printf, 3, 4))) sym_status_t sym_request_refuse(
    sym_request_t *r, sym_status_t status, const char *format, ...);

/* Tells a resolver whose modules are seen and how names are shown. */
void sym_request_set_up(const sym_request_t *r, sym_resolver_t *resolver);

/* Keeps rendered texts over requests.  `form` tells the API's own texts of one
 * address apart, from 1 on; 0: none is kept. */
#define SYM_REQUEST_FORM_BITS 16
void sym_request_use_cache(const sym_request_t *r, sym_resolver_t *resolver,
                           const sym_view_t *view, uint32_t form);

/* Before needs are opened, at the beginning of each answer. */
void sym_request_open_begin(sym_request_t *r);

/* Before it is written which modules were found, and after each answer: those
 * that proved to be damaged are pending. */
void sym_request_note_damage(sym_request_t *r, sym_resolver_t *resolver);

/* After sym_resolver_resume(): modules that are gone are pending. */
void sym_request_lose_modules(sym_request_t *r, const sym_resolver_t *resolver);

/*
 * What a question needs: the artifact of its module that is keyed so; one that is
 * not yet among the needs begins another round.  *need is its index, the same
 * whenever it is asked for.  SYM_OK; SYM_UNSUPPORTED: no kind of artifact is keyed
 * so; SYM_NOMEM.
 */
sym_status_t sym_request_need(sym_request_t *r,
                              const sym_keyed_question_t *question,
                              uint32_t *need);

/*
 * Opens all needs that there are by now, until the budget is spent: SYM_AGAIN.
 * SYM_OK: each has its `found`; SYM_NOT_FOUND: so it has, but the API returns this
 * to the driver before it goes on; SYM_NOMEM.
 */
sym_status_t sym_request_open_needs(sym_request_t *r, sym_resolver_t *resolver,
                                    uint32_t *budget);

#endif
