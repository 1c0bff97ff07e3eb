
/*
 * ngx_http_symbolicate_events.c - POST .../events: removes records of paths on
 * events of S3 and similar servers.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/events/sns.h"

#include "admin/ngx_http_symbolicate_events.h"
#include "admin/ngx_http_symbolicate_purge.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"


/*
 * Size of the arena, and multiple of the body's size: keys are copied, and
 * records of a hundred bytes become events of the same size.
 */
#define NGX_SYMBOLICATE_EVENTS_ARENA  (1024 * 1024)
#define NGX_SYMBOLICATE_EVENTS_RATIO  16

#define NGX_SYMBOLICATE_EVENTS_TEXT   256


static ngx_int_t ngx_http_symbolicate_events_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_events_refuse(
    ngx_http_symbolicate_task_t *task, sym_error_t *err);
static void ngx_http_symbolicate_events_subscription(
    ngx_http_symbolicate_task_t *task, sym_arena_t *arena);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_events_work = {
    { ngx_http_symbolicate_read_step,
      ngx_http_symbolicate_events_step,
      ngx_http_symbolicate_purge_step,
      ngx_http_symbolicate_send_step },
    NULL,
    NULL,
    ngx_http_symbolicate_purge_cleanup,
    NULL
};


ngx_int_t
ngx_http_symbolicate_events(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    ngx_http_symbolicate_task_t  *task;

    /*
     * without a named source, events do not concern modules loaded by hand,
     * because these have no bucket
     */

    if (scopes->n > 1) {
        scopes->names++;
        scopes->rules++;
        scopes->n--;
    }

    task = ngx_http_symbolicate_purge_create(r, scopes,
                                             &ngx_http_symbolicate_events_work);
    if (task == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_task_read(task);
}


static ngx_int_t
ngx_http_symbolicate_events_step(ngx_http_symbolicate_task_t *task)
{
    sym_arena_t      *arena;
    sym_error_t       err;
    sym_s3_events_t   events;

    arena = ngx_http_symbolicate_purge_arena(task,
                     NGX_SYMBOLICATE_EVENTS_ARENA
                     + task->body.len * NGX_SYMBOLICATE_EVENTS_RATIO);

    ngx_memzero(&err, sizeof(sym_error_t));

    switch (sym_s3_events_read(arena, task->body, &events, &err)) {

    case SYM_OK:
        ngx_http_symbolicate_purge_events(task, &events);
        return NGX_OK;

    case SYM_NOMEM:
        ngx_log_error(NGX_LOG_ERR, task->request->connection->log, 0,
                      "symbolicate: no memory for events of %uz bytes",
                      task->body.len);

        return ngx_http_symbolicate_fail(task, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);

    case SYM_UNSUPPORTED:
        ngx_http_symbolicate_events_subscription(task, arena);
        break;

    default:
        break;
    }

    return ngx_http_symbolicate_events_refuse(task, &err);
}


static ngx_int_t
ngx_http_symbolicate_events_refuse(ngx_http_symbolicate_task_t *task,
    sym_error_t *err)
{
    char  *text;

    text = ngx_pnalloc(task->request->pool, NGX_SYMBOLICATE_EVENTS_TEXT);
    if (text == NULL) {
        return NGX_ERROR;
    }

    (void) sym_error_text(err, text, NGX_SYMBOLICATE_EVENTS_TEXT);

    ngx_log_error(NGX_LOG_WARN, task->request->connection->log, 0,
                  "symbolicate: events refused: %s", text);

    return ngx_http_symbolicate_fail(task, NGX_HTTP_BAD_REQUEST,
                                     SYM_STR("400 Bad Request"), text);
}


/*
 * The URL is untrusted, so it is only logged, and an operator has to check it.
 */
static void
ngx_http_symbolicate_events_subscription(ngx_http_symbolicate_task_t *task,
    sym_arena_t *arena)
{
    sym_str_t  url;

    if (!sym_sns_subscribe_url(arena, task->body, &url)) {
        return;
    }

    ngx_log_error(NGX_LOG_WARN, task->request->connection->log, 0,
                  "symbolicate: an SNS subscription waits to be confirmed; if "
                  "it is yours, open this address: %*s", url.len, url.data);
}
