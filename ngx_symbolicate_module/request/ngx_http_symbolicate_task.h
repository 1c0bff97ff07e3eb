
/*
 * ngx_http_symbolicate_task.h - a request as a task of a few steps.
 *
 * read -> prepare -> run -> send: the kind of work defines the steps, the task
 * has the common parts: turns, a body, an answer, an error, a cleanup.  A task
 * is allocated from the pool of its request, as the first member of its work's
 * own structure.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/account.h"

#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_queue.h"


typedef struct ngx_http_symbolicate_body_s  ngx_http_symbolicate_body_t;


typedef enum {
    ngx_http_symbolicate_step_read = 0,
    ngx_http_symbolicate_step_prepare,
    ngx_http_symbolicate_step_run,
    ngx_http_symbolicate_step_send,
    ngx_http_symbolicate_steps
} ngx_http_symbolicate_step_e;


/*
 * NGX_OK: done, the next step follows.  NGX_AGAIN: the step continues in
 * another turn.  NGX_DONE: an event will call ngx_http_symbolicate_task_run(),
 * or put the task in the queue.  NGX_ERROR: failed, after
 * ngx_http_symbolicate_fail() if the client should get a reason.  Sending
 * returns NGX_DECLINED when all text is sent and the run step has to continue.
 */
typedef ngx_int_t (*ngx_http_symbolicate_step_pt)(
    ngx_http_symbolicate_task_t *task);


/* A kind of work; every function may be NULL. */
typedef struct {
    ngx_http_symbolicate_step_pt   steps[ngx_http_symbolicate_steps];

    /* adds headers to the answer or, if task->status is set, to an error with
     * its own body; NGX_OK or NGX_ERROR */
    ngx_int_t                    (*headers)(ngx_http_symbolicate_task_t *task);

    /* called for an error, with its task->status */
    void                         (*failed)(ngx_http_symbolicate_task_t *task);

    /* frees what the pool does not; may run twice */
    void                         (*cleanup)(ngx_http_symbolicate_task_t *task);

    /* receives the error of a request without a client */
    void                         (*error)(ngx_http_symbolicate_task_t *task);
} ngx_http_symbolicate_work_t;


struct ngx_http_symbolicate_task_s {
    const ngx_http_symbolicate_work_t  *work;
    ngx_http_request_t            *request;
    ngx_http_symbolicate_ctx_t    *ctx;
    ngx_uint_t                     step;
    ngx_http_symbolicate_turn_t    turn;
    ngx_msec_t                     budget;      /* time to wait for others */

    unsigned                       is_query:1;  /* the arguments are the body */
    unsigned                       header_sent:1;
    unsigned                       complete:1;  /* the answer is written */

    sym_account_t                  memory;      /* memory charged to it */
    ngx_http_symbolicate_body_t   *reading;     /* NULL: not copied */
    sym_str_t                      body;

    /* the answer, see output.c */
    sym_out_t                      out;
    size_t                         expected;    /* estimate of its bytes */
    ngx_chain_t                   *first;       /* not yet in the filters */
    ngx_chain_t                   *last;
    ngx_chain_t                   *busy;        /* in filters, not sent */
    ngx_chain_t                   *free;
    ngx_chain_t                   *spare;       /* with empty buffers */
    size_t                         held;        /* bytes of all their buffers */

    /* an error; status 0: no error so far */
    ngx_uint_t                     status;
    sym_str_t                      title;
    const char                    *description;
    ngx_chain_t                   *error_body;  /* NULL: made from these two */
};


/* Allocates the work's structure of `size` bytes, zeroed, with the task as its
 * first member; NULL: out of memory. */
void *ngx_http_symbolicate_task_create(ngx_http_request_t *r, size_t size,
    const ngx_http_symbolicate_work_t *work);

/* Reads the body, then runs the task; returns a content handler's result. */
ngx_int_t ngx_http_symbolicate_task_read(ngx_http_symbolicate_task_t *task);

/* Discards the body, and runs the task at once. */
ngx_int_t ngx_http_symbolicate_task_start(ngx_http_symbolicate_task_t *task);

/* The task may have been freed when it returns. */
void ngx_http_symbolicate_task_run(ngx_http_symbolicate_task_t *task);

/* Ends the task: the client gets this body instead of an answer.  NULL:
 * there was no memory for it. */
void ngx_http_symbolicate_task_reply(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, const char *type, ngx_chain_t *body);

/* After ngx_http_symbolicate_fail() outside of a step: the client gets the
 * reason. */
void ngx_http_symbolicate_task_give_up(ngx_http_symbolicate_task_t *task);

/* Returns NGX_ERROR.  The texts must live as long as the request. */
ngx_int_t ngx_http_symbolicate_fail(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, sym_str_t title, const char *description);

/* Same after task->memory refused a charge: 413 if it exceeds the limit of
 * every request, or 503 for a retry. */
ngx_int_t ngx_http_symbolicate_fail_memory(ngx_http_symbolicate_task_t *task);

/* Finds or creates the context of a request; NULL: out of memory. */
ngx_http_symbolicate_ctx_t *ngx_http_symbolicate_ctx_get(
    ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_ */
