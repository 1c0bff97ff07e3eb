
/*
 * ngx_http_symbolicate_publish.h - puts artifacts that this node has made into
 * the bucket of its fleet.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PUBLISH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PUBLISH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "rpc/ngx_http_symbolicate_loader.h"


typedef struct ngx_http_symbolicate_publish_s  ngx_http_symbolicate_publish_t;


/*
 * Copies what the artifacts of a file are found by.  replaces: the object in
 * the bucket is unusable.  joins: the kind of artifact that it lacks; 0: there
 * is no object.  NULL: the policy has no bucket, the path is too long, or there
 * is no memory.
 */
ngx_http_symbolicate_publish_t *ngx_http_symbolicate_publish_create(
    ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, const sym_object_ref_t *ref,
    sym_str_t path, ngx_uint_t replaces, sym_kind_t joins);

/*
 * Publishes all artifacts of the file, in the background.  If too many files
 * wait for that already, it is dropped, and counted.
 */
void ngx_http_symbolicate_publish_start(
    ngx_http_symbolicate_publish_t *publish);

/* Frees one that was not started; NULL is allowed. */
void ngx_http_symbolicate_publish_free(
    ngx_http_symbolicate_publish_t *publish);


#endif /* _NGX_HTTP_SYMBOLICATE_PUBLISH_H_INCLUDED_ */
