
/*
 * ngx_http_symbolicate_s3.c - one request to the bucket of a source.
 *
 * The body comes from a file, and an object that is read goes to one: the
 * worker has no more of it in memory than nginx's buffers.  A body is not
 * hashed for the signature (UNSIGNED-PAYLOAD); the bucket compares it with
 * Content-MD5.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/paths/plan.h"

#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_s3.h"


/* Attempts, and the pause after the first one, which doubles. */
#define NGX_SYMBOLICATE_S3_TRIES   4
#define NGX_SYMBOLICATE_S3_PAUSE   500

/* The beginning of an answer without its leading white space, which S3 sends
 * while it joins parts: enough for an upload's id, or an error's code. */
#define NGX_SYMBOLICATE_S3_HINT    2048

#define NGX_SYMBOLICATE_S3_REASON  256

#define NGX_SYMBOLICATE_S3_CACHED  "its answer comes from nginx's cache"

#define NGX_SYMBOLICATE_S3_TEXT    (SYM_RPC_SOURCE_MAX)


struct ngx_http_symbolicate_s3_s {
    ngx_http_symbolicate_s3_request_t    request;
    ngx_http_symbolicate_background_t   *bg;
    ngx_event_t                          timer;
    ngx_uint_t                           tries;

    void                               (*done)(void *data,
                                      ngx_http_symbolicate_s3_result_t *result);
    void                                *data;  /* the owner's own */

    ngx_str_t                            plain;
    ngx_str_t                            encoded;
    ngx_str_t                            path;  /* encoded, below the source */
    ngx_str_t                            args;
    ngx_str_t                            md5;   /* base 64 */
    ngx_str_t                            condition;
    const char                          *condition_name;

    /* the current attempt */
    ngx_uint_t                           status;     /* 0: no answer */
    off_t                                announced;
    off_t                                received;
    const char                          *trouble;    /* NULL: none */
    ngx_str_t                            etag;
    u_char                               text[NGX_SYMBOLICATE_S3_TEXT];
    u_char                               hint[NGX_SYMBOLICATE_S3_HINT];
    size_t                               nhint;
    unsigned                             orphan:1;   /* has no owner */
    unsigned                             opaque:1;   /* the ETag is no MD5 */
};


static ngx_int_t ngx_http_symbolicate_s3_prepare(ngx_http_symbolicate_s3_t *s3,
    ngx_http_symbolicate_s3_request_t *request);
static ngx_int_t ngx_http_symbolicate_s3_args(ngx_http_symbolicate_s3_t *s3,
    ngx_http_symbolicate_s3_request_t *request, ngx_pool_t *pool);
