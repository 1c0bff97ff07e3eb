
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


/* Where keys come from. */
typedef struct {
    ngx_http_symbolicate_keys_e    from;

    ngx_str_t                      file;        /* ends in NUL */
    ngx_str_t                      profile;

    /* for container and instance: location of the endpoint */
    ngx_str_t                      via;         /* ends in a slash */
    ngx_http_conf_ctx_t           *server;      /* server of the location */

    /* for container */
    ngx_str_t                      path;        /* path without its first
                                                 * slash */
    ngx_str_t                      args;
    ngx_str_t                      token;       /* value of Authorization */
    ngx_str_t                      token_file;  /* ends in NUL */
} ngx_http_symbolicate_keys_conf_t;


/* This worker's keys, shared by all locations with the same settings. */
typedef struct {
    ngx_http_symbolicate_keys_conf_t  *conf;

    sym_arena_t                    arena;       /* holds `now` */
    sym_aws_credentials_t          now;         /* without access_key: no
                                                 * keys */

    /* for container and instance */
    ngx_http_symbolicate_iam_t    *call;         /* NULL: no request in
                                                    progress */
    ngx_queue_t                    waiting;     /* requests that wait for the
                                                   end of call */
    time_t                         next;        /* time of the next allowed
                                                   request */
    time_t                         backoff;     /* 0: the last request
                                                 * succeeded */
    const char                    *trouble;     /* why there are no keys */

    /* file */
    time_t                         looked;
    struct stat                    seen;        /* state of the file when it was
                                                 * read */
} ngx_http_symbolicate_keys_t;


/*
 * Reads keys for the first time, at configuration time.  Returns NULL, or the
 * error.
 */
const char *ngx_http_symbolicate_keys_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf, ngx_http_symbolicate_keys_t *keys);

/*
 * Returns keys that are valid now; use them before the next event.  NULL: none,
 * and keys->trouble has the reason.  Requests new keys in time; keys->call is
 * set while it does.
 */
sym_aws_credentials_t *ngx_http_symbolicate_keys_get(
    ngx_http_symbolicate_keys_t *keys);

/* Ends keys->call with a response, which is checked, or with a trouble. */
void ngx_http_symbolicate_keys_told(ngx_http_symbolicate_keys_t *keys,
    ngx_str_t *answer, const char *trouble, ngx_uint_t status);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_KEYS_H_INCLUDED_ */
