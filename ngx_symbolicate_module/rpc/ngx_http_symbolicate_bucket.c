
/*
 * ngx_http_symbolicate_bucket.c - uploads whose target is a bucket.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_s3.h"
#include "rpc/ngx_http_symbolicate_bucket.h"
#include "rpc/ngx_http_symbolicate_loader.h"


typedef struct {
    ngx_rbtree_node_t                    by_ticket;
    ngx_http_symbolicate_loader_t       *loader;
    ngx_http_symbolicate_loc_conf_t     *slcf;
    ngx_http_symbolicate_s3_t           *s3;    /* NULL: no request */
} ngx_http_symbolicate_bucket_t;


static void ngx_http_symbolicate_bucket_done(void *data,
    ngx_http_symbolicate_s3_result_t *result);


static ngx_http_symbolicate_bucket_t *
ngx_http_symbolicate_bucket_of(ngx_rbtree_node_t *node)
{
    return (ngx_http_symbolicate_bucket_t *)
               ((u_char *) node
                - offsetof(ngx_http_symbolicate_bucket_t, by_ticket));
}


ngx_int_t
ngx_http_symbolicate_bucket_open(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket, ngx_http_symbolicate_loc_conf_t *slcf)
{
    ngx_http_symbolicate_bucket_t  *bucket;

    bucket = ngx_calloc(sizeof(ngx_http_symbolicate_bucket_t), ngx_cycle->log);
    if (bucket == NULL) {
        return NGX_ERROR;
    }

    bucket->loader = loader;
    bucket->slcf = slcf;
    bucket->by_ticket.key = ticket;

    ngx_rbtree_insert(&loader->buckets, &bucket->by_ticket);

    /* a worker that ends waits for it */

    loader->nbusy++;
    ngx_http_symbolicate_loader_idle(loader);

    return NGX_OK;
}


static void
ngx_http_symbolicate_bucket_free(ngx_http_symbolicate_bucket_t *bucket)
{
    ngx_http_symbolicate_loader_t  *loader;

    loader = bucket->loader;

    ngx_rbtree_delete(&loader->buckets, &bucket->by_ticket);

    if (bucket->s3) {
        ngx_http_symbolicate_s3_free(bucket->s3);
    }

    ngx_free(bucket);

    loader->nbusy--;
    ngx_http_symbolicate_loader_idle(loader);
}


void
ngx_http_symbolicate_bucket_close(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket)
{
    ngx_rbtree_node_t  *node;

    node = ngx_http_symbolicate_loader_find(&loader->buckets, ticket);

    if (node) {
        ngx_http_symbolicate_bucket_free(ngx_http_symbolicate_bucket_of(node));
    }
}


void
ngx_http_symbolicate_buckets_close(ngx_http_symbolicate_loader_t *loader)
{
    while (loader->buckets.root != loader->buckets.sentinel) {
        ngx_http_symbolicate_bucket_free(
                          ngx_http_symbolicate_bucket_of(loader->buckets.root));
    }
}


static void
ngx_http_symbolicate_bucket_reply(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket, ngx_http_symbolicate_s3_result_t *result)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_REPLY;
    m.ticket = ticket;
    m.flags = result->did ? SYM_RPC_DID
                          : result->absent ? SYM_RPC_NOTHING : 0;
    m.flags |= result->opaque ? SYM_RPC_OPAQUE : 0;
    m.flags |= result->changed ? SYM_RPC_CHANGED_MEANWHILE : 0;
    m.flags |= result->unknown ? SYM_RPC_NO_CONDITIONS : 0;
    m.length = result->length;
    m.source = sym_str((char *) result->value.data, result->value.len);
    m.text = sym_str((char *) result->reason.data, result->reason.len);

    ngx_http_symbolicate_loader_send(loader, &m, -1);
}


static void
ngx_http_symbolicate_bucket_fail(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket, const char *why)
{
    ngx_http_symbolicate_s3_result_t  result;

    ngx_memzero(&result, sizeof(ngx_http_symbolicate_s3_result_t));

    result.reason.data = (u_char *) why;
    result.reason.len = ngx_strlen(why);

    ngx_http_symbolicate_bucket_reply(loader, ticket, &result);
}


/* The target, or the source for its try uploads. */
static ngx_http_symbolicate_source_t *
ngx_http_symbolicate_bucket_source(ngx_http_symbolicate_bucket_t *bucket,
    sym_str_t scope)
{
    ngx_http_symbolicate_source_t  *source;

    source = bucket->slcf->upload.source;

    if (scope.len == source->name.len
        && ngx_memcmp(scope.data, source->name.data, scope.len) == 0)
    {
        return source;
    }

    source = bucket->slcf->upload.try_source;

    if (source && scope.len == source->name.len
        && ngx_memcmp(scope.data, source->name.data, scope.len) == 0)
    {
        return source;
    }

    return NULL;
}


void
ngx_http_symbolicate_bucket_message(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    ngx_rbtree_node_t                  *node;
    ngx_http_symbolicate_bucket_t      *bucket;
    ngx_http_symbolicate_source_t      *source;
    ngx_http_symbolicate_s3_request_t   request;

    node = ngx_http_symbolicate_loader_find(&loader->buckets, m->ticket);
    bucket = node ? ngx_http_symbolicate_bucket_of(node) : NULL;

    if (bucket == NULL || bucket->s3 || m->kind >= SYM_RPC_OBJECTS) {
        ngx_http_symbolicate_bucket_fail(loader, m->ticket,
                                         "the worker does not know the upload");
        return;
    }

    source = ngx_http_symbolicate_bucket_source(bucket, m->key.scope);

    if (source == NULL) {
        ngx_http_symbolicate_bucket_fail(loader, m->ticket,
                                "the location has no symbolicate_source for "
                                "try uploads");
        return;
    }

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = m->kind;
    request.server = bucket->slcf->policy.server;
    request.uri = source->uri;
    request.path = m->text;

    if (m->kind == SYM_RPC_OBJECT_WRITE) {
        request.condition = m->source;

    } else {
        request.upload_id = m->source;
    }

    if (m->kind == SYM_RPC_OBJECT_COMPLETE) {
        request.condition = m->reference;

    } else {
        request.md5 = m->reference;
    }

    request.offset = m->offset;
    request.length = m->length;
    request.limit = m->limit;
    request.fd = loader->fd;
    loader->fd = -1;

    bucket->s3 = ngx_http_symbolicate_s3_start(&request,
                                              ngx_http_symbolicate_bucket_done,
                                               bucket);
    if (bucket->s3 == NULL) {
        ngx_http_symbolicate_bucket_fail(loader, m->ticket, "out of memory");
    }
}


static void
ngx_http_symbolicate_bucket_done(void *data,
    ngx_http_symbolicate_s3_result_t *result)
{
    ngx_http_symbolicate_bucket_t *bucket = data;

    bucket->s3 = NULL;

    ngx_http_symbolicate_bucket_reply(bucket->loader,
                                      (uint32_t) bucket->by_ticket.key, result);
}
