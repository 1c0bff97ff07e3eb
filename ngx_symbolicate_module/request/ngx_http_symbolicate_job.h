
/*
 * ngx_http_symbolicate_job.h - requests that outlive their clients.
 *
 * A client may specify how long it waits for its answer ("?timeout=5").  After
 * that time it gets an id instead, and the request becomes a job.  Any worker
 * can send the result of the job to the client (result.h).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_JOB_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_JOB_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/*
 * Reads the client's timeout from the query.  NGX_DECLINED: continue; otherwise
 * the request has been answered.
 */
ngx_int_t ngx_http_symbolicate_job_query(ngx_http_symbolicate_lookup_t *lookup);

/*
 * Call this when the request has been parsed and its work begins.  NGX_OK;
 * NGX_DONE: it has been answered; NGX_ERROR: too many are in progress.
 */
ngx_int_t ngx_http_symbolicate_job_begin(ngx_http_symbolicate_lookup_t *lookup);

/* Call this when the answer is about to be sent, so that no job is needed. */
void ngx_http_symbolicate_job_answered(ngx_http_symbolicate_lookup_t *lookup);

/* Call this when the request ends; may run twice. */
void ngx_http_symbolicate_job_end(ngx_http_symbolicate_lookup_t *lookup);

/* Ends all jobs of this worker, without results. */
void ngx_http_symbolicate_job_end_all(void);


#endif /* _NGX_HTTP_SYMBOLICATE_JOB_H_INCLUDED_ */
