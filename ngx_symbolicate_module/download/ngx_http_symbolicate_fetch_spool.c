
/*
 * ngx_http_symbolicate_fetch_spool.c - the body of an answer, in a file.
 *
 * If the file is in a folder (alias, root), the file itself is passed on.  A
 * body from the network is written to a temporary file.  The file's name is
 * removed before its first byte is written, so no file remains if the worker
 * dies.  The lease limits how much may be written.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/request/sources.h"

#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_spool.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"


/*
 * Keeps the beginning of a body that is not the file: enough to contain S3's
 * error code.
 */
#define NGX_SYMBOLICATE_HINT_MAX  (64 * 1024)

#define NGX_SYMBOLICATE_COPY      (64 * 1024)


static void ngx_http_symbolicate_fetch_more(
    ngx_http_symbolicate_fetch_t *fetch, off_t need);


void
ngx_http_symbolicate_fetch_resume(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->paused) {
        fetch->paused = 0;
        fetch->window = ngx_current_msec;
        fetch->window_from = fetch->received;
        ngx_http_symbolicate_background_resume(fetch->bg);
    }
}


void
ngx_http_symbolicate_fetch_announce(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->remote && fetch->status == NGX_HTTP_OK
        && !fetch->transport->is_prelude(fetch))
    {
        ngx_http_symbolicate_fetch_more(fetch, fetch->announced);
    }
}


/* Requests a larger lease, once. */
static void
ngx_http_symbolicate_fetch_more(ngx_http_symbolicate_fetch_t *fetch,
    off_t need)
{
    if (need > fetch->asked) {
        fetch->asked = need;
        fetch->events->more(fetch->data, need);
    }
}


static ngx_int_t
ngx_http_symbolicate_fetch_temp(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_temp_file_t           *tf;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    tf = ngx_pcalloc(fetch->pool, sizeof(ngx_temp_file_t));
    if (tf == NULL) {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    tf->file.fd = NGX_INVALID_FILE;
    tf->file.log = r->connection->log;
    tf->path = clcf->client_body_temp_path;
    tf->pool = fetch->pool;
    tf->clean = 1;
    tf->access = 0600;

    if (ngx_create_temp_file(&tf->file, tf->path, tf->pool, 0, tf->clean,
                             tf->access)
        != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch,
                                        "no temporary file could be made");
    }

    (void) ngx_delete_file(tf->file.name.data);

    fetch->temp = tf;

    return NGX_OK;
}


/*
 * Appends bytes to the temporary file, as far as the lease allows.  NGX_AGAIN:
 * a larger lease was requested.
 */
static ngx_int_t
ngx_http_symbolicate_fetch_put(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, u_char *data, size_t len)
{
    off_t  size;

    size = fetch->received + (off_t) len;

    if (fetch->source->request_source && fetch->source->request_source->is_links
        && fetch->ref.role == SYM_TEXT_SOURCE
        && size > (off_t) SYM_REQUEST_SOURCE_TEXT_MAX)
    {
        return ngx_http_symbolicate_fetch_fail(fetch,
                                               "the source file is too large");
    }

    if (fetch->announced == -1 && !fetch->lease.whole
        && size > fetch->lease.bytes / 2)
    {
        ngx_http_symbolicate_fetch_more(fetch, fetch->lease.bytes * 2);
    }

    if (size > fetch->lease.bytes && fetch->asked > fetch->lease.bytes
        && !fetch->impatient)
    {
        fetch->paused = 1;
        fetch->paused_at = ngx_current_msec;
        return NGX_AGAIN;
    }

    if (size > fetch->lease.bytes) {
        fetch->need = ngx_max(fetch->announced, size);
        return ngx_http_symbolicate_fetch_fail(fetch, "lease");
    }

    if (fetch->temp == NULL
        && ngx_http_symbolicate_fetch_temp(fetch, r) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_write_file(&fetch->temp->file, data, len, fetch->received)
        != (ssize_t) len)
    {
        return ngx_http_symbolicate_fetch_fail(fetch,
                                  "the temporary file could not be written");
    }

    fetch->received += len;

    return NGX_OK;
}


