
/*
 * ngx_http_symbolicate_job.c - requests that outlive their clients.
 *
 * While its client waits, such a request is an ordinary one that is counted and
 * has a timer.  When the timer fires, the work is restarted as a job, under an
 * internal request with a copy of the body.  Modules that were fetched before
 * are in the store, and the job joins downloads in progress, so little more
 * than parsing is repeated.
 *
 * A job has the same steps as a request, but its answer is written to the table
 * of jobs.  The timer of a job's time limit also keeps a worker alive that is
 * shutting down, until its jobs have ended.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_clientless.h"
#include "jobs/ngx_http_symbolicate_jobs.h"
#include "request/ngx_http_symbolicate_answer.h"
#include "request/ngx_http_symbolicate_attachment.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_job.h"
#include "request/ngx_http_symbolicate_lookup.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_result.h"
#include "request/ngx_http_symbolicate_task.h"


/* Approximate memory of a job, not counting its body. */
#define NGX_SYMBOLICATE_JOB  (64 * 1024)


struct ngx_http_symbolicate_job_s {
    ngx_http_symbolicate_clientless_t  own;
    ngx_queue_t                    queue;       /* in the list of this worker */
    ngx_http_symbolicate_lookup_t *lookup;
    sym_job_ref_t                  ref;
    ngx_event_t                    limit;
    ngx_event_t                    done;
    unsigned                       ended:1;     /* the result is in the table */
};


