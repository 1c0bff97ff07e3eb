
/*
 * ngx_http_symbolicate_index.c - what the index of a symstore says it has.
 *
 * lastid.txt has the number of the last text, the texts 0000000001 to that one
 * list the files.  A text does not change once it is there, so only new ones
 * are read later.  An index of which a part cannot be read lists nothing, but
 * one that was whole before stays.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/index.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "fetch/ngx_http_symbolicate_background.h"
#include "fetch/ngx_http_symbolicate_index.h"


#define NGX_SYMBOLICATE_INDEX_FOLDER  "000Admin/"
#define NGX_SYMBOLICATE_INDEX_LAST    "lastid.txt"

#define NGX_SYMBOLICATE_INDEX_GOOD    86400     /* seconds */
#define NGX_SYMBOLICATE_INDEX_BAD     600

#define NGX_SYMBOLICATE_INDEX_TABLE   (64 * 1024 * 1024)    /* of a source */
#define NGX_SYMBOLICATE_INDEX_BYTES   (256 * 1024 * 1024)   /* of one text */


struct ngx_http_symbolicate_index_s {
    ngx_http_symbolicate_source_t      *source;
    ngx_http_conf_ctx_t                *server;
    sym_source_index_t                  files;
    ngx_queue_t                         waiters;
    time_t                              expires;

    ngx_uint_t                          n;      /* texts that were read */
    unsigned                            last;

    /* the text that is asked for */
    ngx_http_symbolicate_background_t  *bg;     /* NULL: none */
    ngx_uint_t                          text;   /* 0: lastid.txt */
    ngx_uint_t                          status;
    off_t                               received;
    u_char                              start[NGX_INT64_LEN];
    const char                         *trouble;

    unsigned                            whole:1;  /* all texts were read once */
    unsigned                            tried:1;
};


static ngx_int_t ngx_http_symbolicate_index_ask(
    ngx_http_symbolicate_index_t *index, ngx_uint_t text);
static void ngx_http_symbolicate_index_end(ngx_http_symbolicate_index_t *index,
    const char *trouble);
