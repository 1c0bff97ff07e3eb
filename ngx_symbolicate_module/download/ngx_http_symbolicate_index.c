
/*
 * ngx_http_symbolicate_index.c - reads the index of a symstore, the list of its
 * files.
 *
 * lastid.txt contains the number of the last text; the texts from 0000000001 to
 * that one list the files.  An existing text never changes, so only new ones
 * are read later.  If a part is unreadable, the index lists nothing, but an
 * earlier complete version stays in use.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/paths/index.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_index.h"


#define NGX_SYMBOLICATE_INDEX_FOLDER  "000Admin/"
#define NGX_SYMBOLICATE_INDEX_LAST    "lastid.txt"

#define NGX_SYMBOLICATE_INDEX_GOOD    86400     /* seconds */
#define NGX_SYMBOLICATE_INDEX_BAD     600

#define NGX_SYMBOLICATE_INDEX_TABLE   (64 * 1024 * 1024)    /* for one source */
#define NGX_SYMBOLICATE_INDEX_BYTES   (256 * 1024 * 1024)   /* for one text */

/*
 * Limits for request sources: number of indexes that a worker keeps although no
 * download uses them (those in use cannot exceed the number of downloads),
 * memory of all, memory of one, size of a text, and time to read an index.
 */
#define NGX_SYMBOLICATE_INDEX_REQUESTS   64
#define NGX_SYMBOLICATE_REQUEST_SOURCE_ROOM    (64 * 1024 * 1024)
#define NGX_SYMBOLICATE_REQUEST_SOURCE_TABLE   (16 * 1024 * 1024)
#define NGX_SYMBOLICATE_REQUEST_SOURCE_BYTES   (8 * 1024 * 1024)
#define NGX_SYMBOLICATE_REQUEST_SOURCE_TIME    600       /* seconds */

#define NGX_SYMBOLICATE_INDEX_FULL    10        /* seconds */

/* Number of bytes of a text that are read in one turn of the event loop. */
#define NGX_SYMBOLICATE_INDEX_PIECE   65536


struct ngx_http_symbolicate_index_s {
    ngx_http_symbolicate_source_t      *source;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    sym_source_index_t                  files;
    ngx_queue_t                         waiters;
    time_t                              expires;

    ngx_uint_t                          n;      /* number of texts read */
    unsigned                            last;

    /* the text that is being requested */
    ngx_http_symbolicate_background_t  *bg;     /* NULL: none */
    ngx_uint_t                          text;   /* number of the text; 0:
                                                 * lastid.txt */
    ngx_uint_t                          status;
    off_t                               received;
    u_char                              start[NGX_INT64_LEN];
    const char                         *trouble;

    /* for a request source, which is kept while its index is read */
    ngx_queue_t                         queue;  /* of all indexes */
    ngx_queue_t                         turn;   /* next is NULL: not queued */
    const ngx_http_symbolicate_index_reader_t  *reader;
    ngx_http_symbolicate_fetch_t       *fetch;  /* NULL: none */
    time_t                              began;
    u_char                              scope[SYM_REQUEST_SOURCE_SCOPE_LEN];
    ngx_uint_t                          nrefs;  /* number of fetches that use
                                                 * it */

    unsigned                            whole:1;  /* all texts have been read
                                                   * once */
    unsigned                            tried:1;
    unsigned                            full:1;   /* there was no room for it
                                                   * last time */
};


static ngx_int_t ngx_http_symbolicate_index_ask(
    ngx_http_symbolicate_index_t *index, ngx_uint_t text);
static ngx_int_t ngx_http_symbolicate_index_ask_request_sources(
    ngx_http_symbolicate_index_t *index, sym_str_t path);
static void ngx_http_symbolicate_index_read(
    ngx_http_symbolicate_index_t *index);
static void ngx_http_symbolicate_index_more(void *data, off_t bytes);
static void ngx_http_symbolicate_index_tick(void *data);
static void ngx_http_symbolicate_index_fetched(void *data);
static void ngx_http_symbolicate_index_enqueue(
    ngx_http_symbolicate_index_t *index);
static void ngx_http_symbolicate_index_turn(ngx_event_t *ev);
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

static ngx_http_symbolicate_fetch_events_t
    ngx_http_symbolicate_index_fetch_events =
{
    ngx_http_symbolicate_index_more,
    ngx_http_symbolicate_index_tick,
    ngx_http_symbolicate_index_fetched
};

static ngx_str_t  ngx_http_symbolicate_index_get = ngx_string("GET");

