
/*
 * ngx_http_symbolicate_aws_keys.h - AWS keys of this worker.
 *
 * Keys are secrets: no log, error or variable ever shows more than the
 * signature that was made with them, but for the session token, which goes out
 * with the request.
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

    /* of container and instance: the location that leads to the endpoint */
    ngx_str_t                      via;         /* ends in a slash */
    ngx_http_conf_ctx_t           *server;      /* where it is */

    /* of container */
    ngx_str_t                      path;        /* without its slash */
    ngx_str_t                      args;
    ngx_str_t                      token;       /* for Authorization */
    ngx_str_t                      token_file;  /* ends in NUL */
} ngx_http_symbolicate_keys_conf_t;


/* Keys, as this worker has them: of all locations that say the same of them. */
typedef struct {
    ngx_http_symbolicate_keys_conf_t  *conf;

    sym_arena_t                    arena;       /* holds `now` */
    sym_aws_credentials_t          now;         /* no access_key: none */

    /* container and instance */
    ngx_http_symbolicate_iam_t    *call;         /* NULL: not being asked */
    ngx_queue_t                    waiting;     /* requests, for call's end */
    time_t                         next;        /* not to be asked before */
    time_t                         backoff;     /* 0: it did not fail */
    const char                    *trouble;     /* why there are none */

    /* file */
    time_t                         looked;
    struct stat                    seen;        /* of what was read */
} ngx_http_symbolicate_keys_t;


/* The first reading, at configuration time.  NULL, or what is wrong. */
const char *ngx_http_symbolicate_keys_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf, ngx_http_symbolicate_keys_t *keys);

/* Keys that are good now, until the next event; NULL: none, and
 * keys->trouble says why.  Sees to it that others come in time: keys->call says
 * that they are on their way. */
sym_aws_credentials_t *ngx_http_symbolicate_keys_get(
    ngx_http_symbolicate_keys_t *keys);

/* The end of keys->call: an answer to be judged, or, with a trouble, none. */
void ngx_http_symbolicate_keys_told(ngx_http_symbolicate_keys_t *keys,
    ngx_str_t *answer, const char *trouble, ngx_uint_t status);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_KEYS_H_INCLUDED_ */
