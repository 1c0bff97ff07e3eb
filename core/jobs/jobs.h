/*
 * jobs.h - requests that outlive their clients, and their results.
 *
 * The table is in memory that several processes share, so it contains indexes,
 * not pointers.  A record is a job that runs in one of the processes, or later
 * the job's result, until it expires.  Results are chains of blocks of one
 * size, so fragmentation never makes room unusable.
 *
 * The caller holds one lock around each call, between sym_jobs_lock() and
 * sym_jobs_unlock(), unless a call says otherwise.  If a process dies while it
 * holds the lock, the next one that takes it repairs the table from the states
 * of its records.
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
    SYM_JOB_UNKNOWN, /* it never existed, or it has expired */
    SYM_JOB_RUNNING,
    SYM_JOB_COMPLETED, /* the result is available */
    SYM_JOB_TIMEOUT,
    SYM_JOB_INTERNAL_ERROR
} sym_job_state_t;

typedef struct {
    sym_job_id_t id;
    uint32_t process;    /* the process that runs it */
    uint64_t client;     /* hash that all jobs of a client share */
    uint64_t tenant;     /* hash of the tenant that the client names; 0: none */
    uint64_t bytes;      /* bytes of memory that the request needs while it
                            runs */
    uint64_t expected;   /* approximate size of the result in bytes */
    uint64_t expires_at; /* the record expires then, even if no end of the job
                            is reported */
} sym_job_t;

/* Value of per_client: a client may have three quarters of the requests that
 * the jobs of other clients leave.  Each of its tenants may have three quarters
 * of those that the client's other jobs leave. */
#define SYM_JOBS_SHARE UINT32_MAX

typedef struct {
    uint32_t requests;   /* maximum number in progress, in all processes; 0: no
                            limit */
    uint32_t per_client; /* maximum number of jobs; 0: no limit;
                            SYM_JOBS_SHARE */
} sym_jobs_limits_t;

typedef struct {
    uint64_t running; /* requests in progress, including those without a job */
    uint64_t jobs;    /* running jobs */
    uint64_t results;
    uint64_t bytes;     /* bytes of all results */
    uint64_t max_bytes; /* maximum of `bytes` */
    uint64_t expired;   /* results that expired since the table was created */
    uint64_t lost;      /* jobs whose process died */
} sym_jobs_stat_t;

/* A reference to a job in the table.  Calls with a removed job do nothing. */
typedef struct {
    sym_job_id_t id;
    uint32_t record;
} sym_job_ref_t;

/* Position of a reader in a result; all zeros: the beginning. */
typedef struct {
    uint32_t block; /* + 1 */
    uint64_t done;
} sym_job_cursor_t;

typedef struct sym_jobs_s sym_jobs_t;

/* Sets version and variant bits of 16 random bytes. */
void sym_job_id_make(sym_job_id_t *id);

/* Parses a UUID with or without hyphens, in any case.  False: not a UUID. */
bool sym_job_id_read(sym_str_t text, sym_job_id_t *id);

void sym_job_id_write(const sym_job_id_t *id, char text[SYM_JOB_ID_TEXT]);

/* Creates a table in memory that is aligned to 64 bytes.  NULL: it is too
 * small. */
sym_jobs_t *sym_jobs_create(void *memory, size_t size);

void sym_jobs_lock(sym_jobs_t *jobs);
void sym_jobs_unlock(sym_jobs_t *jobs);

/* --- requests in progress; a process calls these for itself, without the lock
 * --- */

/* False: `limit` requests are already in progress in all processes together (0:
   no limit). */
bool sym_jobs_enter(sym_jobs_t *jobs, uint32_t process, uint32_t limit);
void sym_jobs_leave(sym_jobs_t *jobs, uint32_t process);

/* Returns the process id of the process with this number; 0: none. */
uint64_t sym_jobs_process(const sym_jobs_t *jobs, uint32_t process);

/* Number of process numbers used so far. */
uint32_t sym_jobs_processes(const sym_jobs_t *jobs);

/* --- calls that need the lock --- */

/* A process begins.  A previous process with its number counts as ended. */
void sym_jobs_join(sym_jobs_t *jobs, uint32_t process, uint64_t pid,
                   uint64_t expires_at);

/* A process has ended: its requests no longer count, and jobs that it ran end
 * as internal errors. */
void sym_jobs_lose(sym_jobs_t *jobs, uint32_t process, uint64_t expires_at);

/*
 * Adds a running job.  SYM_OK: *ref is set; SYM_LIMIT: the client, or its
 * tenant, has too many; SYM_FULL: no room for the job, or for results.
 */
sym_status_t sym_jobs_add(sym_jobs_t *jobs, const sym_job_t *job,
                          const sym_jobs_limits_t *limits, sym_job_ref_t *ref);

/* Appends to the result of a running job.  SYM_OK; SYM_NOT_FOUND: the job does
 * not run; SYM_LIMIT: the result would take more than a quarter of all room;
 * SYM_FULL: there is no room now. */
sym_status_t sym_jobs_append(sym_jobs_t *jobs, const sym_job_ref_t *ref,
                             sym_str_t text);

/* Ends a running job.  The result is kept only with SYM_JOB_COMPLETED. */
void sym_jobs_finish(sym_jobs_t *jobs, const sym_job_ref_t *ref,
                     sym_job_state_t state, uint64_t expires_at);

/* Looks up a job; *ref is set if it exists. */
sym_job_state_t sym_jobs_find(sym_jobs_t *jobs, const sym_job_id_t *id,
                              uint64_t now, sym_job_ref_t *ref);

/* Returns the next piece of a completed job's result, valid until the lock is
 * released.  SYM_OK, with an empty piece at the end; SYM_NOT_FOUND: the job is
 * gone. */
sym_status_t sym_jobs_read(const sym_jobs_t *jobs, const sym_job_ref_t *ref,
                           sym_job_cursor_t *cursor, sym_str_t *piece);

/* Drops results that expired more than `grace` ago; until then, readers that
 * have begun may continue.  Each call visits only a part of a large table. */
void sym_jobs_expire(sym_jobs_t *jobs, uint64_t now, uint64_t grace);

sym_jobs_stat_t sym_jobs_stat(const sym_jobs_t *jobs);

/* --- calls that need no lock --- */

bool sym_jobs_is_running(const sym_jobs_t *jobs, const sym_job_ref_t *ref);

#endif