/* Indexes of request sources; the most recently used is last. */
static ngx_queue_t  ngx_http_symbolicate_indexes;
static ngx_uint_t   ngx_http_symbolicate_nindexes;
static sym_source_index_room_t  ngx_http_symbolicate_index_room = {
    .max_bytes = NGX_SYMBOLICATE_REQUEST_SOURCE_ROOM
};

/* Indexes with unread text.  Each turn of the event loop reads more of one. */
static ngx_queue_t  ngx_http_symbolicate_index_turns;
static ngx_event_t  ngx_http_symbolicate_index_turn_event;


static void
ngx_http_symbolicate_index_dequeue(ngx_http_symbolicate_index_t *index)
{
    if (index->turn.next) {
        ngx_queue_remove(&index->turn);
        index->turn.next = NULL;
    }
}


static ngx_uint_t
ngx_http_symbolicate_index_is_read(ngx_http_symbolicate_index_t *index)
{
    return index->bg || index->fetch;
}


static ngx_http_symbolicate_index_t *
ngx_http_symbolicate_index_of(ngx_http_symbolicate_source_t *source)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_index_t  *index;

    if (source->request_source == NULL) {
        return source->index;
    }

    if (ngx_http_symbolicate_indexes.next == NULL) {
        ngx_queue_init(&ngx_http_symbolicate_indexes);
        ngx_queue_init(&ngx_http_symbolicate_index_turns);
        ngx_http_symbolicate_index_turn_event.handler =
                                               ngx_http_symbolicate_index_turn;
    }

    for (q = ngx_queue_last(&ngx_http_symbolicate_indexes);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_indexes);
         q = ngx_queue_prev(q))
    {
        index = ngx_queue_data(q, ngx_http_symbolicate_index_t, queue);

        if (ngx_memcmp(index->scope, source->name.data,
                       SYM_REQUEST_SOURCE_SCOPE_LEN)
            == 0)
        {
            ngx_queue_remove(q);
            ngx_queue_insert_tail(&ngx_http_symbolicate_indexes, q);
            return index;
        }
    }

    return NULL;
}


