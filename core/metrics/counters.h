/*
 * counters.h - the counters of the service.
 *
 * A sym_metrics_t is in memory that all workers share; all zeros are a valid
 * initial state.  Counting is one relaxed atomic addition: no lock, and exact
 * for any number of workers.  Only sym_metrics_source() must not run
 * concurrently: the caller holds a lock.
 *
 * No counter belongs to one process, so a killed worker loses no counts.
 */
#ifndef SYM_METRICS_COUNTERS_H
#define SYM_METRICS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/account.h"
#include "base/str.h"
#include "metrics/histogram.h"
#include "metrics/history.h"

/* Outcome of a request for symbols; logs use the same words. */
typedef enum {
    SYM_SERVED_NONE, /* not a request for symbols, or the client left */
    SYM_SERVED_OK,
    SYM_SERVED_INVALID,
    SYM_SERVED_TOO_LARGE,
    SYM_SERVED_UNSUPPORTED,
    SYM_SERVED_FAILED,
    SYM_SERVED_UNAVAILABLE,
    SYM_SERVED_PARTIAL,      /* some modules failed, or were not fetched in
                                time */
    SYM_SERVED_FETCH_FAILED, /* no answer was sent because of such modules */
    SYM_SERVED_PENDING,      /* the client got a request id, and the work
                                continues */
    SYM_SERVED_BUSY          /* too many requests were in progress */
} sym_served_t;

#define SYM_SERVED_STATES (SYM_SERVED_BUSY + 1)

/* The endpoint of a request: an API and its version.  core/api/registry.h
 * numbers them. */
#define SYM_METRICS_ENDPOINTS 192

typedef struct {
    const char *api;     /* NULL: no endpoint has this number */
    const char *version; /* NULL: another path or method, or not known yet */
} sym_metrics_endpoint_t;

/* Outcome of a module, or of one fetch of a module; a fetch is never
 * pending. */
typedef enum {
    SYM_OUTCOME_FOUND,
    SYM_OUTCOME_ABSENT,    /* no source has the file */
    SYM_OUTCOME_MALFORMED, /* fetched, but unreadable */
    SYM_OUTCOME_FAILED,    /* could not be fetched this time */
    SYM_OUTCOME_PENDING    /* not settled when the answer was sent */
} sym_outcome_t;

#define SYM_OUTCOMES (SYM_OUTCOME_PENDING + 1)

#define SYM_NODE_DIGITS 32
#define SYM_SESSION_KEY 32

/* Outcome of publishing an artifact for other nodes. */
typedef enum {
    SYM_PUBLISH_DONE,
    SYM_PUBLISH_PRESENT, /* another node was first */
    SYM_PUBLISH_FAILED,
    SYM_PUBLISH_DROPPED /* too many waited */
} sym_publish_outcome_t;

#define SYM_PUBLISH_OUTCOMES (SYM_PUBLISH_DROPPED + 1)

/* Outcome of notifying a node of a change. */
typedef enum {
    SYM_NOTIFY_DONE,
    SYM_NOTIFY_FAILED,
    SYM_NOTIFY_REFUSED,
    SYM_NOTIFY_DROPPED /* too many waited */
} sym_notify_outcome_t;

#define SYM_NOTIFY_OUTCOMES (SYM_NOTIFY_DROPPED + 1)

/* Outcome for an artifact that the fleet uses, and this node wants before it is
 * ready. */
typedef enum {
    SYM_WARM_DONE,
    SYM_WARM_PRESENT, /* the store had it */
    SYM_WARM_ABSENT,  /* the bucket has not, or it is of no use to this node */
    SYM_WARM_FAILED
} sym_warm_outcome_t;

#define SYM_WARM_OUTCOMES (SYM_WARM_FAILED + 1)

/* classes of HTTP status: "none", 1xx, .., 5xx */
#define SYM_STATUS_CLASSES 6

#define SYM_METRICS_WORKERS 1024
#define SYM_METRICS_NAME_MAX 64

/* Sources by name; sources without a slot are counted as "other". */
#define SYM_METRICS_SOURCES 256
#define SYM_METRICS_OTHER SYM_METRICS_SOURCES

