/*
 * tecken.h - Mozilla's symbolication API, v4 and v5.
 *
 * One sym_tecken_t is one request.  The caller drives it:
 *
 *     create -> parse (until not SYM_AGAIN) -> answer (until not SYM_AGAIN)
 *            -> drop the arena
 *
 * With `tells_missing`, answer stops before its first byte when modules are
 * missing that nobody has settled; the caller gets them or says what they are,
 * then
 *
 *     reopen -> answer
 *
 * parse and answer work in slices of `budget` frames, so that a large request
 * does not keep an event loop from others.  Everything lives in the caller's
 * arena; the body must stay in place until the end.  What is accepted, every
 * message and the order of checks: docs/compat.md.
 */
#ifndef SYM_DIALECTS_TECKEN_TECKEN_H
#define SYM_DIALECTS_TECKEN_TECKEN_H

#include "base/arena.h"
#include "base/error.h"
#include "json/out.h"
#include "resolve/kept.h"
#include "resolve/resolve.h"
#include "store/store.h"

/* 0: no limit. */
typedef struct {
    uint32_t jobs;    /* in a request */
    uint32_t stacks;  /* in a job */
    uint32_t frames;  /* in a request */
    uint32_t modules; /* in a job */
} sym_tecken_limits_t;

typedef struct {
    unsigned version;   /* 4 or 5 */
    bool debug;         /* the Debug header asks for the debug block */
    bool tells_missing; /* see above */
    sym_tecken_limits_t limits;
    sym_str_t scope;       /* of the store */
    double (*now_s)(void); /* monotonic seconds, for the debug block */
    sym_names_t *names;    /* to demangle native names with; NULL: as kept */
} sym_tecken_options_t;

/* What a module of the request turned out to be. */
typedef enum {
    SYM_TECKEN_UNUSED,  /* null: no frame asks for it, or no name or id */
    SYM_TECKEN_PENDING, /* null: was not settled in time */
    SYM_TECKEN_FOUND,   /* true */
    SYM_TECKEN_MISSING  /* false */
} sym_tecken_found_t;

/* A distinct module that some frame refers to. */
typedef struct {
    sym_str_t name, id;   /* as sent */
    sym_module_key_t key; /* canonical; id "" when it is not a debug id */
    sym_tecken_found_t found;
    sym_missing_t missing; /* why it was not found */
    bool is_settled;       /* the caller's: if the store has it not, `found` is
                              as the caller says */
    bool is_fetched;       /* it was missing, and came */
} sym_tecken_module_t;

typedef struct {
    uint32_t jobs, stacks, frames;
    uint32_t modules;       /* distinct, referred to by a frame */
    uint32_t missing;       /* of these, not found */
    uint32_t fetched;       /* of these, that came while the caller waited */
    uint64_t fetched_bytes; /* of the files that those were made from */
    double waited_s;        /* by the caller, for missing ones */
    double lookup_s;        /* time in lookups */
    uint64_t damaged;       /* lookups that met damaged bytes in the store */
} sym_tecken_stats_t;

typedef struct sym_tecken_s sym_tecken_t;

/* Whether a Debug header of this value asks for the debug block. */
bool sym_tecken_debug_wanted(unsigned version, sym_str_t header);

/* NULL when out of memory. */
sym_tecken_t *sym_tecken_create(sym_arena_t *arena,
                                const sym_tecken_options_t *options,
                                sym_str_t body);

/*
 * SYM_OK; SYM_AGAIN: call again; SYM_MALFORMED or SYM_LIMIT: err-free, the
 * message for the client is sym_tecken_message(); SYM_NOMEM.
 */
sym_status_t sym_tecken_parse(sym_tecken_t *t, uint32_t budget);

/* "job 0 is invalid: no stacks specified"; lives in the arena or is static. */
sym_str_t sym_tecken_message(const sym_tecken_t *t);

/* After parse: the distinct modules that frames refer to. */
sym_tecken_module_t *sym_tecken_modules(sym_tecken_t *t, uint32_t *n);

/*
 * Looks frames up in the snapshot and writes the answer.  SYM_OK, SYM_AGAIN,
 * SYM_NOT_FOUND (with tells_missing: nothing is written yet), SYM_NOMEM (also
 * when out failed).  The same snapshot must be given until the
 * answer is complete, and the same kept: of this store, or NULL.
 */
sym_status_t sym_tecken_answer(sym_tecken_t *t, sym_store_t *store,
                               sym_snapshot_t *snapshot, sym_kept_t *kept,
                               uint32_t now_s, sym_out_t *out, uint32_t budget);

/* Whether a store or a source can have it: its name and id are such. */
bool sym_tecken_is_askable(const sym_tecken_module_t *module);

/* After SYM_NOT_FOUND: the next answer looks anew, in another snapshot. */
void sym_tecken_reopen(sym_tecken_t *t);

/* A module that was missing has come: the next answer will find it. */
void sym_tecken_fetched(sym_tecken_t *t, uint32_t module);

/* So long were missing modules waited for: for the statistics. */
void sym_tecken_waited(sym_tecken_t *t, double seconds);

const sym_tecken_stats_t *sym_tecken_stats(const sym_tecken_t *t);

/*
 * The same through jansson only: what the direct reader must agree with.  For
 * the fuzz target and the tests that compare both.
 */
sym_status_t sym_tecken_parse_general(sym_tecken_t *t);

#endif
