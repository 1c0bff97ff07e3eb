
/*
 * ngx_http_symbolicate_publish.c - puts artifacts that this node has made into
 * the bucket of its fleet.
 *
 * The loader writes all artifacts of a source's file to a file, and the worker
 * sends that through the bucket's location, which signs it.  If the object in
 * the bucket lacks an artifact, the worker adds it: both files are packed by
 * zstd, so they can be put together as they are.  Nobody waits for it: what is
 * not published is made again by the next node that needs it and reaches no
 * node that has it.  So while the bucket fails, artifacts wait for it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/hex.h"
#include "share/key.h"

#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_s3.h"
#include "rpc/ngx_http_symbolicate_rpc.h"
#include "share/ngx_http_symbolicate_publish.h"


/*
 * Numbers of files of this worker whose artifacts are published at a time, and
 * that wait for it.
 */
#define NGX_SYMBOLICATE_PUBLISHING       4
#define NGX_SYMBOLICATE_PUBLISH_WAITING  1024

/* Time for which a file's artifacts wait for a bucket that fails. */
#define NGX_SYMBOLICATE_PUBLISH_AGE      (10 * 60 * 1000)


struct ngx_http_symbolicate_publish_s {
    ngx_http_symbolicate_rpc_t            rpc;
    ngx_queue_t                           queue;
    ngx_http_symbolicate_loader_t        *loader;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_source_t        *source;
    sym_kind_t                            joins;  /* kind that the object in
                                                   * the bucket lacks; 0:
                                                   * there is no object */
    ngx_uint_t                            replaces;
    ngx_msec_t                            created;
    ngx_fd_t                              fd;     /* the file to send; -1: it
                                                   * is not made yet */
    off_t                                 length;
    off_t                                 more;   /* bytes that may be added to
                                                   * it */
    uint32_t                              ticket; /* of that file; 0: none */
    sym_object_ref_t                      ref;    /* with views of bytes */
    sym_str_t                             path;
    char                                  bytes[1];
};


static void ngx_http_symbolicate_publish_begin(
    ngx_http_symbolicate_publish_t *publish);
static void ngx_http_symbolicate_publish_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_publish_joined(void *data,
    ngx_http_symbolicate_s3_result_t *result);
static void ngx_http_symbolicate_publish_write(
    ngx_http_symbolicate_publish_t *publish, sym_str_t condition);
static void ngx_http_symbolicate_publish_written(void *data,
    ngx_http_symbolicate_s3_result_t *result);


static ngx_queue_t  ngx_http_symbolicate_publish_queue;
static ngx_uint_t   ngx_http_symbolicate_publish_waiting;
static ngx_uint_t   ngx_http_symbolicate_publish_running;


ngx_http_symbolicate_publish_t *
ngx_http_symbolicate_publish_create(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, const sym_object_ref_t *ref,
    sym_str_t path, ngx_uint_t replaces, sym_kind_t joins)
{
    char                            *p;
    size_t                           len;
    ngx_http_symbolicate_publish_t  *publish;

    if (policy->share == NULL || policy->share->bucket.uri.len == 0
        || path.len > SYM_SHARE_KEY_MAX || ref->checksum.len)
    {
        return NULL;
    }

    len = sym_object_ref_bytes(ref);

    publish = ngx_calloc(sizeof(ngx_http_symbolicate_publish_t) + len
                         + path.len, ngx_cycle->log);
    if (publish == NULL) {
        return NULL;
    }

    publish->rpc.on_reply = ngx_http_symbolicate_publish_reply;
    publish->loader = loader;
    publish->policy = policy;
    publish->source = source;
    publish->replaces = replaces;
    publish->joins = joins;
    publish->created = ngx_current_msec;
    publish->fd = -1;
    sym_object_ref_copy(&publish->ref, ref, publish->bytes);

    p = publish->bytes + len;
    publish->path = sym_str_append(&p, path);

    return publish;
}


static void
ngx_http_symbolicate_publish_close(ngx_http_symbolicate_publish_t *publish)
{
    if (publish->fd != -1) {
        (void) ngx_close_file(publish->fd);
        publish->fd = -1;
    }
}


void
ngx_http_symbolicate_publish_free(ngx_http_symbolicate_publish_t *publish)
{
    if (publish) {
        ngx_http_symbolicate_publish_close(publish);
        ngx_free(publish);
    }
}


