
/*
 * ngx_http_symbolicate_bulk.c - a request of any number of lines.
 *
 * nginx does not buffer the body: it is read when the next batch is wanted.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "counters/ngx_http_symbolicate_meter.h"
#include "request/ngx_http_symbolicate_answer.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_bulk.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_task.h"


/*
 * Lines are answered together up to this total size, if the client has sent
 * them.
 */
#define NGX_SYMBOLICATE_BATCH  (256 * 1024)

/* Maximum length of a line. */
#define NGX_SYMBOLICATE_LINE   (4 * 1024 * 1024)

/* Initial size of the buffer. */
#define NGX_SYMBOLICATE_LINES  (16 * 1024)

/* Bytes that are copied or inflated in one step. */
#define NGX_SYMBOLICATE_GULP   (32 * 1024)


struct ngx_http_symbolicate_bulk_s {
    ngx_chain_t           *in;          /* the part of the body that is not read
                                         * yet */

    u_char                *start;       /* buffer; charged to the task */
    u_char                *next;        /* start of the lines without an
                                         * answer */
    u_char                *whole;       /* end of the last complete line */
    u_char                *last;
    u_char                *end;

    ngx_pool_t            *pool;        /* pool of the batch; NULL: none */
    sym_request_stats_t    stats;       /* statistics of earlier batches */

    z_stream               zs;
    unsigned               begun:1;
    unsigned               gzip:1;
    unsigned               complete:1;  /* zs is at the end of a member */
    unsigned               eof:1;       /* the complete body was read */
    unsigned               parsed:1;    /* the batch */
};


