/*
 * pool.h - converters at work, seen from the loader.
 *
 * Keeps up to `jobs` converters, gives each one file at a time, and calls the
 * owner back as answers come in; all in one thread, around one poll().  The
 * pool believes nothing that a converter says: order, numbers and sizes are
 * checked before a callback sees them, and a converter that breaks the rules,
 * dies, or stops getting on is killed and its job fails with the reason.  A
 * converter that failed for any reason is not used again.
 */
#ifndef SYMLOADER_POOL_H
#define SYMLOADER_POOL_H

#include <signal.h>

#include "base/error.h"
#include "wire.h"

typedef struct pool_s pool_t;

typedef struct {
    unsigned jobs;         /* conversions at once */
    uint64_t memory_bytes; /* address space of a converter */
    uint64_t max_expanded; /* bytes that compressed input may become */
    unsigned cpu_s;        /* CPU time of one conversion */
    unsigned stall_s;      /* time without reading or writing anything */
} pool_limits_t;

/*
 * `job` is what pool_submit() was given.  For each job: module once, extent any
 * number of times, then done; or failed at any point.  After done or failed the
 * pool forgets the job.  A callback that fails ends the job: failed follows,
 * with the error it gave.
 */
typedef struct {
    sym_status_t (*module)(void *job, sym_str_t name, sym_str_t id,
                           sym_error_t *err);
    sym_status_t (*extent)(void *job, uint32_t number, const uint8_t *data,
                           size_t len, sym_error_t *err);
    void (*done)(void *job, const wire_done_t *done);
    void (*failed)(void *job, const sym_error_t *err);
} pool_events_t;

/* NULL when out of memory. */
pool_t *pool_create(const pool_limits_t *limits, const pool_events_t *events);

/* Kills what still works, without callbacks. */
void pool_free(pool_t *pool);

/* Jobs under way, and whether one more can be taken now. */
unsigned pool_busy(const pool_t *pool);
bool pool_has_room(const pool_t *pool);

/* Starts on a file.  fd stays the caller's and open until the job ends. */
sym_status_t pool_submit(pool_t *pool, int fd, void *job, sym_error_t *err);

/*
 * Waits up to timeout_ms for answers and handles them; sooner if a signal
 * comes that sigmask (see ppoll(2)) lets through.
 */
void pool_wait(pool_t *pool, int timeout_ms, const sigset_t *sigmask);

#endif