typedef struct {
    uint64_t fetches[SYM_OUTCOMES];
    uint64_t bytes;
    sym_histogram_t seconds;
    uint32_t len; /* length of the name; 0: the slot is free, or being filled */
    char name[SYM_METRICS_NAME_MAX];
} sym_metrics_source_t;

typedef struct {
    uint64_t requests[SYM_METRICS_ENDPOINTS][SYM_SERVED_STATES]
                     [SYM_STATUS_CLASSES];
    uint64_t frames;
    uint64_t modules[SYM_OUTCOMES];
    sym_histogram_t lookup;
    sym_histogram_t request;

    uint64_t joins;
    uint64_t published[SYM_PUBLISH_OUTCOMES];
    uint64_t notified[SYM_NOTIFY_OUTCOMES];
    uint64_t warmed[SYM_WARM_OUTCOMES];
    uint64_t warm_until_ms;     /* the node is not ready before that time of the
                               event loop; 0: it is */
    char node[SYM_NODE_DIGITS]; /* random name of this server in its fleet */
    uint8_t session_key[SYM_SESSION_KEY]; /* random secret of this server: signs
                                             URLs of uploads */
    uint64_t blocked; /* number of fetches skipped because the host was
                         blocked */
    uint64_t reconnects;
    /* Link of each worker to the loader: process id and state. */
    uint64_t links[SYM_METRICS_WORKERS];

    sym_histogram_t turn;                 /* CPU time of turns of the event
                                             loop */
    uint64_t memory[SYM_METRICS_WORKERS]; /* bytes that the requests of each
                                             worker hold */
    uint64_t refused[SYM_REFUSED_STATES]; /* requests refused because memory was
                                             used up */

    sym_metrics_source_t sources[SYM_METRICS_SOURCES + 1];

    sym_history_t history;
} sym_metrics_t;

static inline void
sym_count(uint64_t *counter, uint64_t n)
{
    (void) __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}


static inline uint64_t
sym_counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}


/* Names: "ok", "invalid", ..; "none" for SYM_SERVED_NONE. */
sym_str_t sym_served_word(sym_served_t served);

/* Names: "found", "absent", .. */
sym_str_t sym_outcome_word(sym_outcome_t outcome);

/* Counts a fetch.  http_status 0: the connection ended before a status
 * arrived. */
void sym_metrics_request(sym_metrics_t *m, unsigned endpoint,
                         sym_served_t served, unsigned http_status);

/* Returns the index of the source with that name (1 to SYM_METRICS_NAME_MAX
 * bytes); adds the source if it is new. */
unsigned sym_metrics_source(sym_metrics_t *m, sym_str_t name);

void sym_metrics_fetch(sym_metrics_t *m, unsigned source, sym_outcome_t outcome,
                       uint64_t bytes, uint64_t ns);

/*
 * Connections of workers to the loader.  The process that began last owns a
 * worker's slot.  Its predecessor is ignored from then on, so one that was
 * killed need not report.
 */
void sym_metrics_worker(sym_metrics_t *m, unsigned worker, uint64_t pid);
void sym_metrics_link(sym_metrics_t *m, unsigned worker, uint64_t pid,
                      bool is_up);

/* Totals that the history keeps. */
void sym_metrics_totals(const sym_metrics_t *m, sym_totals_t *totals);

/* Call this before counting: it keeps the totals of each half minute. */
void sym_metrics_remember(sym_metrics_t *m, uint64_t now_s);

/* Sets the number of bytes that requests of a worker hold now. */
void sym_metrics_memory(sym_metrics_t *m, unsigned worker, uint64_t bytes);

/* Total of these bytes for the first n workers. */
uint64_t sym_metrics_memory_all(const sym_metrics_t *m, unsigned n);

/* Names: "worker", "request": whose limit was reached. */
sym_str_t sym_refused_word(sym_refused_t refused);

/* Number of connected workers among the first n. */
unsigned sym_metrics_links(const sym_metrics_t *m, unsigned n);

#endif
