
/*
 * ngx_http_symbolicate_body.c - makes the body of a request contiguous.
 *
 * A body that nginx holds in one buffer is used in place.  Several buffers and
 * temporary files are copied into one, and gzip is inflated, both in slices.
 * Input and output both count towards a slice.  If the loader reads the body,
 * it is inflated into a file.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


/* Input bytes that are processed in one step. */
#define NGX_SYMBOLICATE_PIECE  (32 * 1024)

/* Bytes of a body that are copied or inflated in one turn. */
#define NGX_SYMBOLICATE_READ   (128 * 1024)

/* The largest step by which the buffer of an inflated body grows. */
#define NGX_SYMBOLICATE_GROW   (4 * 1024 * 1024)

/* Approximate memory that zlib takes to inflate. */
#define NGX_SYMBOLICATE_ZLIB   (48 * 1024)


struct ngx_http_symbolicate_body_s {
    ngx_chain_t      *in;         /* next buffer to read */
    off_t             done;       /* bytes read of this buffer */
    u_char           *window;     /* memory for reading buffers that are in a
                                   * file */

    u_char           *start;      /* the part of the body that has been read and
                                   * is not in the file; allocated, and charged
                                   * to the task */
    u_char           *pos;
    u_char           *end;
    ngx_temp_file_t  *file;       /* NULL: the complete body is in memory */

    size_t            limit;      /* maximum size of an inflated body; 0:
                                   * none */
    sym_str_t         invalid;    /* error for a body that cannot be inflated */
    z_stream          zs;
    unsigned          gzip:1;
    unsigned          inflating:1;   /* zs has allocated memory */
    unsigned          complete:1;    /* zs is at the end of a member */
};


static ngx_int_t ngx_http_symbolicate_read_start(
    ngx_http_symbolicate_task_t *task);
static ngx_uint_t ngx_http_symbolicate_is_gzip(
    ngx_http_symbolicate_task_t *task, ngx_chain_t *bufs);
static ngx_int_t ngx_http_symbolicate_read_all(
    ngx_http_symbolicate_task_t *task, size_t size);
static ngx_int_t ngx_http_symbolicate_unpack_start(
    ngx_http_symbolicate_task_t *task, sym_str_t invalid);
