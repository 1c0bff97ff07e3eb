
/*
 * ngx_http_symbolicate_aws.c - signs requests to S3.
 *
 * The signature must match the request as sent: method, path, Host.  nginx
 * builds these from the location, proxy_pass, proxy_set_header, upstream names
 * and the client's request, by rules that would be hard to repeat exactly.  So
 * the first of our variables that proxy_pass evaluates builds the request once
 * without a signature, and signs the result.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "aws/ngx_http_symbolicate_aws.h"
#include "aws/ngx_http_symbolicate_aws_conf.h"
#include "aws/ngx_http_symbolicate_aws_keys.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_s3.h"


#define NGX_SYMBOLICATE_AWS_ARENA  (256 * 1024)

/*
 * Sent when there is no signature.  Without this header, S3 treats a request as
 * anonymous and may answer 403 for a missing key.
 */
#define NGX_SYMBOLICATE_AWS_NONE   "unsigned"


/* State of a request in a signing location. */
typedef struct {
    ngx_http_request_t            *request;
    ngx_queue_t                    queue;
    sym_sigv4_t                    values;
    unsigned                       queued:1;
    unsigned                       waited:1;
    unsigned                       rehearsing:1;
    unsigned                       is_signed:1;
} ngx_http_symbolicate_aws_t;


/* Input of a signature, parsed from the text of a request. */
typedef struct {
    sym_sigv4_header_t             headers[SYM_SIGV4_HEADERS_MAX];
    sym_sigv4_request_t            request;
    size_t                         n;
} ngx_http_symbolicate_aws_text_t;


static ngx_http_symbolicate_aws_t *ngx_http_symbolicate_aws_of(
    ngx_http_request_t *r);
static void ngx_http_symbolicate_aws_forget(void *data);
static ngx_int_t ngx_http_symbolicate_aws_refuse(ngx_http_request_t *r,
    const char *trouble);
static const char *ngx_http_symbolicate_aws_sign(
    ngx_http_symbolicate_aws_t *aws, ngx_http_symbolicate_sigv4_t *conf);
static const char *ngx_http_symbolicate_aws_rehearse(
    ngx_http_symbolicate_aws_t *aws, ngx_buf_t **text);
static const char *ngx_http_symbolicate_aws_read(
    ngx_http_symbolicate_aws_text_t *t, ngx_buf_t *b);
static ngx_int_t ngx_http_symbolicate_aws_keep(ngx_pool_t *pool,
    sym_sigv4_t *from, sym_sigv4_t *to);


/* --- waiting for keys --- */

ngx_int_t
ngx_http_symbolicate_aws_wait(ngx_http_request_t *r)
{
    ngx_http_cleanup_t               *cln;
    ngx_http_symbolicate_aws_t       *aws;
    ngx_http_symbolicate_keys_t      *keys;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->aws == NULL) {
        return NGX_DECLINED;
    }

    keys = slcf->aws->keys;

    aws = ngx_http_symbolicate_aws_of(r);

    if (aws == NULL) {
        cln = ngx_http_cleanup_add(r, sizeof(ngx_http_symbolicate_aws_t));
        if (cln == NULL) {
            return NGX_ERROR;
        }

        aws = cln->data;
        ngx_memzero(aws, sizeof(ngx_http_symbolicate_aws_t));
        aws->request = r;
        cln->handler = ngx_http_symbolicate_aws_forget;
    }

    aws->is_signed = 0;

    if (ngx_http_symbolicate_keys_get(keys)) {
        return NGX_DECLINED;
    }

    if (keys->call == NULL || aws->waited) {
        aws->waited = 0;
        return ngx_http_symbolicate_aws_refuse(r, keys->trouble);
    }

    if (r == r->main) {
        if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {
            return NGX_ERROR;
        }

        r->read_event_handler = ngx_http_test_reading;
    }

    r->write_event_handler = ngx_http_request_empty_handler;

    aws->waited = 1;
    aws->queued = 1;
    ngx_queue_insert_tail(&keys->waiting, &aws->queue);

    return NGX_DONE;
}


void
ngx_http_symbolicate_aws_resume(ngx_queue_t *waiting)
{
    ngx_queue_t                  now, *q;
    ngx_connection_t            *c;
    ngx_http_request_t          *r;
    ngx_http_symbolicate_aws_t  *aws;

    /* excludes requests that begin to wait for the next keys */

    ngx_queue_init(&now);

    if (!ngx_queue_empty(waiting)) {
        ngx_queue_add(&now, waiting);
        ngx_queue_init(waiting);
    }

    while (!ngx_queue_empty(&now)) {
        q = ngx_queue_head(&now);
        ngx_queue_remove(q);

        aws = ngx_queue_data(q, ngx_http_symbolicate_aws_t, queue);
        aws->queued = 0;

        r = aws->request;
        c = r->connection;

        if (r == r->main) {
            r->read_event_handler = ngx_http_block_reading;
        }

        r->write_event_handler = ngx_http_core_run_phases;

        if (ngx_http_post_request(r, NULL) != NGX_OK) {
            ngx_http_finalize_request(r, NGX_ERROR);
        }

        ngx_http_run_posted_requests(c);
    }
}


