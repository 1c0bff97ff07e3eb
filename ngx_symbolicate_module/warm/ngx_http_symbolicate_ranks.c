
/*
 * ngx_http_symbolicate_ranks.c - the list of the artifacts that a fleet uses
 * most, in the fleet's bucket.
 *
 * Bytes from and to the bucket are in files in memory.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <sys/mman.h>

#include "warm/ngx_http_symbolicate_ranks.h"


#define NGX_SYMBOLICATE_RANKS_PART  2


static ngx_int_t ngx_http_symbolicate_ranks_ask(
    ngx_http_symbolicate_ranks_t *ranks, sym_rpc_object_t kind, off_t length,
    void (*done)(void *data, ngx_http_symbolicate_s3_result_t *result));
static void ngx_http_symbolicate_ranks_got(void *data,
    ngx_http_symbolicate_s3_result_t *result);
static void ngx_http_symbolicate_ranks_put(void *data,
    ngx_http_symbolicate_s3_result_t *result);


static void
ngx_http_symbolicate_ranks_close(ngx_http_symbolicate_ranks_t *ranks)
{
    if (ranks->fd != NGX_INVALID_FILE) {
        (void) ngx_close_file(ranks->fd);
        ranks->fd = NGX_INVALID_FILE;
    }
}


void
ngx_http_symbolicate_ranks_drop(ngx_http_symbolicate_ranks_t *ranks)
{
    if (ranks->s3) {
        ngx_http_symbolicate_s3_free(ranks->s3);
        ranks->s3 = NULL;
        ngx_http_symbolicate_ranks_close(ranks);
    }

    sym_ranks_free(ranks->list);
    ranks->list = NULL;
}


/* The request gets a descriptor of its own, which it closes. */
static ngx_int_t
ngx_http_symbolicate_ranks_ask(ngx_http_symbolicate_ranks_t *ranks,
    sym_rpc_object_t kind, off_t length,
    void (*done)(void *data, ngx_http_symbolicate_s3_result_t *result))
{
    ngx_http_symbolicate_shared_t      *share;
    ngx_http_symbolicate_s3_request_t   request;

    share = ranks->policy->share;

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = kind;
    request.server = ranks->policy->server;
    request.uri = share->bucket.uri;
    request.path = SYM_STR(SYM_RANKS_KEY);
    request.length = length;
    request.limit = SYM_RANKS_BYTES_MAX;

    if (kind == SYM_RPC_OBJECT_WRITE && !share->no_conditions) {
        request.condition = ranks->condition;
    }

    request.fd = dup(ranks->fd);

    ranks->s3 = request.fd == -1 ? NULL
                : ngx_http_symbolicate_s3_start(&request, done, ranks);

    if (ranks->s3 == NULL) {
        ngx_http_symbolicate_ranks_close(ranks);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_ranks_open(ngx_http_symbolicate_ranks_t *ranks)
{
    ranks->fd = memfd_create("symbolicate ranks", MFD_CLOEXEC);

    return ranks->fd == NGX_INVALID_FILE ? NGX_ERROR : NGX_OK;
}


sym_status_t
ngx_http_symbolicate_ranks_room(sym_store_t *store, uint64_t *bytes,
    sym_error_t *err)
{
    sym_status_t      status;
    sym_store_mark_t  mark;
    sym_store_stat_t  stat;

    ngx_memzero(&mark, sizeof(sym_store_mark_t));

    status = sym_store_stat_part(store, &mark, 1, &stat, err);

    if (status == SYM_OK || status == SYM_AGAIN) {
        *bytes = stat.live_limit / NGX_SYMBOLICATE_RANKS_PART;
        return SYM_OK;
    }

    return status;
}


/* --- read --- */

ngx_int_t
ngx_http_symbolicate_ranks_read(ngx_http_symbolicate_ranks_t *ranks)
{
    ngx_http_symbolicate_ranks_drop(ranks);

    ranks->condition = sym_str(NULL, 0);
    ranks->list = sym_ranks_create(ngx_time());

    if (ranks->list == NULL
        || ngx_http_symbolicate_ranks_open(ranks) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_ranks_ask(ranks, SYM_RPC_OBJECT_READ, 0,
                                          ngx_http_symbolicate_ranks_got);
}


/* The length is at most SYM_RANKS_BYTES_MAX. */
static sym_status_t
ngx_http_symbolicate_ranks_parse(ngx_http_symbolicate_ranks_t *ranks,
    size_t len, sym_error_t *err)
{
    u_char        *data;
    sym_status_t   status;

    data = ngx_alloc(len + 1, ngx_cycle->log);
    if (data == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    status = pread(ranks->fd, data, len, 0) == (ssize_t) len
             ? sym_ranks_read(ranks->list, data, len, err)
             : sym_fail(err, SYM_IO, "the list cannot be read");

    ngx_free(data);

    return status;
}


/*
 * Keeps the ETag: the list is replaced only if it is still this one.  Without
 * an ETag that can be used, the last node wins.
 */
static void
ngx_http_symbolicate_ranks_keep(ngx_http_symbolicate_ranks_t *ranks,
    ngx_str_t *etag)
{
    ranks->condition = SYM_STR("");

    if (etag->len <= NGX_SYMBOLICATE_ETAG) {
        ngx_memcpy(ranks->etag, etag->data, etag->len);
        ranks->condition = sym_str((char *) ranks->etag, etag->len);
    }
}


static void
ngx_http_symbolicate_ranks_got(void *data,
    ngx_http_symbolicate_s3_result_t *s3)
{
    ngx_http_symbolicate_ranks_t *ranks = data;

    char                                 text[256];
    sym_error_t                          err;
    ngx_http_symbolicate_ranks_result_t  result;

    ngx_memzero(&result, sizeof(ngx_http_symbolicate_ranks_result_t));
    ngx_memzero(&err, sizeof(sym_error_t));

    ranks->s3 = NULL;

    if (s3->absent) {
        ranks->condition = SYM_STR("*");

    } else if (!s3->did) {
        result.trouble = s3->reason;

    } else {
        ngx_http_symbolicate_ranks_keep(ranks, &s3->value);

        if (ngx_http_symbolicate_ranks_parse(ranks, s3->length, &err)
            != SYM_OK)
        {
            result.trouble.data = (u_char *) sym_error_text(&err, text,
                                                            sizeof(text));
            result.trouble.len = ngx_strlen(result.trouble.data);
        }
    }

    ngx_http_symbolicate_ranks_close(ranks);
    ranks->done(ranks->data, &result);
}


/* --- write --- */

ngx_int_t
ngx_http_symbolicate_ranks_write(ngx_http_symbolicate_ranks_t *ranks)
{
    size_t        len;
    ngx_int_t     rc;
    sym_buffer_t  bytes;

    ngx_memzero(&bytes, sizeof(sym_buffer_t));
    sym_ranks_write(ranks->list, &bytes);
    len = bytes.len;

    rc = bytes.failed ? NGX_ERROR : ngx_http_symbolicate_ranks_open(ranks);

    if (rc == NGX_OK && pwrite(ranks->fd, bytes.data, len, 0) != (ssize_t) len)
    {
        ngx_http_symbolicate_ranks_close(ranks);
        rc = NGX_ERROR;
    }

    sym_buffer_free(&bytes);

    return rc != NGX_OK ? rc
           : ngx_http_symbolicate_ranks_ask(ranks, SYM_RPC_OBJECT_WRITE, len,
                                            ngx_http_symbolicate_ranks_put);
}


static void
ngx_http_symbolicate_ranks_put(void *data,
    ngx_http_symbolicate_s3_result_t *s3)
{
    ngx_http_symbolicate_ranks_t *ranks = data;

    ngx_http_symbolicate_ranks_result_t  result;

    ngx_memzero(&result, sizeof(ngx_http_symbolicate_ranks_result_t));

    ranks->s3 = NULL;
    ngx_http_symbolicate_ranks_close(ranks);

    if (!s3->did) {
        result.trouble = s3->reason;
        result.changed = s3->changed || s3->unknown;

        /* the next attempt has no condition */

        ranks->policy->share->no_conditions |= s3->unknown;
    }

    ranks->done(ranks->data, &result);
}
