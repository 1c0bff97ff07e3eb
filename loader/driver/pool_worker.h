/*
 * pool_worker.h - a converter of a pool and the state of its job.  Private to
 * pool.c, which starts and ends converters, and pool_messages.c, which handles
 * what they send.
 */
#ifndef SYMLOADER_DRIVER_POOL_WORKER_H
#define SYMLOADER_DRIVER_POOL_WORKER_H

#include "driver/pool.h"
#include "driver/spawn.h"

/* Maximum number of extents: positions in a symcache have 32 bits. */
#define POOL_EXTENTS_MAX 65536u

typedef struct {
    converter_t converter; /* pid 0: not started */
    bool is_busy;
    bool is_spent;     /* it is ending, and gets no other job */
    bool has_archives; /* it reads zip, cab and tar */
    void *job;
    converter_job_t order;
    int input_fd;
    off_t input_start; /* -1: a pipe */

    bool is_asking;     /* it waits for a companion from the owner */
    bool is_one_wanted; /* only one of the file's modules is wanted */
    bool is_naming;     /* a foreign demangler is running in it */
    unsigned n_modules; /* number of artifacts that have ended */
    unsigned n_noted;   /* number of notes from the previous converter, which
                           are sent again */
    unsigned n_notes, n_wants, n_objects, n_members;
    bool has_member; /* bytes of the current file may follow */
    sym_conversion_format_t format;

    /* Progress of the current module. */
    bool has_module;
    uint32_t extents;
    uint64_t bytes;
    uint8_t seen[POOL_EXTENTS_MAX / 8]; /* bits of the extent numbers
                                           received */

    /* State at its last progress. */
    off_t input_pos;
    uint32_t input_extents;
    unsigned input_wants;
    int64_t moved_at_ms;
    int64_t began_at_ms;
} worker_t;

struct pool_s {
    pool_limits_t limits;
    pool_events_t events;
    unsigned n_busy;
    unsigned n_workers;
    struct pollfd *polls; /* n_workers items, for pool_wait() */
    worker_t *workers;    /* n_workers */
    converter_message_t message;
    bool is_last; /* there will be no more jobs */
    unsigned archives_ahead;
    bool is_held; /* an owner cannot write now */

    /* No converter is started ahead of a job before this time, because the last
     * start failed. */
    int64_t prepare_at_ms;
};

/* Kills the converter and returns its wait status. */
int worker_dismiss(worker_t *w);

/* Ends a converter after its last job, and does not wait for its end. */
void worker_retire(worker_t *w);

/* Resets the progress of the current module. */
void worker_begin_module(worker_t *w);

/* Starts the file again in a converter with libarchive. */
sym_status_t worker_begin_again(pool_t *pool, worker_t *w, sym_error_t *err);

/* Ends w's job, and its converter if it still runs. */
void worker_failed(pool_t *pool, worker_t *w, const sym_error_t *err);

/* Handles pool->message, which comes from w's converter. */
void worker_message(pool_t *pool, worker_t *w);

#endif