/*
 * Cleanups find it through the main request, because the context belongs to
 * requests for symbols.
 */
static ngx_http_symbolicate_aws_t *
ngx_http_symbolicate_aws_of(ngx_http_request_t *r)
{
    ngx_http_cleanup_t          *cln;
    ngx_http_symbolicate_aws_t  *aws;

    for (cln = r->main->cleanup; cln; cln = cln->next) {

        if (cln->handler != ngx_http_symbolicate_aws_forget) {
            continue;
        }

        aws = cln->data;

        if (aws->request == r) {
            return aws;
        }
    }

    return NULL;
}


static void
ngx_http_symbolicate_aws_forget(void *data)
{
    ngx_http_symbolicate_aws_t *aws = data;

    if (aws->queued) {
        ngx_queue_remove(&aws->queue);
        aws->queued = 0;
    }
}


static ngx_int_t
ngx_http_symbolicate_aws_refuse(ngx_http_request_t *r, const char *trouble)
{
    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "a request was not signed: %s", trouble);

    ngx_http_symbolicate_fetch_refuse(r, trouble);
    ngx_http_symbolicate_s3_refuse(r, trouble);

    return NGX_HTTP_BAD_GATEWAY;
}


/* --- the signature --- */

ngx_int_t
ngx_http_symbolicate_aws_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    sym_str_t                        *value;
    const char                       *trouble;
    ngx_http_symbolicate_aws_t       *aws;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    aws = slcf->aws ? ngx_http_symbolicate_aws_of(r) : NULL;

    if (aws == NULL || aws->rehearsing || r->upstream == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    if (!aws->is_signed) {
        ngx_memzero(&aws->values, sizeof(sym_sigv4_t));
        aws->is_signed = 1;

        trouble = ngx_http_symbolicate_aws_sign(aws, slcf->aws);

        if (trouble) {
            (void) ngx_http_symbolicate_aws_refuse(r, trouble);
            aws->values.authorization = SYM_STR(NGX_SYMBOLICATE_AWS_NONE);
        }
    }

    value = (sym_str_t *) ((u_char *) &aws->values + data);

    if (value->len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->data = (u_char *) value->data;
    v->len = value->len;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}


/* Signs the request.  Returns NULL, or the error. */
static const char *
ngx_http_symbolicate_aws_sign(ngx_http_symbolicate_aws_t *aws,
    ngx_http_symbolicate_sigv4_t *conf)
{
    ngx_buf_t                        *b;
    sym_arena_t                       arena;
    sym_error_t                       err;
    sym_sigv4_t                       values;
    const char                       *trouble;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_aws_text_t   t;

    r = aws->request;

    ngx_memzero(&t, sizeof(ngx_http_symbolicate_aws_text_t));
    ngx_memzero(&err, sizeof(sym_error_t));

    t.request.credentials = ngx_http_symbolicate_keys_get(conf->keys);

    if (t.request.credentials == NULL) {
        return conf->keys->trouble;
    }

    trouble = ngx_http_symbolicate_aws_rehearse(aws, &b);

    if (trouble == NULL) {
        trouble = ngx_http_symbolicate_aws_read(&t, b);
    }

    if (trouble) {
        return trouble;
    }

    t.request.headers = t.headers;
    t.request.n_headers = t.n;
    t.request.region = sym_str((char *) conf->region.data, conf->region.len);
    t.request.time_s = ngx_time();
    t.request.payload_hash = r->headers_in.content_length_n > 0
                             || r->headers_in.chunked
                             ? SYM_SIGV4_UNSIGNED : SYM_SIGV4_EMPTY;

    sym_arena_init(&arena, NGX_SYMBOLICATE_AWS_ARENA);

    if (sym_sigv4_sign(&arena, conf->key, &t.request, &values, &err) != SYM_OK)
    {
        trouble = err.what;

    } else if (ngx_http_symbolicate_aws_keep(r->pool, &values, &aws->values)
               != NGX_OK)
    {
        trouble = "out of memory";
    }

    sym_arena_drop(&arena);

    return trouble;
}


/*
 * Builds the request, then restores everything that this changes: the body, and
 * the values of variables, which were evaluated without a signature.
 */
static const char *
ngx_http_symbolicate_aws_rehearse(ngx_http_symbolicate_aws_t *aws,
    ngx_buf_t **text)
{
    size_t                      size;
    ngx_int_t                   rc;
    ngx_str_t                   uri;
    ngx_chain_t                *bufs, *made;
    ngx_http_request_t         *r;
    ngx_http_upstream_t        *u;
    ngx_http_variable_value_t  *values;
    ngx_http_core_main_conf_t  *cmcf;

    r = aws->request;
    u = r->upstream;

    /* "http://", "https://" */

    if (u->create_request == NULL || u->schema.len < 4
        || ngx_strncmp(u->schema.data, "http", 4) != 0)
    {
        return "only requests of proxy_pass can be signed";
    }

    cmcf = ngx_http_get_module_main_conf(r, ngx_http_core_module);
    size = cmcf->variables.nelts * sizeof(ngx_http_variable_value_t);

    values = ngx_palloc(r->pool, size);
    if (values == NULL) {
        return "out of memory";
    }

    ngx_memcpy(values, r->variables, size);
    bufs = u->request_bufs;
    uri = u->uri;

    aws->rehearsing = 1;
    rc = u->create_request(r);
    aws->rehearsing = 0;

    made = u->request_bufs;

    ngx_memcpy(r->variables, values, size);
    u->request_bufs = bufs;
    u->uri = uri;

    if (rc != NGX_OK || made == NULL || made == bufs) {
        return "proxy_pass made no request";
    }

    *text = made->buf;

    return NULL;
}


/* Splits s at the first c; neither part contains it. */
static ngx_uint_t
ngx_http_symbolicate_aws_cut(sym_str_t *s, char c, sym_str_t *head)
{
    const char  *p;

    p = memchr(s->data, c, s->len);

    if (p == NULL) {
        return 0;
    }

    *head = sym_str(s->data, p - s->data);
    *s = sym_str(p + 1, s->len - head->len - 1);

    return 1;
}


static ngx_uint_t
ngx_http_symbolicate_aws_line(sym_str_t *s, sym_str_t *line)
{
    if (!ngx_http_symbolicate_aws_cut(s, '\n', line)
        || line->len == 0 || line->data[line->len - 1] != '\r')
    {
        return 0;
    }

    line->len--;

    return 1;
}


/*
 * S3 requires that Host and all of its own headers are signed; proxies may
 * change others.
 */
static const char *
ngx_http_symbolicate_aws_read(ngx_http_symbolicate_aws_text_t *t, ngx_buf_t *b)
{
    sym_str_t  text, line, name, path;

    text = sym_str((char *) b->pos, b->last - b->pos);

    if (!ngx_http_symbolicate_aws_line(&text, &line)
        || !ngx_http_symbolicate_aws_cut(&line, ' ', &t->request.method)
        || !ngx_http_symbolicate_aws_cut(&line, ' ', &path)
        || line.len < 5 || ngx_strncmp(line.data, "HTTP/", 5) != 0)
    {
        return "proxy_pass made a request that is not HTTP/1";
    }

    t->request.query = path;

    if (ngx_http_symbolicate_aws_cut(&t->request.query, '?',
                                     &t->request.path) == 0)
    {
        t->request.path = path;
        t->request.query = SYM_STR("");
    }

    while (ngx_http_symbolicate_aws_line(&text, &line)) {

        if (line.len == 0) {
            return NULL;
        }

        if (!ngx_http_symbolicate_aws_cut(&line, ':', &name)) {
            break;
        }

        if ((name.len != 4 || ngx_strncasecmp((u_char *) name.data,
                                              (u_char *) "host", 4) != 0)
            && (name.len < 6 || ngx_strncasecmp((u_char *) name.data,
                                                (u_char *) "x-amz-", 6) != 0))
        {
            continue;
        }

        if (t->n == SYM_SIGV4_HEADERS_MAX) {
            return "there are too many headers to sign";
        }

        t->headers[t->n].name = name;
        t->headers[t->n++].value = line;
    }

    return "proxy_pass made a request without an end";
}


/* Copies the request as sent. */
static ngx_int_t
ngx_http_symbolicate_aws_keep(ngx_pool_t *pool, sym_sigv4_t *from,
    sym_sigv4_t *to)
{
    u_char      *p;
    ngx_uint_t   i;

    sym_str_t  *in[] = { &from->authorization, &from->amz_date,
                         &from->content_sha256, &from->security_token };
    sym_str_t  *out[] = { &to->authorization, &to->amz_date,
                          &to->content_sha256, &to->security_token };

    for (i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        p = ngx_pnalloc(pool, in[i]->len);
        if (p == NULL) {
            ngx_memzero(to, sizeof(sym_sigv4_t));
            return NGX_ERROR;
        }

        ngx_memcpy(p, in[i]->data, in[i]->len);
        *out[i] = sym_str((char *) p, in[i]->len);
    }

    return NGX_OK;
}