/* Drops the least recently used index.  NGX_DECLINED: all are in use. */
static ngx_int_t
ngx_http_symbolicate_index_evict(void)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_index_t  *index;

    for (q = ngx_queue_head(&ngx_http_symbolicate_indexes);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_indexes);
         q = ngx_queue_next(q))
    {
        index = ngx_queue_data(q, ngx_http_symbolicate_index_t, queue);

        if (index->nrefs == 0 && !ngx_http_symbolicate_index_is_read(index)) {
            ngx_queue_remove(q);
            ngx_http_symbolicate_nindexes--;
            sym_source_index_free(&index->files);
            ngx_free(index);
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


static ngx_http_symbolicate_index_t *
ngx_http_symbolicate_index_create(ngx_http_symbolicate_source_t *source,
    ngx_http_symbolicate_fetch_policy_t *policy)
{
    ngx_http_symbolicate_index_t  *index;

    if (source->request_source
        && ngx_http_symbolicate_nindexes >= NGX_SYMBOLICATE_INDEX_REQUESTS)
    {
        (void) ngx_http_symbolicate_index_evict();
    }

    index = ngx_calloc(sizeof(ngx_http_symbolicate_index_t), ngx_cycle->log);
    if (index == NULL) {
        return NULL;
    }

    ngx_queue_init(&index->waiters);

    if (source->request_source) {
        ngx_memcpy(index->scope, source->name.data,
                   SYM_REQUEST_SOURCE_SCOPE_LEN);
        sym_source_index_begin(&index->files,
                               NGX_SYMBOLICATE_REQUEST_SOURCE_TABLE,
                               &ngx_http_symbolicate_index_room);
        ngx_queue_insert_tail(&ngx_http_symbolicate_indexes, &index->queue);
        ngx_http_symbolicate_nindexes++;

    } else {
        index->source = source;
        index->policy = policy;
        sym_source_index_begin(&index->files, NGX_SYMBOLICATE_INDEX_TABLE,
                               NULL);
        source->index = index;
    }

    return index;
}


/* Begins to read an index; lastid.txt is first. */
static void
ngx_http_symbolicate_index_start(ngx_http_symbolicate_index_t *index,
    ngx_http_symbolicate_source_t *source,
    ngx_http_symbolicate_fetch_policy_t *policy)
{
    if (source->request_source) {
        index->source = source;
        index->policy = policy;
        index->began = ngx_time();
        index->full = 0;
        policy->hold(policy->request_sources);
    }

    if (ngx_http_symbolicate_index_ask(index, 0) != NGX_OK) {
        ngx_http_symbolicate_index_end(index, "out of memory");
    }
}


ngx_int_t
ngx_http_symbolicate_index_wait(ngx_http_symbolicate_source_t *source,
    ngx_http_symbolicate_fetch_policy_t *policy,
    const ngx_http_symbolicate_index_reader_t *reader,
    ngx_http_symbolicate_index_waiter_t *waiter)
{
    ngx_http_symbolicate_index_t  *index;

    if (!source->has_index) {
        return NGX_OK;
    }

    index = ngx_http_symbolicate_index_of(source);

    if (index == NULL) {
        index = ngx_http_symbolicate_index_create(source, policy);
        if (index == NULL) {
            return NGX_BUSY;
        }
    }

    if (source->request_source && waiter->index == NULL) {
        waiter->index = index;
        index->nrefs++;
    }

    if (!ngx_http_symbolicate_index_is_read(index)
        && (!index->tried || ngx_time() >= index->expires))
    {
        index->reader = reader;
        ngx_http_symbolicate_index_start(index, source, policy);
    }

    if (index->whole) {
        return NGX_OK;
    }

    if (!ngx_http_symbolicate_index_is_read(index)) {
        return index->full ? NGX_BUSY : NGX_OK;
    }

    ngx_queue_insert_tail(&index->waiters, &waiter->queue);

    return NGX_AGAIN;
}


/*
 * Stops reading the index of a request source when no download waits for it, so
 * at most as many indexes are read as there are downloads.  Texts that were
 * read are not read again.
 */
static void
ngx_http_symbolicate_index_stop(ngx_http_symbolicate_index_t *index)
{
    if (index->nrefs || index->whole || index->fetch == NULL
        || index->reader->free(index->fetch) != NGX_OK)
    {
        return;
    }

    index->fetch = NULL;
    ngx_http_symbolicate_index_dequeue(index);

    index->policy->release(index->policy->request_sources);
    index->source = NULL;
    index->policy = NULL;
}


static void
ngx_http_symbolicate_index_unqueue(ngx_http_symbolicate_index_waiter_t *waiter)
{
    if (waiter->queue.next) {
        ngx_queue_remove(&waiter->queue);
        waiter->queue.next = NULL;
    }
}


void
ngx_http_symbolicate_index_leave(ngx_http_symbolicate_index_waiter_t *waiter)
{
    ngx_http_symbolicate_index_unqueue(waiter);

    if (waiter->index) {
        waiter->index->nrefs--;
        ngx_http_symbolicate_index_stop(waiter->index);
        waiter->index = NULL;
    }
}


ngx_uint_t
ngx_http_symbolicate_index_has(ngx_http_symbolicate_source_t *source,
    sym_str_t path)
{
    ngx_http_symbolicate_index_t  *index;

    if (!source->has_index) {
        return 1;
    }

    index = ngx_http_symbolicate_index_of(source);

    return index && index->whole && sym_source_index_has(&index->files, path);
}


static void
ngx_http_symbolicate_index_free_text(ngx_http_symbolicate_index_t *index)
{
    ngx_http_symbolicate_index_dequeue(index);

    if (index->bg) {
        (void) ngx_http_symbolicate_background_free(index->bg);
        index->bg = NULL;
    }

    if (index->fetch) {
        (void) index->reader->free(index->fetch);
        index->fetch = NULL;
    }
}


static ngx_int_t
ngx_http_symbolicate_index_ask(ngx_http_symbolicate_index_t *index,
    ngx_uint_t text)
{
    u_char     *p;
    u_char      path[sizeof(NGX_SYMBOLICATE_INDEX_FOLDER)
                     + SYM_INDEX_NAME_LEN];
    ngx_str_t   uri;

    static ngx_str_t  none = ngx_null_string;

    ngx_http_symbolicate_index_free_text(index);

    index->text = text;
    index->status = 0;
    index->received = 0;
    index->trouble = NULL;
    index->files.line_len = 0;

    p = ngx_cpymem(path, NGX_SYMBOLICATE_INDEX_FOLDER,
                   sizeof(NGX_SYMBOLICATE_INDEX_FOLDER) - 1);
    p = text ? ngx_sprintf(p, "%010ui", text)
             : ngx_cpymem(p, NGX_SYMBOLICATE_INDEX_LAST,
                          sizeof(NGX_SYMBOLICATE_INDEX_LAST) - 1);

    if (index->source->request_source) {
        return ngx_http_symbolicate_index_ask_request_sources(index,
                                          sym_str((char *) path, p - path));
    }

    index->bg = ngx_http_symbolicate_background_create(index->policy->server,
                                           &ngx_http_symbolicate_index_events,
                                           index);
    if (index->bg == NULL) {
        return NGX_ERROR;
    }

    uri.len = index->source->uri.len + (p - path);

    uri.data = ngx_pnalloc(ngx_http_symbolicate_background_pool(index->bg),
                           uri.len);
    if (uri.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(uri.data, index->source->uri.data,
                          index->source->uri.len),
               path, p - path);

    return ngx_http_symbolicate_background_start(index->bg, NGX_HTTP_GET,
                                               &ngx_http_symbolicate_index_get,
                                               &uri, &none);
}


/* Requests a text as the source's type requires, into a file. */
static ngx_int_t
ngx_http_symbolicate_index_ask_request_sources(
    ngx_http_symbolicate_index_t *index,
    sym_str_t path)
{
    ngx_http_symbolicate_lease_t  lease;

    lease.bytes = NGX_SYMBOLICATE_REQUEST_SOURCE_BYTES;
    lease.whole = 1;

    index->fetch = index->reader->start(
                                      &ngx_http_symbolicate_index_fetch_events,
                                      index, index->policy, index->source,
                                      path, &lease);

    return index->fetch ? NGX_OK : NGX_ERROR;
}


/* Ends the reading of an index; trouble is NULL: all texts have been read. */
static void
ngx_http_symbolicate_index_end(ngx_http_symbolicate_index_t *index,
    const char *trouble)
{
    ngx_uint_t                            level;
    ngx_queue_t                          *q;
    ngx_http_symbolicate_index_waiter_t  *waiter;

    ngx_http_symbolicate_index_free_text(index);

    index->tried = 1;

    if (trouble) {
        index->expires = ngx_time()
                         + (index->full ? NGX_SYMBOLICATE_INDEX_FULL
                                        : NGX_SYMBOLICATE_INDEX_BAD);

        /* the administrator cannot fix clients' sources */

        level = index->source->request_source ? NGX_LOG_INFO : NGX_LOG_ERR;

        ngx_log_error(level, ngx_cycle->log, 0,
                      "index of symbol source \"%V\": text %ui: %s, status %ui",
                      &index->source->name, index->text, trouble,
                      index->status);

    } else {
        index->whole = 1;
        index->expires = ngx_time() + NGX_SYMBOLICATE_INDEX_GOOD;
    }

    if (index->source->request_source) {
        index->policy->release(index->policy->request_sources);
        index->source = NULL;
        index->policy = NULL;
    }

    while (!ngx_queue_empty(&index->waiters)) {
        q = ngx_queue_head(&index->waiters);
        waiter = ngx_queue_data(q, ngx_http_symbolicate_index_waiter_t, queue);

        ngx_http_symbolicate_index_unqueue(waiter);
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


/* Reads a piece of a text; empty: the text has ended. */
static ngx_int_t
ngx_http_symbolicate_index_feed(ngx_http_symbolicate_index_t *index,
    sym_str_t part)
{
    size_t        taken;
    sym_status_t  status;

    do {
        taken = 0;
        status = part.len ? sym_source_index_feed(&index->files, part, &taken)
                          : sym_source_index_end(&index->files);
        part = sym_str(part.data + taken, part.len - taken);

    } while (status == SYM_FULL
             && ngx_http_symbolicate_index_evict() == NGX_OK);

    if (status == SYM_OK) {
        return NGX_OK;
    }

    if (status == SYM_LIMIT) {
        index->trouble = "it is too long";
        return NGX_ERROR;
    }

    index->full = 1;
    index->trouble = status == SYM_FULL
                     ? "indexes of other sources take all room"
                     : "out of memory";

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_index_take(ngx_http_symbolicate_index_t *index,
    u_char *data, size_t len)
{
    if (index->text == 0) {

        if (len > sizeof(index->start) - (size_t) index->received) {
            index->trouble = "it is too long";
            return NGX_ERROR;
        }

        ngx_memcpy(index->start + index->received, data, len);

    } else if (index->received + (off_t) len > NGX_SYMBOLICATE_INDEX_BYTES) {
        index->trouble = "it is too long";
        return NGX_ERROR;

    } else if (len && ngx_http_symbolicate_index_feed(index,
                                                  sym_str((char *) data, len))
                      != NGX_OK)
    {
        return NGX_ERROR;
    }

    index->received += len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_index_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_index_t *index = data;

    ngx_buf_t  *b;

    if (index->status != NGX_HTTP_OK) {
        return NGX_OK;
    }

    for ( ; in; in = in->next) {
        b = in->buf;

        if (!ngx_buf_in_memory(b)) {
            continue;
        }

        if (ngx_http_symbolicate_index_take(index, b->pos, b->last - b->pos)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
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

    ngx_http_symbolicate_index_read(index);
}


/* Refuses a larger lease: a text never gets more than its first one. */
static void
ngx_http_symbolicate_index_more(void *data, off_t bytes)
{
    /* void */
}


static void
ngx_http_symbolicate_index_tick(void *data)
{
    /* void */
}


/* A text of a request source was fetched into a file. */
static void
ngx_http_symbolicate_index_fetched(void *data)
{
    ngx_http_symbolicate_index_t *index = data;

    ngx_http_symbolicate_fetch_result_t  *out;

    out = index->reader->result(index->fetch);
    index->status = out->status;

    if (ngx_time() - index->began > NGX_SYMBOLICATE_REQUEST_SOURCE_TIME) {
        index->trouble = "all took too long";

    } else if (out->length > NGX_SYMBOLICATE_REQUEST_SOURCE_BYTES) {
        index->trouble = "it is too long";

    } else if (out->state != SYM_MODULE_READY
               && (out->state != SYM_MODULE_ABSENT
                   || index->status != NGX_HTTP_OK))    /* an empty text */
    {
        index->trouble = "it could not be read";
    }

    ngx_http_symbolicate_index_enqueue(index);
}


static void
ngx_http_symbolicate_index_enqueue(ngx_http_symbolicate_index_t *index)
{
    ngx_queue_insert_tail(&ngx_http_symbolicate_index_turns, &index->turn);

    ngx_http_symbolicate_index_turn_event.log = ngx_cycle->log;
    ngx_post_event(&ngx_http_symbolicate_index_turn_event,
                   &ngx_posted_next_events);
}


/* Reads the next piece of a text; returns whether more is left. */
static ngx_uint_t
ngx_http_symbolicate_index_read_piece(ngx_http_symbolicate_index_t *index)
{
    ssize_t                               n;
    static u_char                         piece[NGX_SYMBOLICATE_INDEX_PIECE];
    ngx_http_symbolicate_fetch_result_t  *out;

    out = index->reader->result(index->fetch);

    if (index->trouble || out->state != SYM_MODULE_READY
        || index->received >= out->length)
    {
        return 0;
    }

    n = pread(out->fd, piece, ngx_min(NGX_SYMBOLICATE_INDEX_PIECE,
                                      out->length - index->received),
              out->offset + index->received);

    if (n <= 0) {
        index->trouble = "it could not be read";
        return 0;
    }

    return ngx_http_symbolicate_index_take(index, piece, n) == NGX_OK
           && index->received < out->length;
}


/* Reads one piece per turn, from the indexes in rotation. */
static void
ngx_http_symbolicate_index_turn(ngx_event_t *ev)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_index_t  *index;

    if (ngx_queue_empty(&ngx_http_symbolicate_index_turns)) {
        return;
    }

    q = ngx_queue_head(&ngx_http_symbolicate_index_turns);
    index = ngx_queue_data(q, ngx_http_symbolicate_index_t, turn);

    ngx_http_symbolicate_index_dequeue(index);

    if (ngx_http_symbolicate_index_read_piece(index)) {
        ngx_http_symbolicate_index_enqueue(index);

    } else {
        ngx_http_symbolicate_index_read(index);
    }

    if (!ngx_queue_empty(&ngx_http_symbolicate_index_turns)) {
        ngx_post_event(ev, &ngx_posted_next_events);
    }
}


/* Handles a text that has been read, or could not be. */
static void
ngx_http_symbolicate_index_read(ngx_http_symbolicate_index_t *index)
{
    if (index->trouble == NULL && index->text == 0
        && !sym_source_index_last(sym_str((char *) index->start,
                                          (size_t) index->received),
                                  &index->last))
    {
        index->trouble = "it has no number, or one above 10000";
    }

    if (index->trouble == NULL && index->text) {
        (void) ngx_http_symbolicate_index_feed(index, SYM_STR(""));
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
