
/*
 * ngx_http_symbolicate_bulk.h - a request of any number of lines.
 *
 * Each line of its body is a request of its own, and each line of the answer is
 * the answer to one.  Lines are read, parsed and answered in batches, one at a
 * time.  So if a client does not read its answer, the worker does not read more
 * from it.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BULK_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BULK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_lookup.h"


/* Returns a content handler's result. */
ngx_int_t ngx_http_symbolicate_bulk_start(
    ngx_http_symbolicate_lookup_t *lookup);

/* The run step: reads a batch, and answers it. */
ngx_int_t ngx_http_symbolicate_bulk_step(ngx_http_symbolicate_task_t *task);

/* Frees memory that is not from the request's pool; may run twice. */
void ngx_http_symbolicate_bulk_end(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_BULK_H_INCLUDED_ */