static ngx_int_t ngx_http_symbolicate_index_header(void *data,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_index_body(void *data,
    ngx_http_request_t *r, ngx_chain_t *in);
static void ngx_http_symbolicate_index_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_index_events = {
    ngx_http_symbolicate_index_header,
    ngx_http_symbolicate_index_body,
    NULL,
    ngx_http_symbolicate_index_done
};

static ngx_str_t  ngx_http_symbolicate_index_get = ngx_string("GET");


static ngx_http_symbolicate_index_t *
ngx_http_symbolicate_index_create(ngx_http_symbolicate_source_t *source,
    ngx_http_conf_ctx_t *server)
{
    ngx_http_symbolicate_index_t  *index;

    index = ngx_calloc(sizeof(ngx_http_symbolicate_index_t), ngx_cycle->log);
    if (index == NULL) {
        return NULL;
    }

    index->source = source;
    index->server = server;
    ngx_queue_init(&index->waiters);
    sym_source_index_begin(&index->files, NGX_SYMBOLICATE_INDEX_TABLE);

    source->index = index;

    return index;
}


ngx_int_t
ngx_http_symbolicate_index_wait(ngx_http_symbolicate_source_t *source,
    ngx_http_conf_ctx_t *server, ngx_http_symbolicate_index_waiter_t *waiter)
{
    ngx_http_symbolicate_index_t  *index;

    if (!source->has_index) {
        return NGX_OK;
    }

    index = source->index;

    if (index == NULL) {
        index = ngx_http_symbolicate_index_create(source, server);
        if (index == NULL) {
            return NGX_OK;
        }
    }

    if (index->bg == NULL && (!index->tried || ngx_time() >= index->expires)
        && ngx_http_symbolicate_index_ask(index, 0) != NGX_OK)
    {
        ngx_http_symbolicate_index_end(index, "out of memory");
    }

    if (index->bg == NULL || index->whole) {
        return NGX_OK;
    }

    ngx_queue_insert_tail(&index->waiters, &waiter->queue);

    return NGX_AGAIN;
}


void
ngx_http_symbolicate_index_leave(ngx_http_symbolicate_index_waiter_t *waiter)
{
    if (waiter->queue.next) {
        ngx_queue_remove(&waiter->queue);
        waiter->queue.next = NULL;
    }
}


ngx_uint_t
ngx_http_symbolicate_index_has(ngx_http_symbolicate_source_t *source,
    sym_str_t path)
{
    return !source->has_index
           || (source->index && source->index->whole
               && sym_source_index_has(&source->index->files, path));
}


static ngx_int_t
ngx_http_symbolicate_index_ask(ngx_http_symbolicate_index_t *index,
    ngx_uint_t text)
{
    u_char     *p;
    ngx_str_t   uri;

    static ngx_str_t  none = ngx_null_string;

    if (index->bg) {
        (void) ngx_http_symbolicate_background_free(index->bg);
    }

    index->text = text;
    index->status = 0;
    index->received = 0;
    index->trouble = NULL;
    index->files.line_len = 0;

    index->bg = ngx_http_symbolicate_background_create(index->server,
                                           &ngx_http_symbolicate_index_events,
                                           index);
    if (index->bg == NULL) {
        return NGX_ERROR;
    }

    uri.len = index->source->uri.len
              + sizeof(NGX_SYMBOLICATE_INDEX_FOLDER) - 1
              + (text ? SYM_INDEX_NAME_LEN
                      : sizeof(NGX_SYMBOLICATE_INDEX_LAST) - 1);

    uri.data = ngx_pnalloc(ngx_http_symbolicate_background_pool(index->bg),
                           uri.len);
    if (uri.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(uri.data, index->source->uri.data, index->source->uri.len);
    p = ngx_cpymem(p, NGX_SYMBOLICATE_INDEX_FOLDER,
                   sizeof(NGX_SYMBOLICATE_INDEX_FOLDER) - 1);

    if (text) {
        (void) ngx_sprintf(p, "%010ui", text);

    } else {
        ngx_memcpy(p, NGX_SYMBOLICATE_INDEX_LAST,
                   sizeof(NGX_SYMBOLICATE_INDEX_LAST) - 1);
    }

    return ngx_http_symbolicate_background_start(index->bg, NGX_HTTP_GET,
                                               &ngx_http_symbolicate_index_get,
                                               &uri, &none);
}


/* NULL: all texts have been read. */
static void
ngx_http_symbolicate_index_end(ngx_http_symbolicate_index_t *index,
    const char *trouble)
{
    ngx_queue_t                          *q;
    ngx_http_symbolicate_index_waiter_t  *waiter;

    if (index->bg) {
        (void) ngx_http_symbolicate_background_free(index->bg);
        index->bg = NULL;
    }

    index->tried = 1;

    if (trouble) {
        index->expires = ngx_time() + NGX_SYMBOLICATE_INDEX_BAD;

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "index of symbol source \"%V\": text %ui: %s, status %ui",
                      &index->source->name, index->text, trouble,
                      index->status);

    } else {
        index->whole = 1;
        index->expires = ngx_time() + NGX_SYMBOLICATE_INDEX_GOOD;
    }

    while (!ngx_queue_empty(&index->waiters)) {
        q = ngx_queue_head(&index->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_index_waiter_t, queue);

        ngx_http_symbolicate_index_leave(waiter);
        ngx_post_event(waiter->ready, &ngx_posted_events);
    }
}


static ngx_int_t
ngx_http_symbolicate_index_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_index_t *index = data;

    index->status = r->headers_out.status;
    r->filter_need_in_memory = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_index_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_index_t *index = data;

    size_t      len;
    ngx_buf_t  *b;

    if (index->status != NGX_HTTP_OK) {
        return NGX_OK;
    }

    for ( ; in; in = in->next) {
        b = in->buf;

        if (!ngx_buf_in_memory(b)) {
            continue;
        }

        len = b->last - b->pos;

        if (index->text == 0) {

            if (len > sizeof(index->start) - (size_t) index->received) {
                index->trouble = "it is too long";
                return NGX_ERROR;
            }

            ngx_memcpy(index->start + index->received, b->pos, len);

        } else if (index->received + (off_t) len > NGX_SYMBOLICATE_INDEX_BYTES
                   || sym_source_index_feed(&index->files,
                                            sym_str((char *) b->pos, len))
                      != SYM_OK)
        {
            index->trouble = "it is too long";
            return NGX_ERROR;
        }

        index->received += len;
    }

    return NGX_OK;
}


static void
ngx_http_symbolicate_index_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_index_t *index = data;

    if (index->trouble == NULL
        && (index->status != NGX_HTTP_OK || !is_whole))
    {
        index->trouble = "it could not be read";
    }

    if (index->trouble == NULL && index->text == 0
        && !sym_source_index_last(sym_str((char *) index->start,
                                          (size_t) index->received),
                                  &index->last))
    {
        index->trouble = "it has no number, or one above 10000";
    }

    if (index->trouble == NULL && index->text
        && sym_source_index_end(&index->files) != SYM_OK)
    {
        index->trouble = "it is too long";
    }

    if (index->trouble) {
        ngx_http_symbolicate_index_end(index, index->trouble);
        return;
    }

    if (index->text) {
        index->n = index->text;
    }

    if (index->n >= index->last) {
        ngx_http_symbolicate_index_end(index, NULL);
        return;
    }

    if (ngx_http_symbolicate_index_ask(index, index->n + 1) != NGX_OK) {
        ngx_http_symbolicate_index_end(index, "out of memory");
    }
}