/*
 * Copies part of a file, such as a cache file, if only that part is needed, or
 * if the rest comes from elsewhere.
 */
static ngx_int_t
ngx_http_symbolicate_fetch_copy(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, ngx_buf_t *b)
{
    u_char     *data;
    ssize_t     n;
    ngx_int_t   rc;

    data = ngx_alloc(NGX_SYMBOLICATE_COPY, r->connection->log);
    if (data == NULL) {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    rc = NGX_OK;

    while (rc == NGX_OK && b->file_pos < b->file_last) {
        n = ngx_read_file(b->file, data,
                          ngx_min(b->file_last - b->file_pos,
                                  NGX_SYMBOLICATE_COPY),
                          b->file_pos);

        if (n <= 0) {
            rc = ngx_http_symbolicate_fetch_fail(fetch,
                                                 "a file ended too early");
            break;
        }

        rc = ngx_http_symbolicate_fetch_put(fetch, r, data, n);

        if (rc == NGX_OK) {
            b->file_pos += n;
        }
    }

    ngx_free(data);

    return rc;
}


/*
 * Sets the descriptor for the loader.  The loader changes the file position,
 * and others may use a descriptor of open_file_cache, so such a file is opened
 * again.  NGX_DECLINED: that is not possible here.
 */
static ngx_int_t
ngx_http_symbolicate_fetch_own(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, ngx_buf_t *b)
{
    u_char                     name[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    ngx_fd_t                   fd;
    ngx_pool_cleanup_t        *cln;
    ngx_pool_cleanup_file_t   *file;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    fd = b->file->fd;

    if (clcf->open_file_cache) {
        cln = ngx_pool_cleanup_add(fetch->pool,
                                   sizeof(ngx_pool_cleanup_file_t));
        if (cln == NULL) {
            return NGX_DECLINED;
        }

        (void) ngx_sprintf(name, "/proc/self/fd/%d%Z", fd);

        fd = open((char *) name, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

        if (fd == NGX_INVALID_FILE) {
            return NGX_DECLINED;
        }

        file = cln->data;
        file->fd = fd;
        file->name = b->file->name.data;
        file->log = ngx_cycle->log;

        cln->handler = ngx_pool_cleanup_file;
    }

    fetch->fd = fd;
    fetch->offset = b->file_pos;
    fetch->received = fetch->announced;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_fetch_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    size_t      len;
    ngx_int_t   rc;
    ngx_buf_t  *b;

    rc = fetch->transport->body(fetch, in);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    for ( ; in; in = in->next) {
        b = in->buf;

        if (ngx_buf_special(b)) {
            continue;
        }

        if (fetch->status != NGX_HTTP_OK) {

            if (!ngx_buf_in_memory(b)) {
                continue;
            }

            len = ngx_min((size_t) (b->last - b->pos),
                          NGX_SYMBOLICATE_HINT - fetch->nhint);

            ngx_memcpy(fetch->hint + fetch->nhint, b->pos, len);
            fetch->nhint += len;
            fetch->received += b->last - b->pos;

            if (fetch->received > NGX_SYMBOLICATE_HINT_MAX) {
                return NGX_ERROR;
            }

            continue;
        }

        if (ngx_buf_in_memory(b)) {
            rc = ngx_http_symbolicate_fetch_put(fetch, r, b->pos,
                                                b->last - b->pos);

        } else if (!fetch->remote && fetch->received == 0 && fetch->fd == -1
                   && b->file_last - b->file_pos == fetch->announced
                   && ngx_http_symbolicate_fetch_own(fetch, r, b) == NGX_OK)
        {
            rc = NGX_OK;

        } else {
            rc = ngx_http_symbolicate_fetch_copy(fetch, r, b);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        b->pos = b->last;
        b->file_pos = b->file_last;
    }

    return NGX_OK;
}
