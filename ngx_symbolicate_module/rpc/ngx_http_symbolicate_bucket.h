
/*
 * ngx_http_symbolicate_bucket.h - uploads whose target is a bucket.
 *
 * The loader decides what is put into the bucket.  This worker has connections
 * and keys, and sends the requests, one after the other.  They go on if the
 * client leaves, as uploads to a folder do.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_BUCKET_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_BUCKET_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"


/* After an UPLOAD or ASSEMBLE was sent with this ticket.  NGX_ERROR: no memory;
 * the loader's requests for it then fail. */
ngx_int_t ngx_http_symbolicate_bucket_open(
    ngx_http_symbolicate_loader_t *loader, uint32_t ticket,
    ngx_http_symbolicate_loc_conf_t *slcf);

/* An OBJECT of the loader. */
void ngx_http_symbolicate_bucket_message(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m);

/* DONE has come for the ticket, of a bucket or not. */
void ngx_http_symbolicate_bucket_close(ngx_http_symbolicate_loader_t *loader,
    uint32_t ticket);

/* The loader is gone. */
void ngx_http_symbolicate_buckets_close(
    ngx_http_symbolicate_loader_t *loader);


#endif /* _NGX_HTTP_SYMBOLICATE_BUCKET_H_INCLUDED_ */
