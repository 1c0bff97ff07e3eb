
/*
 * ngx_http_symbolicate_task.h - a request as a task of a few steps.
 *
 * read -> prepare -> run -> send: a kind of work says what each step does, the
 * task has what all of them need: turns, a body, an answer, an error to be
 * sent, a cleanup.  A task lies in the pool of its request, as the first member
 * of what its work keeps, and ends with it.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

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


/* A kind of work.  All but the steps may be NULL. */
typedef struct {
    ngx_http_symbolicate_step_pt   steps[ngx_http_symbolicate_steps];
                                                /* NULL: nothing to be done */

    /* headers of the answer or, when task->status says so, of an error that
     * has a body of its own; NGX_OK or NGX_ERROR */
    ngx_int_t                    (*headers)(ngx_http_symbolicate_task_t *task);

    /* task->status says what is answered */
    void                         (*failed)(ngx_http_symbolicate_task_t *task);

    /* gives up all that the pool does not free; may run twice */
    void                         (*cleanup)(ngx_http_symbolicate_task_t *task);
} ngx_http_symbolicate_work_t;


struct ngx_http_symbolicate_task_s {
    const ngx_http_symbolicate_work_t  *work;
    ngx_http_request_t            *request;
    ngx_http_symbolicate_ctx_t    *ctx;
    ngx_uint_t                     step;
    ngx_http_symbolicate_turn_t    turn;
    ngx_msec_t                     budget;      /* to wait for others */

    unsigned                       is_query:1;  /* the arguments are the body */
    unsigned                       header_sent:1;
    unsigned                       complete:1;  /* the answer is written */

    ngx_http_symbolicate_body_t   *reading;     /* NULL: taken as it lies */
    sym_str_t                      body;

    /* the answer, see output.c */
    sym_out_t                      out;
    size_t                         expected;    /* bytes of it, a guess */
    ngx_chain_t                   *first;       /* not yet given to the
                                                 * filters */
    ngx_chain_t                   *last;
    ngx_chain_t                   *busy;        /* given, not yet sent */
    ngx_chain_t                   *free;
    size_t                         held;        /* bytes of all their buffers */

    /* what is answered; 0: 200, nothing failed so far */
    ngx_uint_t                     status;
    sym_str_t                      title;
    const char                    *description;
    ngx_chain_t                   *error_body;  /* NULL: of these two */
};


/* `size`: of what the work keeps, which is zeroed and has the task as its first
 * member; NULL: no memory. */
void *ngx_http_symbolicate_task_create(ngx_http_request_t *r, size_t size,
    const ngx_http_symbolicate_work_t *work);

/* What a content handler returns: the task runs when the body is there. */
ngx_int_t ngx_http_symbolicate_task_read(ngx_http_symbolicate_task_t *task);

/* The same for requests whose body does not matter: the task runs at once. */
ngx_int_t ngx_http_symbolicate_task_start(ngx_http_symbolicate_task_t *task);

/* The task may be gone when it returns. */
void ngx_http_symbolicate_task_run(ngx_http_symbolicate_task_t *task);

/* Returns NGX_ERROR.  The texts live as long as the request. */
ngx_int_t ngx_http_symbolicate_fail(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, sym_str_t title, const char *description);

/* The context of a request, made if there is none; NULL: no memory. */
ngx_http_symbolicate_ctx_t *ngx_http_symbolicate_ctx_get(
    ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_ */