static ngx_int_t ngx_http_symbolicate_s3_ask(ngx_http_symbolicate_s3_t *s3);
static void ngx_http_symbolicate_s3_again(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_s3_header(void *data,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_s3_body(void *data,
    ngx_http_request_t *r, ngx_chain_t *in);
static void ngx_http_symbolicate_s3_ended(void *data, ngx_http_request_t *r);
static void ngx_http_symbolicate_s3_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_s3_events = {
    ngx_http_symbolicate_s3_header,
    ngx_http_symbolicate_s3_body,
    ngx_http_symbolicate_s3_ended,
    ngx_http_symbolicate_s3_done
};


/* By sym_rpc_object_t.  nginx does not repeat a POST that it has sent: it would
 * send a file from its beginning, not from the range's. */
static struct {
    ngx_uint_t                           method;
    ngx_str_t                            name;
} ngx_http_symbolicate_s3_methods[SYM_RPC_OBJECTS] = {
    { NGX_HTTP_HEAD, ngx_string("HEAD") },
    { NGX_HTTP_GET, ngx_string("GET") },
    { NGX_HTTP_POST, ngx_string("PUT") },
    { NGX_HTTP_DELETE, ngx_string("DELETE") },
    { NGX_HTTP_POST, ngx_string("POST") },
    { NGX_HTTP_POST, ngx_string("PUT") },
    { NGX_HTTP_POST, ngx_string("POST") },
    { NGX_HTTP_DELETE, ngx_string("DELETE") }
};


/* --- the request --- */

ngx_http_symbolicate_s3_t *
ngx_http_symbolicate_s3_start(ngx_http_symbolicate_s3_request_t *request,
    void (*done)(void *data, ngx_http_symbolicate_s3_result_t *result),
    void *data)
{
    ngx_http_symbolicate_s3_t  *s3;

    s3 = ngx_calloc(sizeof(ngx_http_symbolicate_s3_t), ngx_cycle->log);

    if (s3 == NULL) {
        if (request->fd != -1) {
            (void) ngx_close_file(request->fd);
        }

        return NULL;
    }

    s3->request = *request;
    s3->done = done;
    s3->data = data;

    s3->timer.handler = ngx_http_symbolicate_s3_again;
    s3->timer.data = s3;
    s3->timer.log = ngx_cycle->log;

    s3->bg = ngx_http_symbolicate_background_create(request->server,
                                               &ngx_http_symbolicate_s3_events,
                                                    s3);

    if (s3->bg == NULL
        || ngx_http_symbolicate_s3_prepare(s3, request) != NGX_OK
        || ngx_http_symbolicate_s3_ask(s3) != NGX_OK)
    {
        ngx_http_symbolicate_s3_free(s3);
        return NULL;
    }

    return s3;
}


/* What all attempts send. */
static ngx_int_t
ngx_http_symbolicate_s3_prepare(ngx_http_symbolicate_s3_t *s3,
    ngx_http_symbolicate_s3_request_t *request)
{
    char         room[SYM_SOURCE_ENCODED_MAX];
    ngx_str_t    md5;
    sym_str_t    encoded;
    ngx_uint_t   is_new;        /* the object must not exist */
    ngx_pool_t  *pool;

    pool = ngx_http_symbolicate_background_pool(s3->bg);

    if (request->path.len > SYM_SOURCE_PATH_MAX) {
        return NGX_ERROR;
    }

    encoded = sym_source_encode(request->path, room);

    s3->plain.len = request->uri.len + request->path.len;
    s3->plain.data = ngx_pnalloc(pool, s3->plain.len);
    s3->encoded.len = request->uri.len + encoded.len;
    s3->encoded.data = ngx_pnalloc(pool, s3->encoded.len);

    if (s3->plain.data == NULL || s3->encoded.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(s3->plain.data, request->uri.data, request->uri.len),
               request->path.data, request->path.len);
    ngx_memcpy(ngx_cpymem(s3->encoded.data, request->uri.data,
                          request->uri.len),
               encoded.data, encoded.len);

    s3->path.data = s3->encoded.data + request->uri.len;
    s3->path.len = encoded.len;

    if (request->md5.len) {
        md5.data = (u_char *) request->md5.data;
        md5.len = request->md5.len;

        s3->md5.data = ngx_pnalloc(pool, ngx_base64_encoded_length(md5.len));
        if (s3->md5.data == NULL) {
            return NGX_ERROR;
        }

        ngx_encode_base64(&s3->md5, &md5);
    }

    if (request->condition.len) {
        is_new = request->condition.len == 1
                 && *request->condition.data == '*';

        s3->condition_name = is_new ? "If-None-Match" : "If-Match";

        s3->condition.data = ngx_pnalloc(pool, request->condition.len + 2);
        if (s3->condition.data == NULL) {
            return NGX_ERROR;
        }

        s3->condition.len = ngx_sprintf(s3->condition.data,
                                        is_new ? "%*s" : "\"%*s\"",
                                        request->condition.len,
                                        request->condition.data)
                            - s3->condition.data;
    }

    if (ngx_http_symbolicate_s3_args(s3, request, pool) != NGX_OK) {
        return NGX_ERROR;
    }

    /* the caller's strings end before another attempt */

    request = &s3->request;
    request->path = request->upload_id = request->condition = request->md5
        = SYM_STR("");

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_s3_args(ngx_http_symbolicate_s3_t *s3,
    ngx_http_symbolicate_s3_request_t *request, ngx_pool_t *pool)
{
    u_char  *p;

    if (request->kind == SYM_RPC_OBJECT_BEGIN) {
        ngx_str_set(&s3->args, "uploads");
        return NGX_OK;
    }

    if (request->upload_id.len == 0) {
        return NGX_OK;
    }

    p = ngx_pnalloc(pool, sizeof("partNumber=&uploadId=") + NGX_INT64_LEN
                          + 3 * request->upload_id.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    s3->args.data = p;

    if (request->kind == SYM_RPC_OBJECT_PART) {
        p = ngx_sprintf(p, "partNumber=%uL&", request->limit);
    }

    p = ngx_sprintf(p, "uploadId=");
    p = (u_char *) ngx_escape_uri(p, (u_char *) request->upload_id.data,
                                  request->upload_id.len,
                                  NGX_ESCAPE_URI_COMPONENT);

    s3->args.len = p - s3->args.data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_s3_ask(ngx_http_symbolicate_s3_t *s3)
{
    ngx_http_symbolicate_s3_request_t  *request;

    request = &s3->request;

    s3->tries++;
    s3->status = 0;
    s3->announced = -1;
    s3->received = 0;
    s3->trouble = NULL;
    s3->nhint = 0;
    ngx_str_null(&s3->etag);

    if (ngx_http_symbolicate_background_reset(s3->bg) != NGX_OK
        || (s3->md5.len
            && ngx_http_symbolicate_background_add_header(s3->bg,
                                                       "Content-MD5", &s3->md5)
               != NGX_OK)
        || (s3->condition.len
            && ngx_http_symbolicate_background_add_header(s3->bg,
                                                       s3->condition_name,
                                                       &s3->condition)
               != NGX_OK)
        || (request->kind != SYM_RPC_OBJECT_READ && request->fd != -1
            && ngx_http_symbolicate_background_set_file(s3->bg, request->fd,
                                             request->offset, request->length)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_start(s3->bg,
                        ngx_http_symbolicate_s3_methods[request->kind].method,
                        &ngx_http_symbolicate_s3_methods[request->kind].name,
                        &s3->plain, &s3->args);
}


void
ngx_http_symbolicate_s3_free(ngx_http_symbolicate_s3_t *s3)
{
    if (s3->timer.timer_set) {
        ngx_del_timer(&s3->timer);
    }

    if (s3->bg && ngx_http_symbolicate_background_free(s3->bg) != NGX_OK) {
        s3->orphan = 1;         /* a thread reads the file for it */
        return;
    }

    if (s3->request.fd != -1) {
        (void) ngx_close_file(s3->request.fd);
    }

    ngx_free(s3);
}


/* --- nginx's side of it --- */

static ngx_http_symbolicate_s3_t *
ngx_http_symbolicate_s3_of(ngx_http_request_t *r)
{
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_symbolicate_background_of(r);

    return bg ? ngx_http_symbolicate_background_data(bg,
                                               &ngx_http_symbolicate_s3_events)
              : NULL;
}


/* As ngx_http_symbolicate_fetch_encode(). */
ngx_int_t
ngx_http_symbolicate_s3_encode(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t   *clcf;
    ngx_http_symbolicate_s3_t  *s3;

    s3 = ngx_http_symbolicate_s3_of(r);

    if (s3 == NULL) {
        return NGX_DECLINED;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        s3->trouble = NGX_SYMBOLICATE_X_ACCEL;
        return NGX_HTTP_BAD_GATEWAY;
    }

    if (!clcf->internal) {
        s3->trouble = "its location is not internal";
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (clcf->handler == NULL || r->uri.len != s3->plain.len
        || ngx_strncmp(r->uri.data, s3->plain.data, r->uri.len) != 0)
    {
        return NGX_DECLINED;
    }

    r->uri = s3->encoded;
    r->internal = 0;
    r->quoted_uri = 0;

    return NGX_DECLINED;
}


void
ngx_http_symbolicate_s3_refuse(ngx_http_request_t *r, const char *trouble)
{
    ngx_http_symbolicate_s3_t  *s3;

    s3 = ngx_http_symbolicate_s3_of(r);

    if (s3) {
        s3->trouble = trouble;
    }
}


ngx_str_t *
ngx_http_symbolicate_s3_path(ngx_http_request_t *r)
{
    ngx_http_symbolicate_s3_t  *s3;

    s3 = ngx_http_symbolicate_s3_of(r);

    return s3 ? &s3->path : NULL;
}


/* --- the answer --- */

/* The ETag of an object that is encrypted with a key of its own says nothing of
 * its bytes. */
static ngx_uint_t
ngx_http_symbolicate_s3_is_opaque(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    static ngx_str_t  kms = ngx_string("x-amz-server-side-encryption");
    static ngx_str_t  own =
                  ngx_string("x-amz-server-side-encryption-customer-algorithm");

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].hash == 0) {
                continue;
            }

            if (h[i].key.len == own.len
                && ngx_strncasecmp(h[i].key.data, own.data, own.len) == 0)
            {
                return 1;
            }

            if (h[i].key.len == kms.len
                && ngx_strncasecmp(h[i].key.data, kms.data, kms.len) == 0
                && h[i].value.len >= 7
                && ngx_strncmp(h[i].value.data, "aws:kms", 7) == 0)
            {
                return 1;
            }
        }
    }

    return 0;
}


/* Without its quotes. */
static void
ngx_http_symbolicate_s3_keep_etag(ngx_http_symbolicate_s3_t *s3,
    ngx_http_request_t *r)
{
    ngx_str_t  value;

    if (r->headers_out.etag == NULL) {
        return;
    }

    /* conditions and parts need ETags of any form */

    s3->opaque = ngx_http_symbolicate_s3_is_opaque(r);

    value = r->headers_out.etag->value;

    if (value.len >= 2 && value.data[0] == '"'
        && value.data[value.len - 1] == '"')
    {
        value.data++;
        value.len -= 2;
    }

    if (value.len <= NGX_SYMBOLICATE_S3_TEXT) {
        ngx_memcpy(s3->text, value.data, value.len);
        s3->etag.data = s3->text;
        s3->etag.len = value.len;
    }
}


static ngx_int_t
ngx_http_symbolicate_s3_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_s3_t *s3 = data;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        s3->trouble = NGX_SYMBOLICATE_X_ACCEL;
        return NGX_ERROR;
    }

    /* a location without an upstream has not sent the request anywhere */

    if (r->upstream == NULL) {
        s3->trouble = "its location passes nothing on to a bucket";
        return NGX_ERROR;
    }

#if (NGX_HTTP_CACHE)
    if (r->cached) {
        s3->trouble = NGX_SYMBOLICATE_S3_CACHED;
        return NGX_ERROR;
    }
#endif

    s3->status = r->headers_out.status;
    s3->announced = r->headers_out.content_length_n;

    ngx_http_symbolicate_s3_keep_etag(s3, r);

    r->filter_need_in_memory = 1;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_s3_keep(ngx_http_symbolicate_s3_t *s3, u_char *data,
    size_t len)
{
    if (s3->request.kind != SYM_RPC_OBJECT_READ || s3->status != NGX_HTTP_OK) {

        while (s3->nhint == 0 && len
               && (*data == ' ' || *data == CR || *data == LF || *data == '\t'))
        {
            data++;
            len--;
        }

        len = ngx_min(len, NGX_SYMBOLICATE_S3_HINT - s3->nhint);

        ngx_memcpy(s3->hint + s3->nhint, data, len);
        s3->nhint += len;

        return NGX_OK;
    }

    if (len > s3->request.limit - (uint64_t) s3->received) {
        s3->trouble = "the object is too large";
        return NGX_ERROR;
    }

    while (len) {
        ssize_t  n;

        n = pwrite(s3->request.fd, data, len,
                   s3->request.offset + s3->received);

        if (n <= 0) {
            s3->trouble = "the object could not be written to a file";
            return NGX_ERROR;
        }

        data += n;
        len -= n;
        s3->received += n;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_s3_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_s3_t *s3 = data;

    ngx_buf_t  *b;

    for ( ; in; in = in->next) {
        b = in->buf;

        if (ngx_buf_special(b)) {
            continue;
        }

        if (!ngx_buf_in_memory(b)) {
            s3->trouble = NGX_SYMBOLICATE_S3_CACHED;
            return NGX_ERROR;
        }

        if (ngx_http_symbolicate_s3_keep(s3, b->pos, b->last - b->pos)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        b->pos = b->last;
    }

    return NGX_OK;
}


static void
ngx_http_symbolicate_s3_ended(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_s3_t *s3 = data;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        s3->trouble = NGX_SYMBOLICATE_X_ACCEL;
    }
}


/* The text of an element, in the answer's beginning. */
static ngx_str_t
ngx_http_symbolicate_s3_element(ngx_http_symbolicate_s3_t *s3, const char *tag)
{
    u_char     *p, *end;
    ngx_str_t   text;

    ngx_str_null(&text);

    p = ngx_strnstr(s3->hint, (char *) tag, s3->nhint);

    if (p) {
        p += ngx_strlen(tag);
        end = ngx_strlchr(p, s3->hint + s3->nhint, '<');

        if (end) {
            text.data = p;
            text.len = end - p;
        }
    }

    return text;
}


/* S3 sends the status 200 before it joins parts, and then may say that it has
 * failed. */
static ngx_uint_t
ngx_http_symbolicate_s3_is_error(ngx_http_symbolicate_s3_t *s3)
{
    return s3->request.kind == SYM_RPC_OBJECT_COMPLETE
           && ngx_strnstr(s3->hint, "<Error>", s3->nhint) != NULL;
}


static ngx_uint_t
ngx_http_symbolicate_s3_has_code(ngx_http_symbolicate_s3_t *s3,
    const char *code)
{
    ngx_str_t  is;

    is = ngx_http_symbolicate_s3_element(s3, "<Code>");

    return is.len == ngx_strlen(code)
           && ngx_strncmp(is.data, code, is.len) == 0;
}


/* Amazon S3 answers with 412; with 409 if another request was writing the
 * object at that time; and with 404 if an object that had to have an ETag does
 * not exist. */
static ngx_uint_t
ngx_http_symbolicate_s3_is_changed(ngx_http_symbolicate_s3_t *s3)
{
    return s3->condition.len
           && (s3->status == NGX_HTTP_PRECONDITION_FAILED
               || s3->status == NGX_HTTP_CONFLICT
               || (s3->status == NGX_HTTP_NOT_FOUND
                   && ngx_http_symbolicate_s3_has_code(s3, "NoSuchKey")));
}


/* Servers without conditions say so, or that the request is wrong. */
static ngx_uint_t
ngx_http_symbolicate_s3_is_unknown(ngx_http_symbolicate_s3_t *s3)
{
    return s3->condition.len
           && (s3->status == NGX_HTTP_NOT_IMPLEMENTED
               || (s3->status == NGX_HTTP_BAD_REQUEST
                   && (ngx_http_symbolicate_s3_has_code(s3, "NotImplemented")
                       || ngx_http_symbolicate_s3_has_code(s3,
                                                           "InvalidRequest")
                       || ngx_http_symbolicate_s3_has_code(s3,
                                                         "InvalidArgument"))));
}


static ngx_uint_t
ngx_http_symbolicate_s3_is_no_upload(ngx_http_symbolicate_s3_t *s3)
{
    return s3->request.kind == SYM_RPC_OBJECT_COMPLETE
           && ngx_http_symbolicate_s3_has_code(s3, "NoSuchUpload");
}


static ngx_uint_t
ngx_http_symbolicate_s3_may_pass(ngx_http_symbolicate_s3_t *s3,
    ngx_uint_t is_whole)
{
    if (s3->trouble) {
        return 0;
    }

    switch (s3->status) {

    case 0:
    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_TOO_MANY_REQUESTS:
        return 1;

    case NGX_HTTP_NOT_IMPLEMENTED:
        return 0;

    default:
        return s3->status >= NGX_HTTP_INTERNAL_SERVER_ERROR
               || (s3->status == NGX_HTTP_OK
                   && (ngx_http_symbolicate_s3_is_error(s3)
                       || (s3->request.kind == SYM_RPC_OBJECT_COMPLETE
                           && !is_whole)));
    }
}


static ngx_uint_t
ngx_http_symbolicate_s3_did(ngx_http_symbolicate_s3_t *s3, ngx_uint_t is_whole)
{
    if (s3->trouble || s3->status < NGX_HTTP_OK
        || s3->status >= NGX_HTTP_SPECIAL_RESPONSE
        || ngx_http_symbolicate_s3_is_error(s3))
    {
        return 0;
    }

    switch (s3->request.kind) {

    case SYM_RPC_OBJECT_READ:
    case SYM_RPC_OBJECT_COMPLETE:
        return s3->status == NGX_HTTP_OK && is_whole;

    default:
        return 1;
    }
}


/* Why it failed, for the client. */
static void
ngx_http_symbolicate_s3_explain(ngx_http_symbolicate_s3_t *s3,
    ngx_str_t *reason)
{
    u_char     *p, *last;
    ngx_str_t   code;

    code = ngx_http_symbolicate_s3_element(s3, "<Code>");
    p = reason->data;
    last = p + NGX_SYMBOLICATE_S3_REASON;

    if (s3->trouble) {
        p = ngx_slprintf(p, last, "%s", s3->trouble);

    } else if (s3->status == 0) {
        p = ngx_slprintf(p, last, "it does not answer");

    } else if (s3->status == NGX_HTTP_OK && code.len == 0) {
        p = ngx_slprintf(p, last, "its answer was cut off");

    } else {
        p = ngx_slprintf(p, last, "it answered with %ui%s%V", s3->status,
                         code.len ? " " : "", &code);
    }

    reason->len = p - reason->data;
}


static void
ngx_http_symbolicate_s3_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_s3_t *s3 = data;

    u_char                            reason[NGX_SYMBOLICATE_S3_REASON];
    sym_rpc_object_t                  kind;
    ngx_uint_t                        passing;
    ngx_http_symbolicate_s3_result_t  result;

    if (s3->orphan) {
        s3->orphan = 0;
        ngx_http_symbolicate_s3_free(s3);
        return;
    }

    kind = s3->request.kind;

    /* nginx's own status for no answer, or none that it understood */

    if (s3->status == 0 && rc == NGX_HTTP_TOO_MANY_REQUESTS) {
        s3->status = rc;
    }

    passing = ngx_http_symbolicate_s3_may_pass(s3, is_whole);

    if (passing && s3->tries < NGX_SYMBOLICATE_S3_TRIES) {
        ngx_add_timer(&s3->timer,
                      NGX_SYMBOLICATE_S3_PAUSE << (s3->tries - 1));
        return;
    }

    ngx_memzero(&result, sizeof(ngx_http_symbolicate_s3_result_t));
    result.reason.data = reason;

    result.did = ngx_http_symbolicate_s3_did(s3, is_whole);
    result.opaque = s3->opaque;
    result.passing = passing;
    result.absent = s3->trouble == NULL && s3->status == NGX_HTTP_NOT_FOUND
                    && (kind == SYM_RPC_OBJECT_LOOK
                        || kind == SYM_RPC_OBJECT_READ
                        || ngx_http_symbolicate_s3_is_no_upload(s3));
    result.changed = s3->trouble == NULL
                     && ngx_http_symbolicate_s3_is_changed(s3);
    result.unknown = s3->trouble == NULL
                     && ngx_http_symbolicate_s3_is_unknown(s3);

    if (result.did) {
        result.length = kind == SYM_RPC_OBJECT_READ ? s3->received
                                                    : ngx_max(s3->announced, 0);
        result.value = kind == SYM_RPC_OBJECT_BEGIN
                       ? ngx_http_symbolicate_s3_element(s3, "<UploadId>")
                       : s3->etag;

    } else {
        ngx_http_symbolicate_s3_explain(s3, &result.reason);
    }

    s3->done(s3->data, &result);

    ngx_http_symbolicate_s3_free(s3);
}


static void
ngx_http_symbolicate_s3_again(ngx_event_t *ev)
{
    ngx_http_symbolicate_s3_t *s3 = ev->data;

    if (ngx_http_symbolicate_s3_ask(s3) != NGX_OK) {
        s3->trouble = "out of memory";
        ngx_http_symbolicate_s3_done(s3, NGX_ERROR, 0);
    }
}