/* NGX_DECLINED: too many wait. */
static ngx_int_t
ngx_http_symbolicate_publish_line_up(ngx_http_symbolicate_publish_t *publish)
{
    if (ngx_exiting || ngx_http_symbolicate_publish_waiting
                       == NGX_SYMBOLICATE_PUBLISH_WAITING)
    {
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_publish_waiting++ == 0) {
        ngx_queue_init(&ngx_http_symbolicate_publish_queue);
    }

    ngx_queue_insert_tail(&ngx_http_symbolicate_publish_queue,
                          &publish->queue);

    return NGX_OK;
}


void
ngx_http_symbolicate_publish_start(ngx_http_symbolicate_publish_t *publish)
{
    if (ngx_http_symbolicate_publish_running < NGX_SYMBOLICATE_PUBLISHING) {
        ngx_http_symbolicate_publish_running++;
        ngx_http_symbolicate_publish_begin(publish);
        return;
    }

    if (ngx_http_symbolicate_publish_line_up(publish) != NGX_OK) {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_DROPPED);
        ngx_http_symbolicate_publish_free(publish);
    }
}


/* Lets the loader know that its file is closed. */
static void
ngx_http_symbolicate_publish_release(ngx_http_symbolicate_publish_t *publish)
{
    sym_rpc_message_t  m;

    if (publish->ticket == 0 || !publish->loader->welcome) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_CANCEL;
    m.ticket = publish->ticket;

    ngx_http_symbolicate_loader_send(publish->loader, &m, -1);
}


/* Begins the next one. */
static void
ngx_http_symbolicate_publish_next(void)
{
    ngx_queue_t  *q;

    ngx_http_symbolicate_publish_running--;

    if (ngx_http_symbolicate_publish_waiting) {
        q = ngx_queue_head(&ngx_http_symbolicate_publish_queue);
        ngx_queue_remove(q);
        ngx_http_symbolicate_publish_waiting--;

        ngx_http_symbolicate_publish_start(
             ngx_queue_data(q, ngx_http_symbolicate_publish_t, queue));
    }
}


static void
ngx_http_symbolicate_publish_ended(ngx_http_symbolicate_publish_t *publish)
{
    ngx_http_symbolicate_publish_release(publish);
    ngx_http_symbolicate_publish_free(publish);
    ngx_http_symbolicate_publish_next();
}


/* Asks for the file of artifacts. */
static void
ngx_http_symbolicate_publish_begin(ngx_http_symbolicate_publish_t *publish)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_SHARE;
    m.kind = publish->joins;
    m.key.scope = sym_str((char *) publish->source->name.data,
                          publish->source->name.len);
    m.rules = publish->source->rules;
    m.ref = publish->ref;
    m.source = publish->path;

    if (ngx_exiting
        || ngx_http_symbolicate_rpc_call(publish->loader, &publish->rpc, &m)
           != NGX_OK)
    {
        ngx_http_symbolicate_publish_ended(publish);
    }
}


/*
 * Begins a request for the object in the bucket.  It gets a descriptor of its
 * own, which it closes.
 */
static ngx_int_t
ngx_http_symbolicate_publish_ask(ngx_http_symbolicate_publish_t *publish,
    ngx_http_symbolicate_s3_request_t *request,
    void (*done)(void *data, ngx_http_symbolicate_s3_result_t *result))
{
    char    key[SYM_SHARE_KEY_MAX];
    size_t  len;

    len = sym_share_key(sym_str((char *) publish->source->name.data,
                                publish->source->name.len),
                        publish->path, key);
    if (len == 0) {
        return NGX_DECLINED;
    }

    request->server = publish->policy->server;
    request->uri = publish->policy->share->bucket.uri;
    request->path = sym_str(key, len);

    request->fd = dup(publish->fd);
    if (request->fd == -1) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_s3_start(request, done, publish)
           ? NGX_OK : NGX_ERROR;
}


/* Adds the bytes of the object to the file. */
static void
ngx_http_symbolicate_publish_join(ngx_http_symbolicate_publish_t *publish)
{
    ngx_http_symbolicate_s3_request_t  request;

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = SYM_RPC_OBJECT_READ;
    request.offset = publish->length;
    request.limit = publish->more;

    if (ngx_http_symbolicate_publish_ask(publish, &request,
                                         ngx_http_symbolicate_publish_joined)
        != NGX_OK)
    {
        ngx_http_symbolicate_publish_ended(publish);
    }
}