static void ngx_http_symbolicate_bulk_body(ngx_http_request_t *r);
static void ngx_http_symbolicate_bulk_event(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_bulk_begin(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_bulk_read(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_bulk_more(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_bulk_room(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_bulk_take(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_bulk_fail(
    ngx_http_symbolicate_lookup_t *lookup, ngx_uint_t status);
static void ngx_http_symbolicate_bulk_drop(
    ngx_http_symbolicate_lookup_t *lookup);


ngx_int_t
ngx_http_symbolicate_bulk_start(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                     rc;
    ngx_http_request_t           *r;
    ngx_http_symbolicate_bulk_t  *bulk;

    r = lookup->task.request;

    bulk = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_bulk_t));
    if (bulk == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    lookup->bulk = bulk;
    lookup->task.step = ngx_http_symbolicate_step_run;

    r->request_body_no_buffering = 1;

    rc = ngx_http_read_client_request_body(r, ngx_http_symbolicate_bulk_body);

    return (rc >= NGX_HTTP_SPECIAL_RESPONSE) ? rc : NGX_DONE;
}


static void
ngx_http_symbolicate_bulk_body(ngx_http_request_t *r)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    /* a subrequest for an included page has no body */

    if (r->request_body == NULL) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    r->write_event_handler = ngx_http_request_empty_handler;

    ngx_http_symbolicate_task_run(ctx->task);
}


static void
ngx_http_symbolicate_bulk_event(ngx_http_request_t *r)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    r->read_event_handler = ngx_http_block_reading;

    if (!ctx->task->turn.queued) {
        ngx_http_symbolicate_task_run(ctx->task);
    }
}


ngx_int_t
ngx_http_symbolicate_bulk_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                       rc;
    ngx_http_symbolicate_bulk_t    *bulk;
    ngx_http_symbolicate_lookup_t  *lookup;

    lookup = (ngx_http_symbolicate_lookup_t *) task;
    bulk = lookup->bulk;

    /* output of earlier batches needs no write event */

    task->request->write_event_handler = ngx_http_request_empty_handler;

    if (bulk->pool == NULL) {
        rc = ngx_http_symbolicate_bulk_read(lookup);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (!bulk->parsed) {
        rc = ngx_http_symbolicate_parse_step(task);

        if (rc != NGX_OK) {
            return rc;
        }

        bulk->parsed = 1;
    }

    rc = ngx_http_symbolicate_answer_step(task);

    if (rc != NGX_OK || !task->complete) {
        return rc;
    }

    ngx_http_symbolicate_bulk_drop(lookup);

    if (bulk->eof) {
        return NGX_OK;
    }

    task->complete = 0;

    if (task->out.before == 0) {
        ngx_http_symbolicate_output_restart(task);
        return NGX_AGAIN;
    }

    task->last->buf->last_buf = 0;
    task->last->buf->last_in_chain = 0;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_bulk_begin(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                     rc;
    ngx_http_symbolicate_bulk_t  *bulk;

    bulk = lookup->bulk;
    bulk->begun = 1;

    rc = ngx_http_symbolicate_check_encoding(&lookup->task);

    if (rc == NGX_AGAIN) {
        rc = ngx_http_symbolicate_inflate_begin(&lookup->task, &bulk->zs);
        bulk->gzip = (rc == NGX_OK);
    }

    return rc;
}


/* Sets the batch: complete lines, or the rest of the body. */
static ngx_int_t
ngx_http_symbolicate_bulk_read(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                     rc;
    ngx_http_request_t           *r;
    ngx_http_symbolicate_bulk_t  *bulk;

    r = lookup->task.request;
    bulk = lookup->bulk;

    if (!bulk->begun && ngx_http_symbolicate_bulk_begin(lookup) != NGX_OK) {
        return NGX_ERROR;
    }

    do {
        rc = bulk->eof ? NGX_DONE : ngx_http_symbolicate_bulk_more(lookup);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

    } while (rc == NGX_OK && bulk->whole - bulk->next < NGX_SYMBOLICATE_BATCH);

    if (rc == NGX_DONE) {
        bulk->eof = 1;
        bulk->whole = bulk->last;

    } else if (bulk->whole == bulk->next) {

        if (rc == NGX_OK) {
            return NGX_AGAIN;
        }

        r->read_event_handler = ngx_http_symbolicate_bulk_event;
        return NGX_DONE;
    }

    /* no read timeout while the client's lines are answered */

    if (r->connection->read->timer_set) {
        ngx_del_timer(r->connection->read);
    }

    bulk->pool = ngx_create_pool(NGX_DEFAULT_POOL_SIZE, r->connection->log);
    if (bulk->pool == NULL) {
        return NGX_ERROR;
    }

    lookup->pool = bulk->pool;
    lookup->task.body = sym_str((char *) bulk->next, bulk->whole - bulk->next);
    lookup->task.out.before = 0;

    return NGX_OK;
}


/*
 * Reads more of the body.  NGX_OK; NGX_AGAIN: the client has not sent more yet;
 * NGX_DONE: the body has ended; NGX_ERROR: failed.
 */
static ngx_int_t
ngx_http_symbolicate_bulk_more(ngx_http_symbolicate_lookup_t *lookup)
{
    u_char                       *p;
    ngx_int_t                     rc;
    ngx_chain_t                  *cl;
    ngx_http_request_t           *r;
    ngx_http_symbolicate_bulk_t  *bulk;

    r = lookup->task.request;
    bulk = lookup->bulk;

    while (bulk->in && ngx_buf_size(bulk->in->buf) == 0) {
        cl = bulk->in;
        bulk->in = cl->next;
        ngx_free_chain(r->pool, cl);
    }

    if (bulk->in == NULL && r->request_body->bufs == NULL && r->reading_body) {
        rc = ngx_http_read_unbuffered_request_body(r);

        if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
            return ngx_http_symbolicate_bulk_fail(lookup, rc);
        }

        if (r->request_body->bufs == NULL && r->reading_body) {
            return NGX_AGAIN;
        }
    }

    if (bulk->in == NULL) {
        bulk->in = r->request_body->bufs;
        r->request_body->bufs = NULL;
    }

    if (bulk->in == NULL) {
        return (!bulk->gzip || bulk->complete)
               ? NGX_DONE
               : ngx_http_symbolicate_bulk_fail(lookup, NGX_HTTP_BAD_REQUEST);
    }

    if (ngx_buf_size(bulk->in->buf) == 0) {
        return NGX_OK;
    }

    rc = ngx_http_symbolicate_bulk_room(lookup);

    if (rc != NGX_OK) {
        return rc;
    }

    p = bulk->last;

    rc = ngx_http_symbolicate_bulk_take(lookup);

    if (rc == NGX_OK) {
        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              bulk->last - p);

        while (p < bulk->last) {
            p = ngx_strlchr(p, bulk->last, '\n');
            if (p == NULL) {
                break;
            }
            bulk->whole = ++p;
        }
    }

    return rc;
}


/* Makes room in the buffer. */
static ngx_int_t
ngx_http_symbolicate_bulk_room(ngx_http_symbolicate_lookup_t *lookup)
{
    u_char                       *p;
    size_t                        size, used, whole;
    ngx_http_symbolicate_bulk_t  *bulk;

    bulk = lookup->bulk;

    if (bulk->last < bulk->end) {
        return NGX_OK;
    }

    used = bulk->last - bulk->next;
    whole = bulk->whole - bulk->next;

    if (bulk->next > bulk->start) {
        ngx_memmove(bulk->start, bulk->next, used);

    } else {
        size = ngx_max(2 * used, NGX_SYMBOLICATE_LINES);

        if (used >= NGX_SYMBOLICATE_LINE) {
            ngx_log_error(NGX_LOG_ERR, lookup->task.request->connection->log, 0,
                          "symbolicate: a line of a bulk request is longer "
                          "than %d bytes", NGX_SYMBOLICATE_LINE);

            return ngx_http_symbolicate_bulk_fail(lookup,
                                             NGX_HTTP_REQUEST_ENTITY_TOO_LARGE);
        }

        if (!sym_account_charge(&lookup->task.memory, size - used)) {
            return ngx_http_symbolicate_fail_memory(&lookup->task);
        }

        p = realloc(bulk->start, size);
        if (p == NULL) {
            sym_account_give(&lookup->task.memory, size - used);
            return NGX_ERROR;
        }

        bulk->start = p;
        bulk->end = p + size;
    }

    bulk->next = bulk->start;
    bulk->last = bulk->start + used;
    bulk->whole = bulk->start + whole;

    return NGX_OK;
}


/* Copies or inflates the available input into the free part of the buffer. */
static ngx_int_t
ngx_http_symbolicate_bulk_take(ngx_http_symbolicate_lookup_t *lookup)
{
    int                           rc;
    size_t                        room;
    ngx_buf_t                    *b;
    ngx_http_symbolicate_bulk_t  *bulk;

    bulk = lookup->bulk;
    b = bulk->in->buf;
    room = ngx_min(bulk->end - bulk->last, NGX_SYMBOLICATE_GULP);

    if (!bulk->gzip) {
        room = ngx_min(room, (size_t) (b->last - b->pos));
        bulk->last = ngx_cpymem(bulk->last, b->pos, room);
        b->pos += room;

        return NGX_OK;
    }

    if (bulk->complete) {

        /* RFC 1952, section 2.2: another member may follow */

        (void) inflateReset(&bulk->zs);
        bulk->complete = 0;
    }

    bulk->zs.next_in = b->pos;
    bulk->zs.avail_in = (uInt) (b->last - b->pos);
    bulk->zs.next_out = bulk->last;
    bulk->zs.avail_out = (uInt) room;

    rc = inflate(&bulk->zs, Z_NO_FLUSH);

    b->pos = bulk->zs.next_in;
    bulk->last = bulk->zs.next_out;
    bulk->complete = (rc == Z_STREAM_END);

    return (rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_STREAM_END)
           ? NGX_OK
           : ngx_http_symbolicate_bulk_fail(lookup, NGX_HTTP_BAD_REQUEST);
}


static ngx_int_t
ngx_http_symbolicate_bulk_fail(ngx_http_symbolicate_lookup_t *lookup,
    ngx_uint_t status)
{
    switch (status) {

    case NGX_HTTP_REQUEST_ENTITY_TOO_LARGE:
        return ngx_http_symbolicate_fail(&lookup->task, status,
                                     SYM_STR("413 Request Entity Too Large"),
                                     NULL);

    case NGX_HTTP_REQUEST_TIME_OUT:
        return NGX_ERROR;           /* nginx closes the connection */

    case NGX_HTTP_BAD_REQUEST:
        return ngx_http_symbolicate_fail(&lookup->task, status,
                                     SYM_STR("400 Bad Request"),
                                     "the body is cut short or damaged");

    default:
        return ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_INTERNAL_SERVER_ERROR,
                                     SYM_STR("500 Internal Server Error"),
                                     NULL);
    }
}


/* Handles the end of a batch's answer. */
static void
ngx_http_symbolicate_bulk_drop(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_bulk_t  *bulk;

    bulk = lookup->bulk;

    sym_request_stats_add(&bulk->stats, lookup->stats);
    *lookup->stats = bulk->stats;

    ngx_http_symbolicate_missing_end(lookup);
    lookup->missing = NULL;
    lookup->restarts = 0;
    lookup->pool = NULL;

    ngx_destroy_pool(bulk->pool);
    bulk->pool = NULL;
    bulk->parsed = 0;
    bulk->next = bulk->whole;
}


void
ngx_http_symbolicate_bulk_end(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_bulk_t  *bulk;

    bulk = lookup->bulk;

    if (bulk == NULL) {
        return;
    }

    if (bulk->gzip) {
        ngx_http_symbolicate_inflate_end(&lookup->task, &bulk->zs);
        bulk->gzip = 0;
    }

    if (bulk->pool) {
        ngx_destroy_pool(bulk->pool);
        bulk->pool = NULL;
    }

    sym_account_give(&lookup->task.memory, bulk->end - bulk->start);
    free(bulk->start);

    bulk->start = NULL;
    bulk->next = NULL;
    bulk->whole = NULL;
    bulk->last = NULL;
    bulk->end = NULL;
}
