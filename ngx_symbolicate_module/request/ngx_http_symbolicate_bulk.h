
/*
 * ngx_http_symbolicate_bulk.h - a request of any number of lines.
 *
 * Each line of its body is a request of its own, and each line of the answer is
 * the answer to one.  Lines are read, parsed and answered in batches, one batch
 * at a time: a client that does not read its answer is not read from.
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

/* Frees what the request's pool does not; may run twice. */
void ngx_http_symbolicate_bulk_end(ngx_http_symbolicate_lookup_t *lookup);


#endif /* _NGX_HTTP_SYMBOLICATE_BULK_H_INCLUDED_ */