/* Reads the length of the file, and how many bytes may be added to it. */
static ngx_int_t
ngx_http_symbolicate_publish_lengths(ngx_http_symbolicate_publish_t *publish,
    sym_str_t text)
{
    uint64_t   length, more;
    sym_str_t  first;

    first = sym_str_cut(&text, ' ');

    if (!sym_dec_read(first, &length) || !sym_dec_read(text, &more)) {
        return NGX_ERROR;
    }

    publish->length = length;
    publish->more = more;

    return NGX_OK;
}


static void
ngx_http_symbolicate_publish_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_publish_t  *publish;

    publish = (ngx_http_symbolicate_publish_t *) rpc;

    if (m == NULL) {
        ngx_http_symbolicate_publish_ended(publish);
        return;
    }

    if (!(m->flags & SYM_RPC_MADE) || *rpc->fd == -1
        || ngx_http_symbolicate_publish_lengths(publish, m->text) != NGX_OK)
    {
        if (!(m->flags & SYM_RPC_NOTHING)) {
            ngx_http_symbolicate_count_publish(SYM_PUBLISH_DROPPED);
        }

        ngx_http_symbolicate_publish_ended(publish);
        return;
    }

    publish->ticket = m->ticket;
    publish->fd = *rpc->fd;
    *rpc->fd = -1;

    if (publish->joins) {
        ngx_http_symbolicate_publish_join(publish);
        return;
    }

    ngx_http_symbolicate_publish_write(publish, SYM_STR("*"));
}


/* The bucket may recover: it waits for its turn again. */
static ngx_int_t
ngx_http_symbolicate_publish_again(ngx_http_symbolicate_publish_t *publish)
{
    if (ngx_current_msec - publish->created >= NGX_SYMBOLICATE_PUBLISH_AGE
        || ngx_http_symbolicate_publish_line_up(publish) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_publish_release(publish);
    ngx_http_symbolicate_publish_close(publish);
    publish->ticket = 0;

    ngx_http_symbolicate_publish_next();

    return NGX_OK;
}


static void
ngx_http_symbolicate_publish_failed(ngx_http_symbolicate_publish_t *publish,
    ngx_http_symbolicate_s3_result_t *result)
{
    if (result->passing
        && ngx_http_symbolicate_publish_again(publish) == NGX_OK)
    {
        return;
    }

    ngx_http_symbolicate_count_publish(SYM_PUBLISH_FAILED);
    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "symbolicate_share: artifacts of \"%*s\" were not "
                  "published: %V", publish->path.len, publish->path.data,
                  &result->reason);

    ngx_http_symbolicate_publish_ended(publish);
}


static void
ngx_http_symbolicate_publish_joined(void *data,
    ngx_http_symbolicate_s3_result_t *result)
{
    ngx_http_symbolicate_publish_t *publish = data;

    if (result->did) {
        publish->length += result->length;
        ngx_http_symbolicate_publish_write(publish,
                           sym_str((char *) result->value.data,
                                   result->value.len));
        return;
    }

    if (result->absent) {
        ngx_http_symbolicate_publish_write(publish, SYM_STR("*"));
        return;
    }

    ngx_http_symbolicate_publish_failed(publish, result);
}


static void
ngx_http_symbolicate_publish_write(ngx_http_symbolicate_publish_t *publish,
    sym_str_t condition)
{
    ngx_http_symbolicate_s3_request_t  request;

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = SYM_RPC_OBJECT_WRITE;
    request.length = publish->length;
    request.condition = publish->replaces
                        || publish->policy->share->no_conditions
                        ? SYM_STR("") : condition;

    if (ngx_http_symbolicate_publish_ask(publish, &request,
                                         ngx_http_symbolicate_publish_written)
        != NGX_OK)
    {
        ngx_http_symbolicate_publish_ended(publish);
    }
}


static void
ngx_http_symbolicate_publish_written(void *data,
    ngx_http_symbolicate_s3_result_t *result)
{
    ngx_http_symbolicate_publish_t *publish = data;

    if (result->did) {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_DONE);

    } else if (result->unknown) {

        /* the last node wins, with artifacts of the same file */

        publish->policy->share->no_conditions = 1;
        ngx_http_symbolicate_publish_write(publish, SYM_STR(""));
        return;

    } else if (result->changed) {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_PRESENT);

    } else {
        ngx_http_symbolicate_publish_failed(publish, result);
        return;
    }

    ngx_http_symbolicate_publish_ended(publish);
}
