
/*
 * ngx_http_symbolicate_aws.h - requests to S3, signed with keys from AWS.
 *
 * aws.c       the phase handler that waits for keys, the signature, variables
 * aws_conf.c  symbolicate_aws_sigv4
 * aws_keys.c  keys of this worker: from where, how long, when asked for anew
 * aws_ask.c   the talk with a container's endpoint or instance metadata
 *
 * Keys are secrets: no log, error or variable ever shows more than the
 * signature that was made with them, but for the session token, which goes out
 * with the request.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/sigv4.h"


typedef enum {
    ngx_http_symbolicate_keys_static = 0,
    ngx_http_symbolicate_keys_env,
    ngx_http_symbolicate_keys_file,
    ngx_http_symbolicate_keys_container,
    ngx_http_symbolicate_keys_instance
} ngx_http_symbolicate_keys_e;


typedef struct ngx_http_symbolicate_iam_s  ngx_http_symbolicate_iam_t;


/* Keys, and where they come from: of all locations that say the same of it. */
typedef struct {
    ngx_http_symbolicate_keys_e    from;

    ngx_str_t                      file;        /* ends in NUL */
    ngx_str_t                      profile;

    /* of container and instance: the location that leads to the endpoint */
    ngx_str_t                      via;         /* ends in a slash */
    ngx_http_conf_ctx_t           *server;      /* where it is */

    /* of container */
    ngx_str_t                      path;        /* without its slash */
    ngx_str_t                      args;
    ngx_str_t                      token;       /* for Authorization */
    ngx_str_t                      token_file;  /* ends in NUL */

    sym_arena_t                    arena;       /* holds `now` */
    sym_aws_credentials_t          now;         /* no access_key: none */

    /* container and instance, in a worker */
    ngx_http_symbolicate_iam_t    *ask;         /* NULL: not being asked */
    ngx_queue_t                    waiting;     /* requests, for ask's end */
    time_t                         next;        /* not to be asked before */
    time_t                         backoff;     /* 0: it did not fail */
    const char                    *trouble;     /* why there are none */

    /* file */
    time_t                         looked;
    struct stat                    seen;        /* of what was read */
} ngx_http_symbolicate_keys_t;


/* What a location says: "symbolicate_aws_sigv4". */
typedef struct {
    ngx_str_t                      region;
    ngx_http_symbolicate_keys_t   *keys;
    sym_sigv4_key_t                key;         /* of the day, in a worker */
} ngx_http_symbolicate_sigv4_t;


/* --- aws.c --- */

/* A phase handler: a request that will be signed waits for keys. */
ngx_int_t ngx_http_symbolicate_aws_wait(ngx_http_request_t *r);

/* data: offset of a sym_str_t in sym_sigv4_t. */
ngx_int_t ngx_http_symbolicate_aws_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);

/* Goes on with the requests that wait; each looks for keys once more. */
void ngx_http_symbolicate_aws_resume(ngx_queue_t *waiting);


/* --- aws_conf.c --- */

char *ngx_http_symbolicate_set_aws(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


/* --- aws_keys.c --- */

/* The first reading, at configuration time.  NULL, or what is wrong. */
const char *ngx_http_symbolicate_keys_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_t *keys);

/* Reads the file, if there is another one than was read; *err says what went
 * wrong, and the keys stay as they were. */
ngx_int_t ngx_http_symbolicate_keys_read(ngx_http_symbolicate_keys_t *keys,
    sym_error_t *err);

/* Keys that are good now, until the next event; NULL: none, and
 * keys->trouble says why.  Sees to it that others come in time: keys->ask says
 * that they are on their way. */
sym_aws_credentials_t *ngx_http_symbolicate_keys_get(
    ngx_http_symbolicate_keys_t *keys);

/* The end of keys->ask: an answer to be judged, or, with a trouble, none. */
void ngx_http_symbolicate_keys_told(ngx_http_symbolicate_keys_t *keys,
    ngx_str_t *answer, const char *trouble, ngx_uint_t status);


/* --- aws_ask.c --- */

/* Ends in ngx_http_symbolicate_keys_told(), never at once.  NULL: it could not
 * be begun, and *trouble says why. */
ngx_http_symbolicate_iam_t *ngx_http_symbolicate_iam_start(
    ngx_http_symbolicate_keys_t *keys, const char **trouble);

/* A phase handler: requests for keys go to no location that is not for them. */
ngx_int_t ngx_http_symbolicate_iam_check(ngx_http_request_t *r);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_H_INCLUDED_ */