static void ngx_http_symbolicate_job_late(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_job_detach(
    ngx_http_symbolicate_lookup_t *lookup, sym_job_ref_t *ref);
static ngx_int_t ngx_http_symbolicate_job_busy(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_http_symbolicate_job_t *ngx_http_symbolicate_job_create(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_job_copy(sym_str_t *dst, sym_str_t src,
    ngx_pool_t *pool);
static ngx_int_t ngx_http_symbolicate_job_copy_type(ngx_http_request_t *r,
    ngx_http_request_t *from);
static ngx_int_t ngx_http_symbolicate_job_keep_step(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_job_error(ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_job_limit(ngx_event_t *ev);
static void ngx_http_symbolicate_job_finish(ngx_http_symbolicate_job_t *job,
    sym_job_state_t state);
static void ngx_http_symbolicate_job_done(ngx_event_t *ev);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_job_work = {
    { NULL,
      ngx_http_symbolicate_parse_step,
      ngx_http_symbolicate_answer_step,
      ngx_http_symbolicate_job_keep_step },
    NULL,
    NULL,
    ngx_http_symbolicate_lookup_cleanup,
    ngx_http_symbolicate_job_error
};


static ngx_queue_t  ngx_http_symbolicate_job_list;


/* --- with a client --- */

ngx_int_t
ngx_http_symbolicate_job_query(ngx_http_symbolicate_lookup_t *lookup)
{
    const char                       *refusal;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = lookup->task.request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->api->read_wait == NULL) {
        return NGX_DECLINED;
    }

    if (!slcf->api->read_wait(lookup->call.query, &lookup->patience, &refusal))
    {
        lookup->task.ctx->served = SYM_SERVED_INVALID;

        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                               sym_cstr(refusal), NULL);
    }

    /* downloads may take as long as the request may */

    lookup->task.budget = slcf->request_timeout;

    return NGX_DECLINED;
}


ngx_int_t
ngx_http_symbolicate_job_begin(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_event_t                      *ev;
    ngx_msec_t                        wait;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (slcf->api->read_wait == NULL || lookup->job || lookup->counted) {
        return NGX_OK;
    }

    if (ngx_http_symbolicate_jobs_enter() != NGX_OK) {
        return ngx_http_symbolicate_job_busy(lookup);
    }

    lookup->counted = 1;
    lookup->deadline = ngx_current_msec + slcf->request_timeout;

    wait = slcf->request_timeout;

    if (lookup->patience.has_timeout
        && lookup->patience.timeout_s < wait / 1000)
    {
        wait = (ngx_msec_t) lookup->patience.timeout_s * 1000;
    }

    ev = &lookup->late;

    ev->handler = ngx_http_symbolicate_job_late;
    ev->data = lookup;
    ev->log = lookup->task.request->connection->log;

    if (wait == 0) {
        ngx_http_symbolicate_job_late(ev);
        return NGX_DONE;
    }

    ngx_add_timer(ev, wait);

    return NGX_OK;
}


/* The client's timeout has passed, or the time limit of the request. */
static void
ngx_http_symbolicate_job_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_lookup_t *lookup = ev->data;

    ngx_connection_t              *c;
    sym_job_ref_t                  ref;
    ngx_http_request_t            *r;
    ngx_http_symbolicate_task_t   *task;

    task = &lookup->task;
    r = task->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    if (!lookup->patience.has_timeout
        || (ngx_msec_int_t) (lookup->deadline - ngx_current_msec) <= 0)
    {
        task->ctx->served = SYM_SERVED_FAILED;

        ngx_http_symbolicate_task_reply(task, NGX_HTTP_OK,
                                        NGX_SYMBOLICATE_JSON,
                  ngx_http_symbolicate_result_body(r, SYM_JOB_TIMEOUT, NULL));

    } else if (ngx_http_symbolicate_job_detach(lookup, &ref) == NGX_OK) {
        task->ctx->served = SYM_SERVED_PENDING;

        ngx_http_symbolicate_task_reply(task, NGX_HTTP_OK,
                                        NGX_SYMBOLICATE_JSON,
               ngx_http_symbolicate_result_body(r, SYM_JOB_RUNNING, &ref.id));

    } else {
        ngx_http_symbolicate_task_give_up(task);
    }

    ngx_http_run_posted_requests(c);
}


void
ngx_http_symbolicate_job_answered(ngx_http_symbolicate_lookup_t *lookup)
{
    if (lookup->late.timer_set) {
        ngx_del_timer(&lookup->late);
    }

    /* nginx itself times out a client that does not read */

    if (lookup->counted && lookup->task.complete) {
        lookup->counted = 0;
        ngx_http_symbolicate_jobs_leave();
    }
}


void
ngx_http_symbolicate_job_end(ngx_http_symbolicate_lookup_t *lookup)
{
    if (lookup->late.timer_set) {
        ngx_del_timer(&lookup->late);
    }

    if (lookup->counted) {
        lookup->counted = 0;
        ngx_http_symbolicate_jobs_leave();
    }
}


static ngx_int_t
ngx_http_symbolicate_job_busy(ngx_http_symbolicate_lookup_t *lookup)
{
    (void) ngx_http_symbolicate_fail(&lookup->task,
                    NGX_HTTP_SERVICE_UNAVAILABLE,
                    SYM_STR("maximum number of concurrent requests reached"),
                    NULL);

    lookup->task.ctx->served = SYM_SERVED_BUSY;

    return NGX_ERROR;
}


/* --- without one --- */

static ngx_int_t
ngx_http_symbolicate_job_detach(ngx_http_symbolicate_lookup_t *lookup,
    sym_job_ref_t *ref)
{
    ngx_int_t                    rc;
    ngx_msec_t                   left;
    ngx_http_symbolicate_job_t  *job;

    left = lookup->deadline - ngx_current_msec;

    rc = ngx_http_symbolicate_jobs_add(lookup->task.request,
                                       lookup->patience.scope,
                                       lookup->task.body.len
                                       + NGX_SYMBOLICATE_JOB,
                                       lookup->task.expected, left, ref);
    if (rc != NGX_OK) {
        return ngx_http_symbolicate_job_busy(lookup);
    }

    job = ngx_http_symbolicate_job_create(lookup);

    if (job == NULL) {
        ngx_http_symbolicate_jobs_finish(ref, SYM_JOB_INTERNAL_ERROR);

        if (lookup->task.memory.refused) {
            return ngx_http_symbolicate_fail_memory(&lookup->task);
        }

        return ngx_http_symbolicate_fail(&lookup->task,
                                         NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                                         NULL);
    }

    job->ref = *ref;

    /* the job takes over the request's slot among the requests in progress */

    lookup->counted = 0;
    job->lookup->counted = 1;

    if (ngx_http_symbolicate_job_list.next == NULL) {
        ngx_queue_init(&ngx_http_symbolicate_job_list);
    }

    ngx_queue_insert_tail(&ngx_http_symbolicate_job_list, &job->queue);

    ngx_add_timer(&job->limit, left);
    ngx_http_symbolicate_enqueue(&job->lookup->task.turn);

    return NGX_OK;
}


static ngx_http_symbolicate_job_t *
ngx_http_symbolicate_job_create(ngx_http_symbolicate_lookup_t *lookup)
{
    sym_str_t                       uri;
    ngx_http_request_t             *r;
    ngx_http_conf_ctx_t             conf;
    ngx_http_symbolicate_job_t     *job;
    ngx_http_symbolicate_lookup_t  *copy;

    r = lookup->task.request;

    conf.main_conf = r->main_conf;
    conf.srv_conf = r->srv_conf;
    conf.loc_conf = r->loc_conf;

    uri = sym_str((char *) r->uri.data, r->uri.len);

    job = ngx_calloc(sizeof(ngx_http_symbolicate_job_t), ngx_cycle->log);
    if (job == NULL) {
        return NULL;
    }

    r = ngx_http_symbolicate_clientless_open(&job->own, &conf,
                                             "working without a client");
    if (r == NULL) {
        ngx_free(job);
        return NULL;
    }

    copy = ngx_http_symbolicate_task_create(r,
                                         sizeof(ngx_http_symbolicate_lookup_t),
                                         &ngx_http_symbolicate_job_work);

    if (copy == NULL
        || ngx_http_symbolicate_job_copy(&uri, uri, r->pool) != NGX_OK
        || ngx_http_symbolicate_read_copy(&copy->task, lookup->task.body)
           != NGX_OK
        || ngx_http_symbolicate_job_copy(&copy->call.query, lookup->call.query,
                                         r->pool) != NGX_OK
        || ngx_http_symbolicate_job_copy_type(r, lookup->task.request)
           != NGX_OK
        || ngx_http_symbolicate_attachment_copy(copy, lookup) != NGX_OK)
    {
        lookup->task.memory.refused = copy ? copy->task.memory.refused
                                           : SYM_REFUSED_NOTHING;
        ngx_http_symbolicate_clientless_close(&job->own);
        ngx_free(job);
        return NULL;
    }

    r->uri.data = (u_char *) uri.data;
    r->uri.len = uri.len;
    r->args.data = (u_char *) copy->call.query.data;
    r->args.len = copy->call.query.len;

    copy->pool = r->pool;
    copy->stats = &copy->task.ctx->stats;
    copy->store = lookup->store;
    copy->call.route = lookup->task.ctx->route;
    copy->call.answer = lookup->call.answer;
    copy->call.header = lookup->call.header;
    copy->call.ctx = r;
    copy->task.budget = lookup->deadline - ngx_current_msec;
    copy->job = job;

    job->lookup = copy;

    job->limit.handler = ngx_http_symbolicate_job_limit;
    job->limit.data = job;
    job->limit.log = &job->own.log;

    job->done.handler = ngx_http_symbolicate_job_done;
    job->done.data = job;
    job->done.log = &job->own.log;

    return job;
}


static ngx_int_t
ngx_http_symbolicate_job_copy(sym_str_t *dst, sym_str_t src, ngx_pool_t *pool)
{
    u_char  *p;

    p = ngx_pnalloc(pool, src.len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, src.data ? src.data : "", src.len);
    *dst = sym_str((char *) p, src.len);

    return NGX_OK;
}


/* Copies Content-Type, because it contains the boundary of a form. */
static ngx_int_t
ngx_http_symbolicate_job_copy_type(ngx_http_request_t *r,
    ngx_http_request_t *from)
{
    sym_str_t         value;
    ngx_table_elt_t  *h, *copy;

    h = ngx_http_symbolicate_find_header(from, "Content-Type");

    if (h == NULL) {
        return NGX_OK;
    }

    copy = ngx_list_push(&r->headers_in.headers);

    if (copy == NULL
        || ngx_http_symbolicate_job_copy(&value,
                         sym_str((char *) h->value.data, h->value.len), r->pool)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(copy, sizeof(ngx_table_elt_t));

    copy->hash = 1;
    ngx_str_set(&copy->key, "Content-Type");
    copy->value.data = (u_char *) value.data;
    copy->value.len = value.len;

    return NGX_OK;
}


/* Replaces sending: copies one buffer per turn to the table. */
static ngx_int_t
ngx_http_symbolicate_job_keep_step(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t                 *cl;
    sym_status_t                 status;
    ngx_http_symbolicate_job_t  *job;

    job = ((ngx_http_symbolicate_lookup_t *) task)->job;
    cl = task->first;

    if (cl) {
        status = ngx_http_symbolicate_jobs_append(&job->ref,
                                        sym_str((char *) cl->buf->pos,
                                                cl->buf->last - cl->buf->pos));

        if (status != SYM_OK) {
            return ngx_http_symbolicate_fail(task, NGX_HTTP_SERVICE_UNAVAILABLE,
                       SYM_STR("its result does not fit"),
                       status == SYM_LIMIT
                       ? "it is longer than a quarter of symbolicate_results"
                       : "symbolicate_results is full");
        }

        task->first = cl->next;

        if (task->first == NULL) {
            task->last = NULL;
        }

        ngx_http_symbolicate_output_free(task, cl);

        return NGX_AGAIN;
    }

    if (!task->complete) {
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_job_finish(job, SYM_JOB_COMPLETED);

    return NGX_DONE;
}


static void
ngx_http_symbolicate_job_error(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_job_t  *job;

    job = ((ngx_http_symbolicate_lookup_t *) task)->job;

    ngx_log_error(NGX_LOG_ERR, &job->own.log, 0,
                  "symbolicate: a job failed: %*s%s%s",
                  task->title.len, task->title.data,
                  task->description ? ": " : "",
                  task->description ? task->description : "");

    ngx_http_symbolicate_job_finish(job, SYM_JOB_INTERNAL_ERROR);
}


static void
ngx_http_symbolicate_job_limit(ngx_event_t *ev)
{
    ngx_http_symbolicate_job_t *job = ev->data;

    ngx_http_symbolicate_job_finish(job, SYM_JOB_TIMEOUT);
}


/* Ends the job.  This code still uses its memory, so an event frees it. */
static void
ngx_http_symbolicate_job_finish(ngx_http_symbolicate_job_t *job,
    sym_job_state_t state)
{
    if (job->ended) {
        return;
    }

    job->ended = 1;

    /* a poll that sees the result will find a free slot */

    ngx_http_symbolicate_job_end(job->lookup);
    ngx_http_symbolicate_jobs_finish(&job->ref, state);

    ngx_post_event(&job->done, &ngx_posted_events);
}


static void
ngx_http_symbolicate_job_done(ngx_event_t *ev)
{
    ngx_http_symbolicate_job_t *job = ev->data;

    ngx_queue_remove(&job->queue);

    if (job->limit.timer_set) {
        ngx_del_timer(&job->limit);
    }

    ngx_http_symbolicate_clientless_close(&job->own);
    ngx_free(job);
}


void
ngx_http_symbolicate_job_end_all(void)
{
    ngx_queue_t                 *q;
    ngx_http_symbolicate_job_t  *job;

    if (ngx_http_symbolicate_job_list.next == NULL) {
        return;
    }

    for (q = ngx_queue_head(&ngx_http_symbolicate_job_list);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_job_list);
         q = ngx_queue_next(q))
    {
        job = ngx_queue_data(q, ngx_http_symbolicate_job_t, queue);
        ngx_http_symbolicate_job_finish(job, SYM_JOB_INTERNAL_ERROR);
    }
}
