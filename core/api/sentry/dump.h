/*
 * dump.h - the answer to a crash report: stacks are walked, then symbolicated.
 *
 * A request of this kind contains a report (artifacts/crash) instead of
 * frames.  Its stacks are walked in rounds: the walk of a thread stops if it
 * needs unwind rules that are not in the store, and continues there when they
 * have been fetched or are known to be absent.  Then frames, modules and source
 * context are answered as for POST /symbolicate.
 */
#ifndef SYM_API_SENTRY_DUMP_H
#define SYM_API_SENTRY_DUMP_H

#include "api/registry.h"
#include "artifacts/crash/read/crash.h"

extern const sym_request_ops_t sentry_dump_ops;

/* The file that contains the memory of the stacks. */
typedef struct {
    bool (*read)(void *ctx, uint64_t at, void *to, size_t len);
    void *ctx;
} sentry_dump_file_t;

typedef struct {
    bool has_candidates; /* from options.dif_candidates */
    bool has_context;    /* the answer has lines of source */
} sentry_dump_options_t;

/* Call this between sym_request_create() and sym_request_parse().  Report and
 * file must stay in place. */
void sentry_dump_use(sym_request_t *r, const sym_crash_t *crash,
                     const sentry_dump_file_t *file,
                     const sentry_dump_options_t *options);

/* Same if the request's body is the report of an upload, or of a file that
 * another request named.  False: no memory. */
bool sentry_init_dump(sym_request_t *r, const sym_api_call_t *call);

/* Returns the file with the rules for an address, or "". */
sym_str_t sentry_dump_rules(const sym_request_t *r, uint64_t addr);

/* Why the walk of a thread ended; valid once the answer is written. */
sym_walk_end_t sentry_dump_end(const sym_request_t *r, uint32_t thread);

#endif
