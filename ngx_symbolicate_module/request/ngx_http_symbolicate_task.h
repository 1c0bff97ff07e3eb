
/*
 * ngx_http_symbolicate_task.h - a request as a task of a few steps.
 *
 * read -> prepare -> run -> send: the kind of work defines these steps.  The
 * task contains the common parts: turns, a body, an answer, an error, a
 * cleanup.  It is allocated from the pool of its request, as the first member
 * of the work's own structure.
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
 * returns NGX_DECLINED if all text has been sent, but the run step must
 * continue.
 */
typedef ngx_int_t (*ngx_http_symbolicate_step_pt)(
    ngx_http_symbolicate_task_t *task);


/* A kind of work.  Every function may be NULL. */
typedef struct {
    ngx_http_symbolicate_step_pt   steps[ngx_http_symbolicate_steps];

    /*
     * adds headers to the answer; or to an error with its own body, if
     * task->status is set; NGX_OK or NGX_ERROR
     */
    ngx_int_t                    (*headers)(ngx_http_symbolicate_task_t *task);

    /* called for an error; task->status is set */
    void                         (*failed)(ngx_http_symbolicate_task_t *task);

    /* frees memory that is not from the pool; may run twice */
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
    ngx_msec_t                     budget;      /* limit of the time for
                                                 * waiting */

    unsigned                       is_query:1;  /* the arguments are the body */
    unsigned                       header_sent:1;
    unsigned                       complete:1;  /* the answer is completely
                                                 * written */

    sym_account_t                  memory;      /* memory charged to it */
    ngx_http_symbolicate_body_t   *reading;     /* state of copying the body;
                                                 * NULL: not copied */
    sym_str_t                      body;

    /* the answer, see output.c */
    sym_out_t                      out;
    size_t                         expected;    /* estimated size */
    ngx_chain_t                   *first;       /* not yet passed to the
                                                 * filters */
    ngx_chain_t                   *last;
    ngx_chain_t                   *busy;        /* passed to the filters, not
                                                 * sent yet */
    ngx_chain_t                   *free;
    ngx_chain_t                   *spare;       /* links with empty buffers */
    size_t                         held;        /* total size of these
                                                 * buffers */

    /* an error; status 0: no error so far */
    ngx_uint_t                     status;
    sym_str_t                      title;
    const char                    *description;
    ngx_chain_t                   *error_body;  /* body; NULL: made from title
                                                 * and description */
    const char                    *error_type;  /* of error_body; NULL: JSON */
};


/* Allocates the work's structure of `size` bytes, zeroed, with the task as its
 * first member; NULL: out of memory. */
void *ngx_http_symbolicate_task_create(ngx_http_request_t *r, size_t size,
    const ngx_http_symbolicate_work_t *work);

/*
 * Reads the body, then runs the task; returns the result of a content handler.
 */
ngx_int_t ngx_http_symbolicate_task_read(ngx_http_symbolicate_task_t *task);

/* Discards the body, and runs the task at once. */
ngx_int_t ngx_http_symbolicate_task_start(ngx_http_symbolicate_task_t *task);

/* Runs the task, which may have been freed when this returns. */
void ngx_http_symbolicate_task_run(ngx_http_symbolicate_task_t *task);

/*
 * Ends the task: the client gets this body instead of an answer.  NULL: there
 * was no memory for the body.
 */
void ngx_http_symbolicate_task_reply(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, const char *type, ngx_chain_t *body);

/*
 * Ends the task after ngx_http_symbolicate_fail() outside of a step: the client
 * gets the reason.
 */
void ngx_http_symbolicate_task_give_up(ngx_http_symbolicate_task_t *task);

/*
 * Sets an error, and returns NGX_ERROR.  The texts must live as long as the
 * request.
 */
ngx_int_t ngx_http_symbolicate_fail(ngx_http_symbolicate_task_t *task,
    ngx_uint_t status, sym_str_t title, const char *description);

/*
 * Same after task->memory refused a charge: 413 if the request exceeds the
 * limit of a request, otherwise 503, so that the client retries.
 */
ngx_int_t ngx_http_symbolicate_fail_memory(ngx_http_symbolicate_task_t *task);

/* Finds or creates the context of a request; NULL: out of memory. */
ngx_http_symbolicate_ctx_t *ngx_http_symbolicate_ctx_get(
    ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_TASK_H_INCLUDED_ */
