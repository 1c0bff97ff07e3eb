
/*
 * ngx_http_symbolicate_aws_keys.h - AWS keys of this worker.
 *
 * Keys are secrets: logs, errors and variables never show more than a signature
 * made with them, except the session token, which is sent with the request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_AWS_KEYS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_AWS_KEYS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/credentials.h"


typedef enum {
    ngx_http_symbolicate_keys_static = 0,
    ngx_http_symbolicate_keys_env,
    ngx_http_symbolicate_keys_file,
    ngx_http_symbolicate_keys_container,
    ngx_http_symbolicate_keys_instance
} ngx_http_symbolicate_keys_e;


typedef struct ngx_http_symbolicate_iam_s  ngx_http_symbolicate_iam_t;


/* Source of keys. */
typedef struct {
    ngx_http_symbolicate_keys_e    from;

    ngx_str_t                      file;        /* ends in NUL */
    ngx_str_t                      profile;

    /* container and instance: the location of the endpoint */
    ngx_str_t                      via;         /* ends in a slash */
    ngx_http_conf_ctx_t           *server;      /* where it is */

    /* of container */
    ngx_str_t                      path;        /* without its slash */
    ngx_str_t                      args;
    ngx_str_t                      token;       /* for Authorization */
    ngx_str_t                      token_file;  /* ends in NUL */
} ngx_http_symbolicate_keys_conf_t;


/* This worker's keys, shared by all locations with the same settings. */
typedef struct {
    ngx_http_symbolicate_keys_conf_t  *conf;

    sym_arena_t                    arena;       /* holds `now` */
    sym_aws_credentials_t          now;         /* no access_key: none */

    /* container and instance */
    ngx_http_symbolicate_iam_t    *call;         /* NULL: no request in
                                                    progress */
    ngx_queue_t                    waiting;     /* requests that wait for the
                                                   end of call */
    time_t                         next;        /* no request before this
                                                   time */
    time_t                         backoff;     /* 0: it did not fail */
    const char                    *trouble;     /* why there are none */

    /* file */
    time_t                         looked;
    struct stat                    seen;        /* of the file that was read */
} ngx_http_symbolicate_keys_t;


/* First read, at configuration time.  NULL, or the error. */
const char *ngx_http_symbolicate_keys_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf, ngx_http_symbolicate_keys_t *keys);

/* Keys valid now, until the next event; NULL: none, and keys->trouble has the
 * reason.  Requests new ones in time: keys->call is then set. */
sym_aws_credentials_t *ngx_http_symbolicate_keys_get(
    ngx_http_symbolicate_keys_t *keys);

/* Ends keys->call: a response to check or, with a trouble, none. */
void ngx_http_symbolicate_keys_told(ngx_http_symbolicate_keys_t *keys,
    ngx_str_t *answer, const char *trouble, ngx_uint_t status);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_KEYS_H_INCLUDED_ */
