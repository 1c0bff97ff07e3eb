
/*
 * ngx_http_symbolicate_fetch_report.h - reports to the loader the outcome of
 * each place, and why it failed.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/* Returns the reason for the answer and the log: that of the first failure. */
void ngx_http_symbolicate_fetch_reason(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble);

/* Records that the source has returned the file. */
void ngx_http_symbolicate_fetch_found(ngx_http_symbolicate_fetch_t *fetch);

/* Records a failure: no answer, an error, or an incomplete body. */
void ngx_http_symbolicate_fetch_failed(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble);

/*
 * Records that the source does not have the file; explains an unusual answer.
 */
void ngx_http_symbolicate_fetch_absent(ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_ */
