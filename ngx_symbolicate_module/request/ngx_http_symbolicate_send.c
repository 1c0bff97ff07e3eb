
/*
 * ngx_http_symbolicate_send.c - passes the answer to the output filters.
 *
 * A large answer is sent one buffer per turn, because compressing, encrypting
 * or copying megabytes for a fast client at once would delay all other
 * clients.  An answer that exceeds the limit of a request is sent in parts:
 * each part is written after the previous one has been sent.  Its length is
 * unknown at the beginning.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"


static ngx_int_t ngx_http_symbolicate_send_start(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_wait_write(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_write_handler(ngx_http_request_t *r);


ngx_int_t
ngx_http_symbolicate_send_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t            rc;
    ngx_chain_t         *cl;
    ngx_http_request_t  *r;

    r = task->request;

    if (!task->header_sent) {
        rc = ngx_http_symbolicate_send_start(task);

        if (rc != NGX_OK || r->header_only) {
            return rc;
        }
    }

    if (task->busy == NULL) {

        if (task->first == NULL) {
            return NGX_DECLINED;
        }

        cl = task->first;
        task->first = cl->next;
        cl->next = NULL;

        if (task->first == NULL) {
            task->last = NULL;
        }

        /*
         * held back for more data (postpone_output), it would never be sent: no
         * event would follow, because the socket is already writable
         */
        cl->buf->flush = (task->first != NULL || !task->complete);

        rc = ngx_http_output_filter(r, cl);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (task->first == NULL && task->complete) {
            return NGX_OK;          /* nginx sends the rest */
        }

        ngx_chain_update_chains(r->pool, &task->free, &task->busy, &cl,
                                (ngx_buf_tag_t) &ngx_http_symbolicate_module);
    }

    if (task->busy) {
        return ngx_http_symbolicate_wait_write(task);
    }

    /* frees sent buffers early, before a slow client has the complete answer */

    while (task->free) {
        cl = task->free;
        task->free = cl->next;

        ngx_http_symbolicate_output_free(task, cl);
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_http_symbolicate_send_start(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t            rc;
    ngx_http_request_t  *r;

    r = task->request;

    task->header_sent = 1;

    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_symbolicate_set_type(r, NGX_SYMBOLICATE_JSON,
                                  task->complete ? (off_t) task->out.before
                                                 : -1);

    if (task->work->headers && task->work->headers(task) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Like ngx_http_writer(), but between two buffers of an answer. */
static ngx_int_t
ngx_http_symbolicate_wait_write(ngx_http_symbolicate_task_t *task)
{
    ngx_event_t               *wev;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = task->request;
    wev = r->connection->write;
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    r->write_event_handler = ngx_http_symbolicate_write_handler;

    if (!wev->delayed) {
        ngx_add_timer(wev, clcf->send_timeout);
    }

    if (ngx_handle_write_event(wev, clcf->send_lowat) != NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_DONE;
}


static void
ngx_http_symbolicate_write_handler(ngx_http_request_t *r)
{
    ngx_chain_t                  *none;
    ngx_event_t                  *wev;
    ngx_connection_t             *c;
    ngx_http_symbolicate_ctx_t   *ctx;
    ngx_http_symbolicate_task_t  *task;

    c = r->connection;
    wev = c->write;
    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);
    task = ctx->task;

    if (wev->timedout) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT,
                      "client timed out");
        c->timedout = 1;

        ngx_http_finalize_request(r, NGX_HTTP_REQUEST_TIME_OUT);
        return;
    }

    if (task->turn.queued) {
        return;
    }

    if (!wev->delayed) {

        if (ngx_http_output_filter(r, NULL) == NGX_ERROR) {
            ngx_http_finalize_request(r, NGX_ERROR);
            return;
        }

        none = NULL;
        ngx_chain_update_chains(r->pool, &task->free, &task->busy, &none,
                                (ngx_buf_tag_t) &ngx_http_symbolicate_module);
    }

    /* limit_rate's timer is kept, because nothing else ends the delay */

    if (task->busy == NULL && wev->timer_set && !wev->delayed) {
        ngx_del_timer(wev);
    }

    ngx_http_symbolicate_task_run(task);
}
