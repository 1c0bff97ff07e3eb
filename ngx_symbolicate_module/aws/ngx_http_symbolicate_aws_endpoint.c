
/*
 * ngx_http_symbolicate_aws_endpoint.c - requests to the endpoints that provide
 * AWS keys.
 *
 * An instance's metadata, version 2 ("Use the Instance Metadata Service to
 * access instance metadata", EC2 User Guide): a token by PUT, then the name of
 * the role, then its keys.  Version 1 is never used, because it gives keys
 * to anyone who makes a worker send a GET.  A container's endpoint ("Container
 * credential provider", AWS SDKs and Tools Reference Guide): one GET.
 *
 * Each step is a background request.  Any status but 200 is a failure.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/sha256.h"

#include "aws/ngx_http_symbolicate_aws_endpoint.h"
#include "aws/ngx_http_symbolicate_aws_keys.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_background.h"


#define NGX_SYMBOLICATE_ASK_TOKEN   1024    /* bytes of a metadata token */
#define NGX_SYMBOLICATE_ASK_ROLE    64      /* AWS's limit */
#define NGX_SYMBOLICATE_ASK_BEARER  16384   /* bytes of a container's token */

#define NGX_SYMBOLICATE_ASK_KEYS                                              \
    "latest/meta-data/iam/security-credentials/"


typedef struct {
    const char                    *trouble;     /* on timeout of a request */
    ngx_int_t                    (*next)(ngx_http_symbolicate_iam_t *call);
} ngx_http_symbolicate_iam_step_t;


struct ngx_http_symbolicate_iam_s {
    ngx_http_symbolicate_keys_t        *keys;
    ngx_pool_t                         *pool;   /* lives as long as the
                                                 * exchange */
    ngx_http_symbolicate_iam_step_t    *step;

    ngx_http_symbolicate_background_t  *bg;     /* the current request */
    ngx_uint_t                          status;
    off_t                               announced;
    ngx_str_t                           body;
    unsigned                            is_long:1;

    ngx_str_t                           token;  /* of metadata */
};


static ngx_int_t ngx_http_symbolicate_iam_token(
    ngx_http_symbolicate_iam_t *call);
static ngx_int_t ngx_http_symbolicate_iam_role(
    ngx_http_symbolicate_iam_t *call);
static ngx_int_t ngx_http_symbolicate_iam_keys(
    ngx_http_symbolicate_iam_t *call);
static ngx_int_t ngx_http_symbolicate_iam_container(
    ngx_http_symbolicate_iam_t *call);
