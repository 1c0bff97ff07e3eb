
/*
 * ngx_http_symbolicate_fetch_report.h - the outcome of each place, and why it
 * failed, for the loader.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/* The reason for the answer and the log: that of the first failure. */
void ngx_http_symbolicate_fetch_reason(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble);

/* Records that the source has given the file. */
void ngx_http_symbolicate_fetch_found(ngx_http_symbolicate_fetch_t *fetch);

/* Records a failure: no answer, an error, or an incomplete body. */
void ngx_http_symbolicate_fetch_failed(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble);

/* Records that the source has no such file; explains an unusual answer. */
void ngx_http_symbolicate_fetch_absent(ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_REPORT_H_INCLUDED_ */
