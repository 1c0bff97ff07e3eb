
/*
 * ngx_http_symbolicate_jobs.h - the table with the jobs of all workers.
 *
 * A job is a request that outlives its client (core/jobs/jobs.h).  The table is
 * in shared memory that outlives workers and reloads.  Any worker sees the jobs
 * and results of all others, and notices if a worker ends before its jobs.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_JOBS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_JOBS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "jobs/jobs.h"
#include "json/out.h"

#include "conf/ngx_http_symbolicate_conf.h"


typedef struct {
    ngx_queue_t                    queue;
    sym_job_ref_t                  job;
    void                         (*ended)(void *data);
    void                          *data;
    unsigned                       waiting:1;
} ngx_http_symbolicate_jobs_wait_t;


/* Declares the zone of the table, if a location needs one. */
ngx_int_t ngx_http_symbolicate_jobs_zone(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

/*
 * Starts the use of jobs in this process.  overdue(): must end all jobs,
 * because worker_shutdown_timeout is over.
 */
ngx_int_t ngx_http_symbolicate_jobs_process(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf, void (*overdue)(void));

/* Call this when the process ends: its running jobs fail. */
void ngx_http_symbolicate_jobs_exit(void);


/* Counts a request that begins.  NGX_BUSY: too many are in progress. */
ngx_int_t ngx_http_symbolicate_jobs_enter(void);
void ngx_http_symbolicate_jobs_leave(void);


/* Turns a request of a scope into a job that may run for `left` more
 * milliseconds, needs `bytes` of memory, and has a result of about `expected`
 * bytes.  NGX_BUSY: no room, or the client has too many. */
ngx_int_t ngx_http_symbolicate_jobs_add(ngx_http_request_t *r,
    sym_str_t scope, size_t bytes, size_t expected, ngx_msec_t left,
    sym_job_ref_t *job);

sym_status_t ngx_http_symbolicate_jobs_append(sym_job_ref_t *job,
    sym_str_t text);
void ngx_http_symbolicate_jobs_finish(sym_job_ref_t *job,
    sym_job_state_t state);

sym_job_state_t ngx_http_symbolicate_jobs_find(sym_job_id_t *id,
    sym_job_ref_t *job);

/*
 * Copies the next part of a result.  NGX_OK: it is the last; NGX_AGAIN: there
 * is more; NGX_DECLINED: the job is gone.
 */
ngx_int_t ngx_http_symbolicate_jobs_read(sym_job_ref_t *job,
    sym_job_cursor_t *cursor, sym_out_t *out);


/* Waits for a job; wait->ended() is called once, when the job has ended. */
void ngx_http_symbolicate_jobs_wait(ngx_http_symbolicate_jobs_wait_t *wait);

/* Ends the wait; may run twice. */
void ngx_http_symbolicate_jobs_unwait(ngx_http_symbolicate_jobs_wait_t *wait);


/* Gets statistics.  False: there is no table. */
ngx_uint_t ngx_http_symbolicate_jobs_stat(sym_jobs_stat_t *stat);


#endif /* _NGX_HTTP_SYMBOLICATE_JOBS_H_INCLUDED_ */
