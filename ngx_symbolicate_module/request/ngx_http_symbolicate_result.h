
/*
 * ngx_http_symbolicate_result.h - results of requests that outlived their
 * clients.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_RESULT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_RESULT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "jobs/jobs.h"


/* A content handler.  id: from the path. */
ngx_int_t ngx_http_symbolicate_result_handler(ngx_http_request_t *r,
    sym_str_t id);

/*
 * Makes the answer for a job without a result, such as {"status": "timeout"}.
 * id: of a running job.  NULL: out of memory.
 */
ngx_chain_t *ngx_http_symbolicate_result_body(ngx_http_request_t *r,
    sym_job_state_t state, sym_job_id_t *id);


#endif /* _NGX_HTTP_SYMBOLICATE_RESULT_H_INCLUDED_ */
