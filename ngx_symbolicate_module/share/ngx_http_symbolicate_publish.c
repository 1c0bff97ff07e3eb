
/*
 * ngx_http_symbolicate_publish.c - puts artifacts that this node has made into
 * the bucket of its fleet.
 *
 * The loader writes an artifact to a file, and the worker sends that through
 * the bucket's location, which signs it.  Nobody waits for it: an artifact that
 * is not published is made again by the next node that needs it.
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


struct ngx_http_symbolicate_publish_s {
    ngx_http_symbolicate_rpc_t            rpc;
    ngx_queue_t                           queue;
    ngx_http_symbolicate_loader_t        *loader;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_source_t        *source;
    ngx_uint_t                            kind;  /* index of the next kind */
    ngx_uint_t                            replaces;
    sym_object_ref_t                      ref;   /* with views of bytes */
    sym_str_t                             path;
    char                                  bytes[1];
};


static void ngx_http_symbolicate_publish_next(
    ngx_http_symbolicate_publish_t *publish);
static void ngx_http_symbolicate_publish_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_publish_put(void *data,
    ngx_http_symbolicate_s3_result_t *result);


static ngx_queue_t  ngx_http_symbolicate_publish_queue;
static ngx_uint_t   ngx_http_symbolicate_publish_waiting;
static ngx_uint_t   ngx_http_symbolicate_publish_running;


ngx_http_symbolicate_publish_t *
ngx_http_symbolicate_publish_create(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, const sym_object_ref_t *ref,
    sym_str_t path, ngx_uint_t replaces)
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
    sym_object_ref_copy(&publish->ref, ref, publish->bytes);

    p = publish->bytes + len;
    publish->path = sym_str_append(&p, path);

    return publish;
}


void
ngx_http_symbolicate_publish_free(ngx_http_symbolicate_publish_t *publish)
{
    if (publish) {
        ngx_free(publish);
    }
}


void
ngx_http_symbolicate_publish_start(ngx_http_symbolicate_publish_t *publish)
{
    if (ngx_http_symbolicate_publish_running < NGX_SYMBOLICATE_PUBLISHING) {
        ngx_http_symbolicate_publish_running++;
        ngx_http_symbolicate_publish_next(publish);
        return;
    }

    if (ngx_exiting || ngx_http_symbolicate_publish_waiting
                       == NGX_SYMBOLICATE_PUBLISH_WAITING)
    {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_DROPPED);
        ngx_http_symbolicate_publish_free(publish);
        return;
    }

    if (ngx_http_symbolicate_publish_waiting++ == 0) {
        ngx_queue_init(&ngx_http_symbolicate_publish_queue);
    }

    ngx_queue_insert_tail(&ngx_http_symbolicate_publish_queue,
                          &publish->queue);
}


static void
ngx_http_symbolicate_publish_ended(ngx_http_symbolicate_publish_t *publish)
{
    ngx_queue_t  *q;

    ngx_http_symbolicate_publish_free(publish);
    ngx_http_symbolicate_publish_running--;

    if (ngx_http_symbolicate_publish_waiting) {
        q = ngx_queue_head(&ngx_http_symbolicate_publish_queue);
        ngx_queue_remove(q);
        ngx_http_symbolicate_publish_waiting--;

        ngx_http_symbolicate_publish_start(
             ngx_queue_data(q, ngx_http_symbolicate_publish_t, queue));
    }
}


/* Asks for a file of the next kind; most files give one or two. */
static void
ngx_http_symbolicate_publish_next(ngx_http_symbolicate_publish_t *publish)
{
    sym_rpc_message_t  m;

    if (publish->kind == SYM_KINDS || ngx_exiting) {
        ngx_http_symbolicate_publish_ended(publish);
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_SHARE;
    m.kind = sym_kinds[publish->kind++]->kind;
    m.key.scope = sym_str((char *) publish->source->name.data,
                          publish->source->name.len);
    m.rules = publish->source->rules;
    m.ref = publish->ref;
    m.source = publish->path;

    if (ngx_http_symbolicate_rpc_call(publish->loader, &publish->rpc, &m)
        != NGX_OK)
    {
        ngx_http_symbolicate_publish_ended(publish);
    }
}


static void
ngx_http_symbolicate_publish_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    char                                key[SYM_SHARE_KEY_MAX];
    size_t                              len;
    uint64_t                            length;
    ngx_http_symbolicate_publish_t     *publish;
    ngx_http_symbolicate_shared_t      *share;
    ngx_http_symbolicate_s3_request_t   request;

    publish = (ngx_http_symbolicate_publish_t *) rpc;
    share = publish->policy->share;

    if (m == NULL) {
        ngx_http_symbolicate_publish_ended(publish);
        return;
    }

    if (!(m->flags & SYM_RPC_MADE) || *rpc->fd == -1
        || !sym_dec_read(m->text, &length))
    {
        if (!(m->flags & SYM_RPC_NOTHING)) {
            ngx_http_symbolicate_count_publish(SYM_PUBLISH_DROPPED);
        }

        ngx_http_symbolicate_publish_next(publish);
        return;
    }

    len = sym_share_key(sym_str((char *) publish->source->name.data,
                                publish->source->name.len),
                        publish->path, sym_kinds[publish->kind - 1], key);
    if (len == 0) {
        ngx_http_symbolicate_publish_next(publish);
        return;
    }

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = SYM_RPC_OBJECT_WRITE;
    request.server = publish->policy->server;
    request.uri = share->bucket.uri;
    request.path = sym_str(key, len);
    request.condition = publish->replaces || share->no_conditions
                        ? SYM_STR("") : SYM_STR("*");
    request.fd = *rpc->fd;
    request.length = length;
    *rpc->fd = -1;

    if (ngx_http_symbolicate_s3_start(&request,
                                      ngx_http_symbolicate_publish_put,
                                      publish)
        == NULL)
    {
        ngx_http_symbolicate_publish_ended(publish);
    }
}


static void
ngx_http_symbolicate_publish_put(void *data,
    ngx_http_symbolicate_s3_result_t *result)
{
    ngx_http_symbolicate_publish_t *publish = data;

    if (result->did) {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_DONE);

    } else if (result->unknown) {

        /* the last node wins, with an artifact of the same file */

        publish->policy->share->no_conditions = 1;
        publish->kind--;

    } else if (result->changed) {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_PRESENT);

    } else {
        ngx_http_symbolicate_count_publish(SYM_PUBLISH_FAILED);
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "symbolicate_share: an artifact of \"%*s\" was not "
                      "published: %V", publish->path.len, publish->path.data,
                      &result->reason);
    }

    ngx_http_symbolicate_publish_next(publish);
}
