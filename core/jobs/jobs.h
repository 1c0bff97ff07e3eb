/*
 * jobs.h - requests that outlive their clients, and their results.
 *
 * The table is in memory that several processes share, so it has no pointers,
 * only indexes.  A record is a job that runs in one of the processes, or its
 * result until that expires.  Results are chains of blocks of one size, so that
 * no pattern of sizes leaves room that cannot be used.
 *
 * The caller holds one lock around each call, between sym_jobs_lock() and
 * sym_jobs_unlock(), unless a call says otherwise.  A process that dies inside
 * leaves a mark, and the next one that takes the lock makes the table sound again
 * out of the states of its records.
 *
 * Times are milliseconds of a clock that all processes share.
 */
#ifndef SYM_JOBS_JOBS_H
#define SYM_JOBS_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define SYM_JOBS_PROCESSES 1024

#define SYM_JOB_ID_TEXT 36

/* A UUID (RFC 9562). */
typedef struct {
    uint8_t bytes[16];
} sym_job_id_t;

typedef enum {
    SYM_JOB_UNKNOWN, /* never begun, or expired */
    SYM_JOB_RUNNING,
    SYM_JOB_COMPLETED, /* has a result */
    SYM_JOB_TIMEOUT,
    SYM_JOB_INTERNAL_ERROR
} sym_job_state_t;

typedef struct {
    sym_job_id_t id;
    uint32_t process;    /* where it runs */
    uint64_t client;     /* jobs of one client have the same number */
    uint64_t tenant;     /* of the client, which it names; 0: none */
    uint64_t bytes;      /* bytes of memory that its request needs while it
                          runs */
    uint64_t expected;   /* approximate bytes of its result */
    uint64_t expires_at; /* also if its end is never reported */
} sym_job_t;

/* Jobs of one client: it may have three quarters of the requests that the jobs of
 * the others leave, and a tenant of it three quarters of those that the client's
 * other jobs leave. */
#define SYM_JOBS_SHARE UINT32_MAX

typedef struct {
    uint32_t requests;   /* at work, in all processes; 0: no limit */
    uint32_t per_client; /* jobs; 0: no limit; SYM_JOBS_SHARE */
} sym_jobs_limits_t;

typedef struct {
    uint64_t running; /* requests in progress, including those without a job */
    uint64_t jobs;    /* that run */
    uint64_t results;
    uint64_t bytes;     /* of the results */
    uint64_t max_bytes; /* of all results together */
    uint64_t expired;   /* results, since the table was made */
    uint64_t lost;      /* jobs whose process ended before them */
} sym_jobs_stat_t;

/* A job of the table.  Calls with a removed job do nothing. */
typedef struct {
    sym_job_id_t id;
    uint32_t record;
} sym_job_ref_t;

/* Position of a reader of a result; zeroes: at its beginning. */
typedef struct {
    uint32_t block; /* + 1 */
    uint64_t done;
} sym_job_cursor_t;

typedef struct sym_jobs_s sym_jobs_t;

/* Sets version and variant of 16 random bytes. */
void sym_job_id_make(sym_job_id_t *id);

/* With or without hyphens, in any case.  False: not a UUID. */
bool sym_job_id_read(sym_str_t text, sym_job_id_t *id);

void sym_job_id_write(const sym_job_id_t *id, char text[SYM_JOB_ID_TEXT]);

/* The memory must be aligned to 64 bytes; NULL: it is too small. */
sym_jobs_t *sym_jobs_create(void *memory, size_t size);

void sym_jobs_lock(sym_jobs_t *jobs);
void sym_jobs_unlock(sym_jobs_t *jobs);

/* --- requests at work; without the lock, of the process itself --- */

/* False: `limit` requests are in progress in all processes together (0: no
   limit).
 */
bool sym_jobs_enter(sym_jobs_t *jobs, uint32_t process, uint32_t limit);
void sym_jobs_leave(sym_jobs_t *jobs, uint32_t process);

/* The process id of the process with this number; 0: none. */
uint64_t sym_jobs_process(const sym_jobs_t *jobs, uint32_t process);

/* How many numbers of processes were used until now. */
uint32_t sym_jobs_processes(const sym_jobs_t *jobs);

/* --- with the lock --- */

/* A process begins; one that had its number before has ended. */
void sym_jobs_join(sym_jobs_t *jobs, uint32_t process, uint64_t pid,
                   uint64_t expires_at);

/* A process has ended: its requests do not count any more, and jobs that it ran
 * end as internal errors. */
void sym_jobs_lose(sym_jobs_t *jobs, uint32_t process, uint64_t expires_at);

/*
 * Adds a running job.  SYM_OK: *ref is set; SYM_LIMIT: the client, or its tenant,
 * has too many; SYM_FULL: no room for it, or for results.
 */
sym_status_t sym_jobs_add(sym_jobs_t *jobs, const sym_job_t *job,
                          const sym_jobs_limits_t *limits, sym_job_ref_t *ref);

/* Appends to the result of a running job.  SYM_OK; SYM_NOT_FOUND: it does not
 * run; SYM_LIMIT: the result would take more than a quarter of all room;
 * SYM_FULL: there is no room now. */
sym_status_t sym_jobs_append(sym_jobs_t *jobs, const sym_job_ref_t *ref,
                             sym_str_t text);

/* A running job has ended.  Without SYM_JOB_COMPLETED its result is dropped. */
void sym_jobs_finish(sym_jobs_t *jobs, const sym_job_ref_t *ref,
                     sym_job_state_t state, uint64_t expires_at);

/* *ref is set if the job is known. */
sym_job_state_t sym_jobs_find(sym_jobs_t *jobs, const sym_job_id_t *id,
                              uint64_t now, sym_job_ref_t *ref);

/* The next piece of a completed job's result, valid until the lock is released.
 * SYM_OK, with an empty piece at the end; SYM_NOT_FOUND: the job is gone. */
sym_status_t sym_jobs_read(const sym_jobs_t *jobs, const sym_job_ref_t *ref,
                           sym_job_cursor_t *cursor, sym_str_t *piece);

/* Drops results that expired `grace` ago; until then readers that have begun
 * may continue.  Each call visits a part of a large table. */
void sym_jobs_expire(sym_jobs_t *jobs, uint64_t now, uint64_t grace);

sym_jobs_stat_t sym_jobs_stat(const sym_jobs_t *jobs);

/* --- without the lock --- */

bool sym_jobs_is_running(const sym_jobs_t *jobs, const sym_job_ref_t *ref);

#endif
