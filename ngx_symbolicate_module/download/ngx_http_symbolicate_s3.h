
/*
 * ngx_http_symbolicate_s3.h - one request to the bucket of a source, which is
 * not a download for a client.
 *
 * It goes through the location of the source, which signs it and passes it on.
 * A failure that may pass (no connection, 429, 5xx) is repeated some times.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_S3_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_S3_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"


typedef struct ngx_http_symbolicate_s3_s  ngx_http_symbolicate_s3_t;


/* The fields of SYM_RPC_OBJECT.  Everything is copied. */
typedef struct {
    sym_rpc_object_t               kind;
    ngx_http_conf_ctx_t           *server;      /* that has the location */
    ngx_str_t                      uri;         /* URI of the source */
    sym_str_t                      path;        /* plain, below it */
    sym_str_t                      upload_id;
    sym_str_t                      md5;         /* MD5 of the body; or empty */
    sym_str_t                      condition;   /* ETag of the object that is
                                                 * replaced; "*": none; or
                                                 * empty */
    ngx_fd_t                       fd;          /* -1: none; it is closed at the
                                                 * end */
    off_t                          offset;
    off_t                          length;
    uint64_t                       limit;
} ngx_http_symbolicate_s3_request_t;


/* The outcome; texts are valid during the call. */
typedef struct {
    unsigned                       did:1;       /* 2xx */
    unsigned                       absent:1;    /* there is no such object, or
                                                 * upload */
    unsigned                       changed:1;   /* the condition was false */
    unsigned                       unknown:1;   /* it knows no conditions */
    unsigned                       opaque:1;    /* its ETag is no MD5 */
    unsigned                       passing:1;   /* it failed four times, but may
                                                 * recover */
    off_t                          length;      /* length of the object */
    ngx_str_t                      value;       /* its ETag, or an upload id */
    ngx_str_t                      reason;      /* reason of a failure */
} ngx_http_symbolicate_s3_result_t;


/* Begins it; done() is called once, later, and then it is freed.  NULL: no
 * memory, fd is closed. */
ngx_http_symbolicate_s3_t *ngx_http_symbolicate_s3_start(
    ngx_http_symbolicate_s3_request_t *request,
    void (*done)(void *data, ngx_http_symbolicate_s3_result_t *result),
    void *data);

/* Aborts it: done() is not called. */
void ngx_http_symbolicate_s3_free(ngx_http_symbolicate_s3_t *s3);

/* A phase handler: sends the path as it was encoded. */
ngx_int_t ngx_http_symbolicate_s3_encode(ngx_http_request_t *r);

/* If r is such a request: it has failed, and is not repeated.  trouble: static
 * text. */
void ngx_http_symbolicate_s3_refuse(ngx_http_request_t *r,
    const char *trouble);

/* The encoded path below the source; NULL: r is no such request. */
ngx_str_t *ngx_http_symbolicate_s3_path(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_S3_H_INCLUDED_ */
