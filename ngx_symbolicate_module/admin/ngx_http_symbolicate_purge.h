
/*
 * ngx_http_symbolicate_purge.h - lets the loader remove the records of a module
 * or of paths.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PURGE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PURGE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/events/s3_events.h"

#include "request/ngx_http_symbolicate_task.h"


/* A page of admin.c: DELETE .../cache/NAME/ID. */
ngx_int_t ngx_http_symbolicate_purge_one(ngx_http_request_t *r,
    sym_module_key_t *key, sym_scopes_t *scopes);

/*
 * Creates a task that removes records of paths at these sources.  Its prepare
 * step must pass them to purge_events(); the other steps are those below.
 * NULL: no memory.
 */
ngx_http_symbolicate_task_t *ngx_http_symbolicate_purge_create(
    ngx_http_request_t *r, sym_scopes_t *scopes,
    const ngx_http_symbolicate_work_t *work);

/* Memory for the events; it is freed with the task. */
sym_arena_t *ngx_http_symbolicate_purge_arena(
    ngx_http_symbolicate_task_t *task, size_t limit);
void ngx_http_symbolicate_purge_events(ngx_http_symbolicate_task_t *task,
    sym_s3_events_t *events);

/*
 * A step: calls the loader for several items at a time, and counts the replies.
 */
ngx_int_t ngx_http_symbolicate_purge_step(ngx_http_symbolicate_task_t *task);

/* Cancels waiting calls; may run at any time, and twice. */
void ngx_http_symbolicate_purge_cleanup(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_PURGE_H_INCLUDED_ */
