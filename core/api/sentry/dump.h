/*
 * dump.h - the answer to a crash report: stacks are walked, then symbolicated.
 *
 * A request of this kind begins with a report (artifacts/crash), not with a body
 * of frames.  Its stacks are walked in rounds: the walk of a thread stops where
 * it needs unwind rules that are not in the store, and goes on at that place
 * when they are fetched or known to be absent.  Then frames, modules and source
 * context are answered as for POST /symbolicate.
 */
#ifndef SYM_API_SENTRY_DUMP_H
#define SYM_API_SENTRY_DUMP_H

#include "api/registry.h"
#include "artifacts/crash/read/crash.h"

extern const sym_request_ops_t sentry_dump_ops;

/* The file that has the memory of stacks. */
typedef struct {
    bool (*read)(void *ctx, uint64_t at, void *to, size_t len);
    void *ctx;
} sentry_dump_file_t;

typedef struct {
    bool has_candidates; /* options.dif_candidates */
    bool has_context;    /* lines of source are shown */
} sentry_dump_options_t;

/* To be called between sym_request_create() and sym_request_parse().  Report and
 * file must stay in place. */
void sentry_dump_use(sym_request_t *r, const sym_crash_t *crash,
                     const sentry_dump_file_t *file,
                     const sentry_dump_options_t *options);

/* For a request whose body is the report of an upload, or of a file that another
 * request named.  False: no memory. */
bool sentry_init_dump(sym_request_t *r, const sym_api_call_t *call);

/* The file of the rules at an address, or "". */
sym_str_t sentry_dump_rules(const sym_request_t *r, uint64_t addr);

/* Why the walk of a thread ended, once the answer is written. */
sym_walk_end_t sentry_dump_end(const sym_request_t *r, uint32_t thread);

#endif