static ngx_int_t ngx_http_symbolicate_unpack_write(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_inflate_init(
    ngx_http_symbolicate_task_t *task, size_t size, sym_str_t invalid);
static ngx_int_t ngx_http_symbolicate_inflate(ngx_http_symbolicate_task_t *task,
    size_t *work);
static ngx_int_t ngx_http_symbolicate_resize(ngx_http_symbolicate_task_t *task,
    size_t size);
static ssize_t ngx_http_symbolicate_next_piece(
    ngx_http_symbolicate_task_t *task, u_char **data);
static ngx_int_t ngx_http_symbolicate_read_failed(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_read_input_end(
    ngx_http_symbolicate_task_t *task);


ngx_int_t
ngx_http_symbolicate_read_step(ngx_http_symbolicate_task_t *task)
{
    u_char                       *data;
    size_t                        work;
    ssize_t                       n;
    ngx_int_t                     rc;
    ngx_http_symbolicate_body_t  *b;

    if (task->reading == NULL) {
        rc = ngx_http_symbolicate_read_start(task);

        if (rc != NGX_AGAIN) {
            return rc;
        }
    }

    b = task->reading;
    work = 0;

    do {
        if (b->gzip) {
            rc = ngx_http_symbolicate_inflate(task, &work);

            if (rc == NGX_AGAIN) {
                continue;
            }

            if (rc != NGX_OK) {
                return rc;
            }

            n = 0;

        } else {
            n = ngx_http_symbolicate_next_piece(task, &data);

            if (n == NGX_ERROR) {
                return ngx_http_symbolicate_read_failed(task);
            }
        }

        if (n == 0) {
            ngx_http_symbolicate_read_input_end(task);

            if (b->gzip
                && ngx_http_symbolicate_resize(task, b->pos - b->start + 1)
                   != NGX_OK)
            {
                return NGX_ERROR;
            }

            task->body = sym_str((char *) b->start, b->pos - b->start);
            return NGX_OK;
        }

        b->pos = ngx_cpymem(b->pos, data, n);
        work += n;

    } while (work < NGX_SYMBOLICATE_READ);

    return NGX_AGAIN;
}


/* NGX_OK: task->body is set; NGX_AGAIN: call again. */
static ngx_int_t
ngx_http_symbolicate_read_start(ngx_http_symbolicate_task_t *task)
{
    off_t                      size;
    ngx_int_t                  rc;
    ngx_chain_t               *cl, *bufs;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = task->request;

    if (task->is_query) {
        task->body = sym_str((char *) r->args.data, r->args.len);
        return NGX_OK;
    }

    bufs = r->request_body->bufs;
    size = 0;

    for (cl = bufs; cl; cl = cl->next) {
        size += ngx_buf_size(cl->buf);
    }

    rc = ngx_http_symbolicate_check_encoding(task);

    if (rc == NGX_OK && ngx_http_symbolicate_is_gzip(task, bufs)) {
        rc = NGX_AGAIN;
    }

    if (rc == NGX_AGAIN) {
        clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

        /*
         * a guess for the first attempt: JSON of this kind shrinks to a fifth
         */

        size = ngx_max(size * 6, NGX_SYMBOLICATE_PIECE);

        if (clcf->client_max_body_size) {
            size = ngx_min(size, clcf->client_max_body_size + 1);
        }

        return ngx_http_symbolicate_inflate_init(task, (size_t) size,
                              task->ctx->route && task->ctx->route->takes_gzip
                                  ? SYM_STR("The profile is not valid gzip")
                                  : SYM_STR("Payload is not valid JSON"));
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (size == 0) {
        task->body = SYM_STR("");
        return NGX_OK;
    }

    if (bufs->next == NULL && !bufs->buf->in_file) {
        task->body = sym_str((char *) bufs->buf->pos, (size_t) size);
        return NGX_OK;
    }

    return ngx_http_symbolicate_read_all(task, (size_t) size);
}


/* Whether the client packed the body itself (RFC 1952, 2.3.1). */
static ngx_uint_t
ngx_http_symbolicate_is_gzip(ngx_http_symbolicate_task_t *task,
    ngx_chain_t *bufs)
{
    u_char        magic[2];
    size_t        n, part;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    if (task->ctx->route == NULL || !task->ctx->route->takes_gzip) {
        return 0;
    }

    n = 0;

    for (cl = bufs; cl && n < sizeof(magic); cl = cl->next) {
        b = cl->buf;
        part = (size_t) ngx_min(ngx_buf_size(b), (off_t) (sizeof(magic) - n));

        if (!b->in_file) {
            ngx_memcpy(magic + n, b->pos, part);

        } else if (ngx_read_file(b->file, magic + n, part, b->file_pos)
                   != (ssize_t) part)
        {
            return 0;
        }

        n += part;
    }

    return n == sizeof(magic) && magic[0] == 0x1f && magic[1] == 0x8b;
}


ngx_int_t
ngx_http_symbolicate_check_encoding(ngx_http_symbolicate_task_t *task)
{
    ngx_str_t        *encoding;
    ngx_table_elt_t  *h;

    h = ngx_http_symbolicate_find_header(task->request, "Content-Encoding");

    if (h == NULL) {
        return NGX_OK;
    }

    encoding = &h->value;

    if ((encoding->len == 4
         && ngx_strncasecmp(encoding->data, (u_char *) "gzip", 4) == 0)
        || (encoding->len == 6
            && ngx_strncasecmp(encoding->data, (u_char *) "x-gzip", 6) == 0))
    {
        return NGX_AGAIN;
    }

    if (encoding->len == 0
        || (encoding->len == 8
            && ngx_strncasecmp(encoding->data, (u_char *) "identity", 8) == 0))
    {
        return NGX_OK;
    }

    /* RFC 7694, section 3: the answer lists the supported encodings */

    if (ngx_http_symbolicate_add_header(task->request, "Accept-Encoding",
                                        "gzip", 4)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_fail(task, NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                     SYM_STR("415 Unsupported Media Type"),
                                     "Content-Encoding must be gzip or none");
}


static ngx_int_t
ngx_http_symbolicate_read_all(ngx_http_symbolicate_task_t *task, size_t size)
{
    ngx_http_symbolicate_body_t  *b;

    b = ngx_pcalloc(task->request->pool, sizeof(ngx_http_symbolicate_body_t));
    if (b == NULL) {
        return ngx_http_symbolicate_read_failed(task);
    }

    task->reading = b;

    b->in = task->request->request_body->bufs;

    return ngx_http_symbolicate_resize(task, size) == NGX_OK ? NGX_AGAIN
                                                             : NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_unpack_step(ngx_http_symbolicate_task_t *task,
    sym_str_t invalid, ngx_temp_file_t **file)
{
    size_t     work;
    ngx_int_t  rc;

    *file = NULL;

    if (task->reading == NULL) {
        rc = ngx_http_symbolicate_check_encoding(task);

        if (rc == NGX_AGAIN) {
            rc = ngx_http_symbolicate_unpack_start(task, invalid);
        }

        if (rc != NGX_AGAIN) {
            return rc;
        }
    }

    work = 0;

    do {
        rc = ngx_http_symbolicate_inflate(task, &work);

    } while (rc == NGX_AGAIN && work < NGX_SYMBOLICATE_READ);

    if (rc == NGX_OK) {
        rc = ngx_http_symbolicate_unpack_write(task);
        *file = task->reading->file;
        ngx_http_symbolicate_read_end(task);
    }

    return rc;
}


static ngx_int_t
ngx_http_symbolicate_unpack_start(ngx_http_symbolicate_task_t *task,
    sym_str_t invalid)
{
    ngx_int_t                  rc;
    ngx_temp_file_t           *tf;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = task->request;
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    rc = ngx_http_symbolicate_inflate_init(task, NGX_SYMBOLICATE_READ, invalid);

    if (rc != NGX_AGAIN) {
        return rc;
    }

    tf = ngx_pcalloc(r->pool, sizeof(ngx_temp_file_t));
    if (tf == NULL) {
        return NGX_ERROR;
    }

    tf->file.fd = NGX_INVALID_FILE;
    tf->file.log = r->connection->log;

    if (ngx_create_temp_file(&tf->file, clcf->client_body_temp_path, r->pool, 1,
                             1, 0)
        != NGX_OK)
    {
        return ngx_http_symbolicate_read_failed(task);
    }

    task->reading->file = tf;

    return NGX_AGAIN;
}


/* Moves the bytes in memory to the file. */
static ngx_int_t
ngx_http_symbolicate_unpack_write(ngx_http_symbolicate_task_t *task)
{
    size_t                        size;
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;
    size = b->pos - b->start;

    if (size != 0
        && ngx_write_file(&b->file->file, b->start, size, b->file->offset)
           == NGX_ERROR)
    {
        return ngx_http_symbolicate_read_failed(task);
    }

    b->file->offset += size;
    b->pos = b->start;

    return NGX_OK;
}


/* size: initial size of the buffer. */
static ngx_int_t
ngx_http_symbolicate_inflate_init(ngx_http_symbolicate_task_t *task,
    size_t size, sym_str_t invalid)
{
    ngx_http_core_loc_conf_t     *clcf;
    ngx_http_symbolicate_body_t  *b;

    clcf = ngx_http_get_module_loc_conf(task->request, ngx_http_core_module);

    if (ngx_http_symbolicate_read_all(task, size) != NGX_AGAIN) {
        return NGX_ERROR;
    }

    b = task->reading;

    b->limit = (size_t) clcf->client_max_body_size;
    b->invalid = invalid;
    b->gzip = 1;

    if (ngx_http_symbolicate_inflate_begin(task, &b->zs) != NGX_OK) {
        return NGX_ERROR;
    }

    b->inflating = 1;

    return NGX_AGAIN;
}


ngx_int_t
ngx_http_symbolicate_inflate_begin(ngx_http_symbolicate_task_t *task,
    z_stream *zs)
{
    if (!sym_account_charge(&task->memory, NGX_SYMBOLICATE_ZLIB)) {
        return ngx_http_symbolicate_fail_memory(task);
    }

    /* 15: largest window; + 16: with header and check of gzip */

    if (inflateInit2(zs, 15 + 16) != Z_OK) {
        sym_account_give(&task->memory, NGX_SYMBOLICATE_ZLIB);
        return ngx_http_symbolicate_read_failed(task);
    }

    return NGX_OK;
}


void
ngx_http_symbolicate_inflate_end(ngx_http_symbolicate_task_t *task,
    z_stream *zs)
{
    (void) inflateEnd(zs);
    sym_account_give(&task->memory, NGX_SYMBOLICATE_ZLIB);
}


/* Reads one bounded piece; NGX_OK: the body is complete; NGX_AGAIN: not yet. */
static ngx_int_t
ngx_http_symbolicate_inflate(ngx_http_symbolicate_task_t *task, size_t *work)
{
    int                           rc;
    u_char                       *data;
    ssize_t                       n;
    z_stream                     *zs;
    size_t                        size;
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;
    zs = &b->zs;

    if (zs->avail_in == 0) {

        n = ngx_http_symbolicate_next_piece(task, &data);

        if (n == NGX_ERROR) {
            return ngx_http_symbolicate_read_failed(task);
        }

        if (n == 0) {

            if (b->complete) {
                return NGX_OK;
            }

            goto broken;
        }

        zs->next_in = data;
        zs->avail_in = (uInt) n;
        *work += n;
    }

    if (b->complete) {

        /* RFC 1952, section 2.2: another member may follow */

        (void) inflateReset(zs);
        b->complete = 0;
    }

    if (b->pos == b->end && b->file) {
        n = ngx_http_symbolicate_unpack_write(task);

        if (n != NGX_OK) {
            return n;
        }

    } else if (b->pos == b->end) {
        size = b->end - b->start;
        size += ngx_min(size, NGX_SYMBOLICATE_GROW);

        if (b->limit) {

            /* the extra byte reveals that the limit was exceeded */

            size = ngx_min(size, b->limit + 1);
        }

        if (ngx_http_symbolicate_resize(task, size) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    n = ngx_min(b->end - b->pos, NGX_SYMBOLICATE_PIECE);

    zs->next_out = b->pos;
    zs->avail_out = (uInt) n;

    rc = inflate(zs, Z_NO_FLUSH);

    *work += zs->next_out - b->pos;
    b->pos = zs->next_out;

    size = b->pos - b->start + (b->file ? (size_t) b->file->offset : 0);

    if (b->limit && size > b->limit) {
        ngx_log_error(NGX_LOG_ERR, task->request->connection->log, 0,
                      "client intended to send too large body: "
                      "inflated it is over %uz bytes", b->limit);

        return ngx_http_symbolicate_fail(task,
                                     NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                     SYM_STR("413 Request Entity Too Large"),
                                     NULL);
    }

    switch (rc) {

    case Z_STREAM_END:
        b->complete = 1;
        return NGX_AGAIN;

    case Z_OK:
    case Z_BUF_ERROR:
        return NGX_AGAIN;

    case Z_MEM_ERROR:
        return ngx_http_symbolicate_read_failed(task);
    }

broken:

    return ngx_http_symbolicate_fail(task, NGX_HTTP_BAD_REQUEST, b->invalid,
                                     NULL);
}


ngx_int_t
ngx_http_symbolicate_read_copy(ngx_http_symbolicate_task_t *task,
    sym_str_t body)
{
    ngx_http_symbolicate_body_t  *b;

    b = ngx_pcalloc(task->request->pool, sizeof(ngx_http_symbolicate_body_t));

    if (b == NULL || !sym_account_charge(&task->memory, body.len)) {
        return NGX_ERROR;
    }

    task->reading = b;

    b->start = ngx_alloc(body.len, task->request->connection->log);
    b->pos = b->start;
    b->end = b->start + body.len;

    if (b->start == NULL) {
        sym_account_give(&task->memory, body.len);
        task->reading = NULL;
        return NGX_ERROR;
    }

    ngx_memcpy(b->start, body.data, body.len);
    task->body = sym_str((char *) b->start, body.len);

    return NGX_OK;
}


/* Grows the buffer; the kernel moves a large block without copying it. */
static ngx_int_t
ngx_http_symbolicate_resize(ngx_http_symbolicate_task_t *task, size_t size)
{
    size_t                        used, before;
    u_char                       *p;
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;
    used = b->pos - b->start;
    before = b->end - b->start;

    if (size > before && !sym_account_charge(&task->memory, size - before)) {
        return ngx_http_symbolicate_fail_memory(task);
    }

    p = realloc(b->start, size);
    if (p == NULL) {
        sym_account_give(&task->memory, size > before ? size - before : 0);
        return ngx_http_symbolicate_read_failed(task);
    }

    sym_account_give(&task->memory, size < before ? before - size : 0);

    b->start = p;
    b->pos = p + used;
    b->end = p + size;

    return NGX_OK;
}


/* Reads bytes of the body as sent; 0: there are no more. */
static ssize_t
ngx_http_symbolicate_next_piece(ngx_http_symbolicate_task_t *task,
    u_char **data)
{
    off_t                         left;
    size_t                        size;
    ssize_t                       n;
    ngx_buf_t                    *buf;
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;

    while (b->in && b->done == ngx_buf_size(b->in->buf)) {
        b->in = b->in->next;
        b->done = 0;
    }

    if (b->in == NULL) {
        return 0;
    }

    buf = b->in->buf;
    left = ngx_buf_size(buf) - b->done;
    size = (size_t) ngx_min(left, NGX_SYMBOLICATE_PIECE);

    if (ngx_buf_in_memory(buf)) {
        *data = buf->pos + b->done;
        b->done += size;
        return size;
    }

    if (b->window == NULL) {
        b->window = ngx_pnalloc(task->request->pool, NGX_SYMBOLICATE_PIECE);
        if (b->window == NULL) {
            return NGX_ERROR;
        }
    }

    n = ngx_read_file(buf->file, b->window, size, buf->file_pos + b->done);

    if (n <= 0) {
        ngx_log_error(NGX_LOG_ERR, task->request->connection->log, 0,
                      "symbolicate: the body's temporary file \"%V\" ends "
                      "too early", &buf->file->name);
        return NGX_ERROR;
    }

    *data = b->window;
    b->done += n;

    return n;
}


static ngx_int_t
ngx_http_symbolicate_read_failed(ngx_http_symbolicate_task_t *task)
{
    return ngx_http_symbolicate_fail(task, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                     SYM_STR("500 Internal Server Error"),
                                     NULL);
}


/* Handles the end of the input. */
static void
ngx_http_symbolicate_read_input_end(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;

    if (b->inflating) {
        ngx_http_symbolicate_inflate_end(task, &b->zs);
        b->inflating = 0;
    }
}


void
ngx_http_symbolicate_read_end(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_body_t  *b;

    b = task->reading;

    if (b == NULL) {
        return;
    }

    ngx_http_symbolicate_read_input_end(task);

    sym_account_give(&task->memory, b->end - b->start);
    free(b->start);

    task->reading = NULL;
    task->body = SYM_STR("");
}
