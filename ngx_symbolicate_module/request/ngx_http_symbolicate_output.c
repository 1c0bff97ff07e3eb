
/*
 * ngx_http_symbolicate_output.c - the windows that an answer is written to.
 *
 * There are limits for the buffers of a request, and for those of all requests
 * of a worker.  A request at its limit continues when its client has received
 * the written text.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_task.h"


/* Size of the first buffer: enough for a small request. */
#define NGX_SYMBOLICATE_FIRST   4096

/*
 * An answer of up to this size is sent in one call, as most are; a larger one
 * is sent in parts of NGX_SYMBOLICATE_BUFFER.
 */
#define NGX_SYMBOLICATE_WHOLE   (384 * 1024)

/* Extra room for an unfinished frame when the request is at its limit. */
#define NGX_SYMBOLICATE_REST    (16 * 1024)

/*
 * Maximum size of the part of an answer that a request holds.  At this size it
 * waits until the part is sent.  A smaller answer has a Content-Length.
 */
#define NGX_SYMBOLICATE_HELD    (4 * 1024 * 1024)


static bool ngx_http_symbolicate_output_more(sym_out_t *out, size_t need);
static ngx_chain_t *ngx_http_symbolicate_output_link(
    ngx_http_symbolicate_task_t *task);
static size_t ngx_http_symbolicate_output_share(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_output_give_up(
    ngx_http_symbolicate_task_t *task);


/* total size of the buffers of all answers in this worker */
static size_t  ngx_http_symbolicate_held;


void
ngx_http_symbolicate_output_begin(ngx_http_symbolicate_task_t *task)
{
    task->out.more = ngx_http_symbolicate_output_more;
    task->out.ctx = task;
}


void
ngx_http_symbolicate_output_restart(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_output_give_up(task);

    task->out.pos = NULL;
    task->out.end = NULL;
    task->out.before = 0;
    task->out.is_full = 0;
}


void
ngx_http_symbolicate_output_take(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *body)
{
    task->first = body;
    task->out.before = 0;

    for ( /* void */ ; body; body = body->next) {
        task->last = body;
        task->out.before += body->buf->last - body->buf->pos;
        task->held += body->buf->end - body->buf->start;
        ngx_http_symbolicate_held += body->buf->end - body->buf->start;
        sym_account_add(&task->memory, body->buf->end - body->buf->start);
    }

    task->complete = 1;
}


/* Opens the next window, in another buffer. */
static bool
ngx_http_symbolicate_output_more(sym_out_t *out, size_t need)
{
    size_t                        size;
    ngx_buf_t                    *b;
    ngx_pool_t                   *pool;
    ngx_chain_t                  *cl;
    ngx_http_symbolicate_task_t  *task;

    task = out->ctx;
    pool = task->request->pool;

    if (task->last == NULL) {
        size = NGX_SYMBOLICATE_FIRST + task->expected;

        if (size > NGX_SYMBOLICATE_WHOLE || task->header_sent) {
            size = NGX_SYMBOLICATE_BUFFER;
        }

    } else {

        if (ngx_http_symbolicate_output_is_too_long(task)) {
            return false;
        }

        size = task->last->buf->end - task->last->buf->start;
        size = ngx_min(size, NGX_SYMBOLICATE_BUFFER);

        if (task->held >= ngx_http_symbolicate_output_share(task)) {
            out->is_full = 1;
            size = NGX_SYMBOLICATE_REST;
        }
    }

    size = ngx_max(size, need);

    cl = ngx_http_symbolicate_output_link(task);
    if (cl == NULL) {
        return false;
    }

    b = cl->buf;

    b->start = ngx_palloc(pool, size);
    if (b->start == NULL) {
        return false;
    }

    b->pos = b->start;
    b->last = b->start;
    b->end = b->start + size;
    b->temporary = 1;

    task->held += size;
    ngx_http_symbolicate_held += size;
    sym_account_add(&task->memory, size);

    ngx_http_symbolicate_output_close(task);

    if (task->last) {
        task->last->next = cl;

    } else {
        task->first = cl;
    }

    task->last = cl;

    out->pos = (char *) b->pos;
    out->end = (char *) b->end;

    return true;
}


/*
 * Returns a link with an empty buffer.  Links that were sent are used again,
 * because a bulk request may need any number of them.
 */
static ngx_chain_t *
ngx_http_symbolicate_output_link(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t  *cl;

    cl = task->spare;

    if (cl) {
        task->spare = cl->next;
        ngx_memzero(cl->buf, sizeof(ngx_buf_t));

    } else {
        cl = ngx_alloc_chain_link(task->request->pool);
        if (cl == NULL) {
            return NULL;
        }

        cl->buf = ngx_calloc_buf(task->request->pool);
        if (cl->buf == NULL) {
            return NULL;
        }
    }

    cl->next = NULL;
    cl->buf->tag = (ngx_buf_tag_t) &ngx_http_symbolicate_module;

    return cl;
}


/*
 * Maximum size of the part of its answer that a request may hold: half of what
 * the other requests leave of the worker's limit.  So any number of clients
 * that do not read can share that limit, and they never delay a client that
 * reads.
 */
static size_t
ngx_http_symbolicate_output_share(ngx_http_symbolicate_task_t *task)
{
    size_t                             left, others, share;
    sym_account_t                     *whole;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_get_module_main_conf(task->request,
                                         ngx_http_symbolicate_module);

    others = ngx_http_symbolicate_held - task->held;
    share = others < smcf->buffers ? (smcf->buffers - others) / 2 : 0;

    /* leaves memory that other requests may need */

    whole = task->memory.whole;

    if (whole->limit) {
        left = whole->used < whole->limit ? whole->limit - whole->used : 0;
        share = ngx_min(share, left / 2);
    }

    return ngx_min(share, NGX_SYMBOLICATE_HELD);
}


void
ngx_http_symbolicate_output_free(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *cl)
{
    size_t  size;

    size = cl->buf->end - cl->buf->start;

    task->held -= size;
    ngx_http_symbolicate_held -= size;
    sym_account_give(&task->memory, size);

    (void) ngx_pfree(task->request->pool, cl->buf->start);

    cl->next = task->spare;
    task->spare = cl;
}


/* Marks the last buffer of the answer, unless all buffers were sent already. */
ngx_int_t
ngx_http_symbolicate_output_end(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t  *cl;

    if (task->last == NULL) {
        cl = ngx_http_symbolicate_output_link(task);
        if (cl == NULL) {
            return NGX_ERROR;
        }

        task->first = cl;
        task->last = cl;
    }

    task->last->buf->last_buf = (task->request == task->request->main) ? 1 : 0;
    task->last->buf->last_in_chain = 1;

    return NGX_OK;
}


ngx_uint_t
ngx_http_symbolicate_output_is_too_long(ngx_http_symbolicate_task_t *task)
{
    uint64_t                          len;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(task->request,
                                        ngx_http_symbolicate_module);

    len = task->out.before;

    if (task->last) {
        len += task->out.pos - (char *) task->last->buf->pos;
    }

    return slcf->max_answer && len > (uint64_t) slcf->max_answer;
}


/* Ends the current window, and records its length. */
void
ngx_http_symbolicate_output_close(ngx_http_symbolicate_task_t *task)
{
    ngx_buf_t  *b;

    if (task->last == NULL) {
        return;
    }

    b = task->last->buf;

    b->last = (u_char *) task->out.pos;
    task->out.before += b->last - b->pos;

    task->out.pos = NULL;
    task->out.end = NULL;
}


/* Frees text that is written but not sent yet. */
static void
ngx_http_symbolicate_output_give_up(ngx_http_symbolicate_task_t *task)
{
    ngx_chain_t  *cl;

    /* nginx clears the pool of a request when it frees the request */

    while (task->first && task->request->pool) {
        cl = task->first;
        task->first = cl->next;

        ngx_http_symbolicate_output_free(task, cl);
    }

    task->last = NULL;
}


void
ngx_http_symbolicate_output_drop(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_output_give_up(task);

    ngx_http_symbolicate_held -= task->held;
    sym_account_give(&task->memory, task->held);
    task->held = 0;
}
