
/*
 * ngx_http_symbolicate_result.c - results of requests that outlived their
 * clients.
 *
 * The result is copied from the table of jobs in parts, so a client that does
 * not read does not block an entry of the table.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "jobs/ngx_http_symbolicate_jobs.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_result.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"


/* Seconds after which a client should poll again, as in Symbolicator. */
#define NGX_SYMBOLICATE_RETRY_AFTER  30


typedef struct {
    ngx_http_symbolicate_task_t       task;     /* the first member */
    sym_job_id_t                      id;
    sym_api_wait_t                    patience;
    ngx_http_symbolicate_jobs_wait_t  wait;
    sym_job_cursor_t                  cursor;
    ngx_event_t                       late;
    unsigned                          reading:1;
    unsigned                          over:1;   /* the client's time is over */
} ngx_http_symbolicate_result_t;


static ngx_int_t ngx_http_symbolicate_result_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_result_read(
    ngx_http_symbolicate_result_t *result);
static void ngx_http_symbolicate_result_wait(
    ngx_http_symbolicate_result_t *result);
static void ngx_http_symbolicate_result_ended(void *data);
static void ngx_http_symbolicate_result_late(ngx_event_t *ev);
static void ngx_http_symbolicate_result_cleanup(
    ngx_http_symbolicate_task_t *task);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_result_work = {
    { NULL,
      NULL,
      ngx_http_symbolicate_result_step,
      ngx_http_symbolicate_send_step },
    NULL,
    NULL,
    ngx_http_symbolicate_result_cleanup,
    NULL
};


ngx_int_t
ngx_http_symbolicate_result_handler(ngx_http_request_t *r, sym_str_t id)
{
    const char                       *refusal;
    ngx_http_symbolicate_result_t    *result;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    result = ngx_http_symbolicate_task_create(r,
                                         sizeof(ngx_http_symbolicate_result_t),
                                         &ngx_http_symbolicate_result_work);
    if (result == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!sym_job_id_read(id, &result->id)) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                               SYM_STR("404 Not Found"), NULL);
    }

    if (!slcf->api->read_wait(sym_str((char *) r->args.data, r->args.len),
                              &result->patience, &refusal))
    {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                               sym_cstr(refusal), NULL);
    }

    return ngx_http_symbolicate_task_start(&result->task);
}


static ngx_int_t
ngx_http_symbolicate_result_step(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t                    *body;
    sym_job_state_t                 state;
    ngx_http_symbolicate_result_t  *result;

    result = (ngx_http_symbolicate_result_t *) task;

    if (result->reading) {
        return ngx_http_symbolicate_result_read(result);
    }

    state = ngx_http_symbolicate_jobs_find(&result->id, &result->wait.job);

    switch (state) {

    case SYM_JOB_UNKNOWN:
        return ngx_http_symbolicate_fail(task, NGX_HTTP_NOT_FOUND,
                                         SYM_STR("404 Not Found"), NULL);

    case SYM_JOB_COMPLETED:
        result->reading = 1;
        ngx_http_symbolicate_output_begin(task);
        return ngx_http_symbolicate_result_read(result);

    case SYM_JOB_RUNNING:
        if (!result->over) {
            ngx_http_symbolicate_result_wait(result);
            return NGX_DONE;
        }

        task->ctx->served = SYM_SERVED_PENDING;
        break;

    default:
        task->ctx->served = SYM_SERVED_FAILED;
        break;
    }

    body = ngx_http_symbolicate_result_body(task->request, state, &result->id);
    if (body == NULL) {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_output_take(task, body);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_result_read(ngx_http_symbolicate_result_t *result)
{
    ngx_int_t                     rc;
    ngx_http_symbolicate_task_t  *task;

    task = &result->task;

    rc = ngx_http_symbolicate_jobs_read(&result->wait.job, &result->cursor,
                                        &task->out);

    if (rc == NGX_DECLINED || task->out.failed) {
        return ngx_http_symbolicate_fail(task, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         rc == NGX_DECLINED
                                         ? "the result expired before its "
                                           "client had read it"
                                         : NULL);
    }

    if (rc == NGX_AGAIN && !task->out.is_full) {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_output_close(task);
    task->out.is_full = 0;

    if (rc == NGX_AGAIN) {
        return NGX_OK;
    }

    task->complete = 1;
    task->ctx->served = SYM_SERVED_OK;

    return ngx_http_symbolicate_output_end(task);
}


static void
ngx_http_symbolicate_result_wait(ngx_http_symbolicate_result_t *result)
{
    ngx_event_t  *ev;

    result->wait.ended = ngx_http_symbolicate_result_ended;
    result->wait.data = result;

    ngx_http_symbolicate_jobs_wait(&result->wait);

    ev = &result->late;

    if (!result->patience.has_timeout || ev->timer_set) {
        return;
    }

    ev->handler = ngx_http_symbolicate_result_late;
    ev->data = result;
    ev->log = result->task.request->connection->log;

    /* a job cannot last longer than the maximum timer */

    ngx_add_timer(ev, (ngx_msec_t) ngx_min(result->patience.timeout_s, 86400)
                      * 1000);
}


static void
ngx_http_symbolicate_result_ended(void *data)
{
    ngx_http_symbolicate_result_t *result = data;

    ngx_http_symbolicate_enqueue(&result->task.turn);
}


static void
ngx_http_symbolicate_result_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_result_t *result = ev->data;

    result->over = 1;

    ngx_http_symbolicate_jobs_unwait(&result->wait);
    ngx_http_symbolicate_enqueue(&result->task.turn);
}


static void
ngx_http_symbolicate_result_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_result_t  *result;

    result = (ngx_http_symbolicate_result_t *) task;

    ngx_http_symbolicate_jobs_unwait(&result->wait);

    if (result->late.timer_set) {
        ngx_del_timer(&result->late);
    }
}


ngx_chain_t *
ngx_http_symbolicate_result_body(ngx_http_request_t *r, sym_job_state_t state,
    sym_job_id_t *id)
{
    char          text[SYM_JOB_ID_TEXT];
    sym_out_t     out;
    ngx_chain_t  *body;

    body = ngx_http_symbolicate_body_begin(r, 128, &out);
    if (body == NULL) {
        return NULL;
    }

    switch (state) {

    case SYM_JOB_RUNNING:
        sym_job_id_write(id, text);

        sym_out_raw(&out,
                    SYM_STR("{\"status\": \"pending\", \"request_id\": \""));
        sym_out_raw(&out, sym_str(text, sizeof(text)));
        sym_out_raw(&out, SYM_STR("\", \"retry_after\": "));
        sym_out_dec(&out, NGX_SYMBOLICATE_RETRY_AFTER);
        sym_out_raw(&out, SYM_STR("}"));
        break;

    case SYM_JOB_TIMEOUT:
        sym_out_raw(&out, SYM_STR("{\"status\": \"timeout\"}"));
        break;

    default:
        sym_out_raw(&out, SYM_STR("{\"status\": \"internal_error\"}"));
        break;
    }

    return ngx_http_symbolicate_body_end(r, body, &out) == NGX_OK ? body : NULL;
}
