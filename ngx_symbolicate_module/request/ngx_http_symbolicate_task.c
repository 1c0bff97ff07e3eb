
/*
 * ngx_http_symbolicate_task.c - the life of a request.
 *
 * One driver moves a task from step to step.  A short request goes through all
 * steps in the event in which the end of its body arrives.  A long one yields
 * after each slice, and the queue calls it again.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


static void ngx_http_symbolicate_task_body(ngx_http_request_t *r);
static void ngx_http_symbolicate_task_turn(void *data);
static void ngx_http_symbolicate_task_cut(ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_task_cleanup(void *data);


ngx_http_symbolicate_ctx_t *
ngx_http_symbolicate_ctx_get(ngx_http_request_t *r)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx == NULL) {
        ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_ctx_t));
        if (ctx == NULL) {
            return NULL;
        }

        ngx_http_set_ctx(r, ctx, ngx_http_symbolicate_module);
    }

    return ctx;
}


void *
ngx_http_symbolicate_task_create(ngx_http_request_t *r, size_t size,
    const ngx_http_symbolicate_work_t *work)
{
    ngx_pool_cleanup_t                *cln;
    ngx_http_symbolicate_ctx_t        *ctx;
    ngx_http_symbolicate_task_t       *task;
    ngx_http_symbolicate_loc_conf_t   *slcf;
    ngx_http_symbolicate_main_conf_t  *smcf;

    task = ngx_pcalloc(r->pool, size);
    cln = ngx_pool_cleanup_add(r->pool, 0);
    ctx = ngx_http_symbolicate_ctx_get(r);

    if (task == NULL || cln == NULL || ctx == NULL) {
        return NULL;
    }

    cln->handler = ngx_http_symbolicate_task_cleanup;
    cln->data = task;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);

    task->memory.whole = &smcf->worker->memory;
    task->memory.limit = smcf->memory_share;
    task->work = work;
    task->request = r;
    task->ctx = ctx;
    task->budget = slcf->budget;
    task->turn.run = ngx_http_symbolicate_task_turn;
    task->turn.data = task;

    ctx->task = task;

    return task;
}


ngx_int_t
ngx_http_symbolicate_task_read(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = task->request;

    /* so that a body that fits one buffer is parsed in place */
    r->request_body_in_single_buf = 1;

    rc = ngx_http_read_client_request_body(r, ngx_http_symbolicate_task_body);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


static void
ngx_http_symbolicate_task_body(ngx_http_request_t *r)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    /* a subrequest for an included page has no body */

    if (r->request_body == NULL && !ctx->task->is_query) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    /* detects a client that disconnects while its request is queued */

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    if (ngx_http_symbolicate_turn_steps == 0) {
        ngx_http_symbolicate_enqueue(&ctx->task->turn);
        return;
    }

    ngx_http_symbolicate_task_run(ctx->task);
}


ngx_int_t
ngx_http_symbolicate_task_start(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = task->request;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (!r->discard_body) {
        r->read_event_handler = ngx_http_test_reading;
    }

    r->write_event_handler = ngx_http_request_empty_handler;
    r->main->count++;

    ngx_http_symbolicate_task_run(task);

    return NGX_DONE;
}


static void
ngx_http_symbolicate_task_turn(void *data)
{
    ngx_http_symbolicate_task_t *task = data;

    ngx_connection_t  *c;

    c = task->request->connection;
    ngx_http_set_log_request(c->log, task->request);

    ngx_http_symbolicate_task_run(task);
    ngx_http_run_posted_requests(c);
}


/* The only function that changes task->step. */
void
ngx_http_symbolicate_task_run(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                     rc;
    ngx_http_symbolicate_step_pt  step;

    for ( ;; ) {
        step = task->work->steps[task->step];
        rc = step ? step(task) : NGX_OK;

        switch (rc) {

        case NGX_OK:
            if (task->step == ngx_http_symbolicate_step_send) {
                ngx_http_finalize_request(task->request, NGX_OK);
                return;
            }

            task->step++;
            break;

        case NGX_DECLINED:
            task->step = ngx_http_symbolicate_step_run;
            break;

        case NGX_AGAIN:
            ngx_http_symbolicate_enqueue(&task->turn);
            return;

        case NGX_DONE:
            return;

        default: /* NGX_ERROR */
            ngx_http_symbolicate_task_give_up(task);
            return;
        }
    }
}


void
ngx_http_symbolicate_task_give_up(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = task->request;

    if (task->work->error) {
        task->work->error(task);
        return;
    }

    if (task->header_sent) {
        ngx_http_symbolicate_task_cut(task);
        return;
    }

    if (task->error_body) {
        rc = task->work->headers ? task->work->headers(task) : NGX_OK;

        if (rc == NGX_OK) {
            rc = ngx_http_symbolicate_send_body(r, task->status,
                                                task->error_type
                                                ? task->error_type
                                                : NGX_SYMBOLICATE_JSON,
                                                task->error_body);
        }

    } else if (task->status) {
        rc = ngx_http_symbolicate_send_error(r, task->status, task->title,
                                             task->description);

    } else {
        rc = NGX_ERROR;
    }

    /* may free the description */

    ngx_http_symbolicate_task_cleanup(task);

    ngx_http_finalize_request(r, rc);
}


void
ngx_http_symbolicate_task_reply(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, const char *type, ngx_chain_t *body)
{
    ngx_int_t  rc;

    ngx_http_symbolicate_task_cleanup(task);

    rc = body ? ngx_http_symbolicate_send_body(task->request, status, type,
                                               body)
              : NGX_ERROR;

    ngx_http_finalize_request(task->request, rc);
}


/*
 * The client has part of an answer that cannot be completed: it notices this by
 * the missing last chunk.
 */
static void
ngx_http_symbolicate_task_cut(ngx_http_symbolicate_task_t *task)
{
    ngx_http_request_t  *r;

    r = task->request;

    if (task->status) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "symbolicate: an answer is cut short after %uL bytes: "
                      "%*s%s%s", task->out.before,
                      task->title.len, task->title.data,
                      task->description ? ": " : "",
                      task->description ? task->description : "");
    }

    ngx_http_symbolicate_task_cleanup(task);
    ngx_http_finalize_request(r, NGX_ERROR);
}


ngx_int_t
ngx_http_symbolicate_fail(ngx_http_symbolicate_task_t *task, ngx_uint_t status,
    sym_str_t title, const char *description)
{
    task->status = status;
    task->title = title;
    task->description = description;

    if (task->work->failed) {
        task->work->failed(task);
    }

    return NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_fail_memory(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_count_refused(task->memory.refused);

    if (task->memory.refused == SYM_REFUSED_SHARE) {
        ngx_log_error(NGX_LOG_ERR, task->request->connection->log, 0,
                      "symbolicate: a request holds %uz bytes and needs more "
                      "than its share of symbolicate_memory",
                      task->memory.used);

        return ngx_http_symbolicate_fail(task,
                                     NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                     SYM_STR("413 Request Entity Too Large"),
                                     "the request needs more memory than one "
                                     "request may have");
    }

    return ngx_http_symbolicate_fail(task, NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"),
                                     "other requests hold all memory for "
                                     "requests");
}


/* Frees memory that is not from the request's pool; may run twice. */
static void
ngx_http_symbolicate_task_cleanup(void *data)
{
    ngx_http_symbolicate_task_t *task = data;

    ngx_http_symbolicate_leave(&task->turn);

    if (task->work->cleanup) {
        task->work->cleanup(task);
    }

    ngx_http_symbolicate_read_end(task);
    ngx_http_symbolicate_output_drop(task);
}