static ngx_int_t ngx_http_symbolicate_iam_header(void *data,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_iam_body(void *data,
    ngx_http_request_t *r, ngx_chain_t *in);
static void ngx_http_symbolicate_iam_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


/* next: begins this step; the following step reads its response. */

static ngx_http_symbolicate_iam_step_t  ngx_http_symbolicate_iam_instance[] = {
    { "no AWS credentials: instance metadata gave no token",
      ngx_http_symbolicate_iam_token },
    { "no AWS credentials: instance metadata named no role",
      ngx_http_symbolicate_iam_role },
    { "no AWS credentials: instance metadata gave none for its role",
      ngx_http_symbolicate_iam_keys },
    { NULL, NULL }
};

static ngx_http_symbolicate_iam_step_t  ngx_http_symbolicate_iam_endpoint[] = {
    { "no AWS credentials: the container's endpoint gave none",
      ngx_http_symbolicate_iam_container },
    { NULL, NULL }
};

static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_iam_events = {
    ngx_http_symbolicate_iam_header,
    ngx_http_symbolicate_iam_body,
    NULL,
    ngx_http_symbolicate_iam_done
};


/* --- requests --- */

/* Wipes memory that may contain keys. */
static void
ngx_http_symbolicate_iam_free(ngx_http_symbolicate_iam_t *call)
{
    sym_wipe(call->body.data, SYM_AWS_ANSWER_MAX);

    if (call->bg) {
        (void) ngx_http_symbolicate_background_free(call->bg);
    }

    ngx_destroy_pool(call->pool);
}


ngx_http_symbolicate_iam_t *
ngx_http_symbolicate_iam_start(ngx_http_symbolicate_keys_t *keys,
    const char **trouble)
{
    ngx_pool_t                  *pool;
    ngx_http_symbolicate_iam_t  *call;

    *trouble = "no AWS credentials: out of memory";

    pool = ngx_create_pool(NGX_MIN_POOL_SIZE + NGX_SYMBOLICATE_ASK_TOKEN,
                           ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    call = ngx_pcalloc(pool, sizeof(ngx_http_symbolicate_iam_t));

    if (call == NULL
        || (call->body.data = ngx_palloc(pool, SYM_AWS_ANSWER_MAX)) == NULL)
    {
        ngx_destroy_pool(pool);
        return NULL;
    }

    call->keys = keys;
    call->pool = pool;
    call->step = keys->conf->from == ngx_http_symbolicate_keys_instance
                ? ngx_http_symbolicate_iam_instance
                : ngx_http_symbolicate_iam_endpoint;

    if (call->step->next(call) != NGX_OK) {
        *trouble = call->step->trouble;
        ngx_http_symbolicate_iam_free(call);
        return NULL;
    }

    return call;
}


/*
 * Begins a request; `path` and `tail` are relative to the location; name may be
 * NULL.
 */
static ngx_int_t
ngx_http_symbolicate_iam_send(ngx_http_symbolicate_iam_t *call,
    ngx_uint_t method, const char *path, ngx_str_t *tail, const char *name,
    ngx_str_t *value)
{
    u_char     *p;
    ngx_str_t   uri, method_name;

    uri.len = call->keys->conf->via.len + ngx_strlen(path) + tail->len;

    uri.data = ngx_pnalloc(call->pool, uri.len);
    if (uri.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(uri.data, call->keys->conf->via.data,
                   call->keys->conf->via.len);
    p = ngx_cpymem(p, path, ngx_strlen(path));
    ngx_memcpy(p, tail->data, tail->len);

    if (call->bg) {
        (void) ngx_http_symbolicate_background_free(call->bg);
    }

    call->status = 0;
    call->announced = -1;
    call->body.len = 0;
    call->is_long = 0;

    call->bg = ngx_http_symbolicate_background_create(call->keys->conf->server,
                                             &ngx_http_symbolicate_iam_events,
                                             call);
    if (call->bg == NULL) {
        return NGX_ERROR;
    }

    if (name
        && ngx_http_symbolicate_background_add_header(call->bg, name, value)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (method == NGX_HTTP_PUT) {
        ngx_str_set(&method_name, "PUT");

    } else {
        ngx_str_set(&method_name, "GET");
    }

    return ngx_http_symbolicate_background_start(call->bg, method, &method_name,
                                                 &uri, &call->keys->conf->args);
}


static ngx_int_t
ngx_http_symbolicate_iam_token(ngx_http_symbolicate_iam_t *call)
{
    static ngx_str_t  none = ngx_string("");
    static ngx_str_t  ttl = ngx_string("21600");

    return ngx_http_symbolicate_iam_send(call, NGX_HTTP_PUT, "latest/api/token",
                                      &none,
                                      "X-aws-ec2-metadata-token-ttl-seconds",
                                      &ttl);
}


/*
 * Returns the first line of the response if all its characters are visible and
 * allowed.
 */
static ngx_int_t
ngx_http_symbolicate_iam_word(ngx_http_symbolicate_iam_t *call, size_t max,
    const char *forbidden, ngx_str_t *word)
{
    size_t  len;

    for (len = 0; len < call->body.len; len++) {

        if (call->body.data[len] == CR || call->body.data[len] == LF) {
            break;
        }

        if (call->body.data[len] < ' ' || call->body.data[len] >= 0x7f
            || ngx_strchr(forbidden, call->body.data[len]))
        {
            return NGX_ERROR;
        }
    }

    if (len == 0 || len > max) {
        return NGX_ERROR;
    }

    word->len = len;

    word->data = ngx_pnalloc(call->pool, len);
    if (word->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(word->data, call->body.data, len);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_iam_role(ngx_http_symbolicate_iam_t *call)
{
    static ngx_str_t  none = ngx_string("");

    if (ngx_http_symbolicate_iam_word(call, NGX_SYMBOLICATE_ASK_TOKEN, " ",
                                      &call->token)
        != NGX_OK)
    {
        call->step--;
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_iam_send(call, NGX_HTTP_GET,
                                         NGX_SYMBOLICATE_ASK_KEYS, &none,
                                         "X-aws-ec2-metadata-token",
                                         &call->token);
}


static ngx_int_t
ngx_http_symbolicate_iam_keys(ngx_http_symbolicate_iam_t *call)
{
    ngx_str_t  role;

    if (ngx_http_symbolicate_iam_word(call, NGX_SYMBOLICATE_ASK_ROLE, " /?#%\\",
                                      &role)
        != NGX_OK)
    {
        call->step--;
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_iam_send(call, NGX_HTTP_GET,
                                         NGX_SYMBOLICATE_ASK_KEYS, &role,
                                         "X-aws-ec2-metadata-token",
                                         &call->token);
}


/* The system renews the file with the token, so it is read each time. */
static ngx_int_t
ngx_http_symbolicate_iam_bearer(ngx_http_symbolicate_iam_t *call,
    ngx_str_t *value)
{
    ssize_t     n;
    ngx_fd_t    fd;
    ngx_str_t  *path;

    path = &call->keys->conf->token_file;

    if (path->len == 0) {
        *value = call->keys->conf->token;
        return NGX_OK;
    }

    fd = open((char *) path->data, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

    if (fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, ngx_errno,
                      "cannot open \"%V\"", path);
        return NGX_ERROR;
    }

    n = read(fd, call->body.data, NGX_SYMBOLICATE_ASK_BEARER + 1);

    (void) close(fd);

    call->body.len = n > 0 ? n : 0;

    if (ngx_http_symbolicate_iam_word(call, NGX_SYMBOLICATE_ASK_BEARER, "",
                                      value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "\"%V\" holds no token", path);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_iam_container(ngx_http_symbolicate_iam_t *call)
{
    ngx_str_t  bearer;

    if (ngx_http_symbolicate_iam_bearer(call, &bearer) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_iam_send(call, NGX_HTTP_GET, "",
                                         &call->keys->conf->path,
                                         bearer.len ? "Authorization" : NULL,
                                         &bearer);
}


/* --- responses --- */

static ngx_int_t
ngx_http_symbolicate_iam_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_iam_t *call = data;

    call->status = r->headers_out.status;
    call->announced = r->headers_out.content_length_n;
    r->filter_need_in_memory = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_iam_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_iam_t *call = data;

    size_t      len;
    ngx_buf_t  *b;

    for ( ; in; in = in->next) {
        b = in->buf;

        if (!ngx_buf_in_memory(b)) {
            continue;
        }

        len = b->last - b->pos;

        if (len > SYM_AWS_ANSWER_MAX - call->body.len) {
            call->is_long = 1;
            return NGX_ERROR;
        }

        ngx_memcpy(call->body.data + call->body.len, b->pos, len);
        call->body.len += len;
    }

    return NGX_OK;
}


static void
ngx_http_symbolicate_iam_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_iam_t *call = data;

    const char  *trouble;

    trouble = NULL;

    if (call->status == 0 && rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        call->status = rc;
    }

    if (call->status != NGX_HTTP_OK || call->is_long || !is_whole
        || (call->announced != -1 && call->announced != (off_t) call->body.len))
    {
        trouble = call->step->trouble;

    } else if (call->step[1].next) {
        call->step++;

        if (call->step->next(call) == NGX_OK) {
            return;
        }

        trouble = call->step->trouble;
    }

    ngx_http_symbolicate_keys_told(call->keys, &call->body, trouble,
                                   call->status);
    ngx_http_symbolicate_iam_free(call);
}


/*
 * If the location were open to clients, it would give them the keys; if it
 * signed requests, it would wait for itself.
 */
ngx_int_t
ngx_http_symbolicate_iam_check(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t           *clcf;
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_symbolicate_background_of(r);

    if (bg == NULL
        || !ngx_http_symbolicate_background_data(bg,
                                            &ngx_http_symbolicate_iam_events))
    {
        return NGX_DECLINED;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (clcf->internal && slcf->aws == NULL) {
        return NGX_DECLINED;
    }

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "location \"%V\" is not asked for AWS credentials: it %s",
                  &clcf->name,
                  slcf->aws ? "has \"symbolicate_aws_sigv4\" itself"
                            : "is not \"internal\"");

    return NGX_HTTP_INTERNAL_SERVER_ERROR;
}
