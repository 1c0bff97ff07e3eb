
/*
 * ngx_http_symbolicate_upload.c - request bodies that the loader reads.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/hex.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_task.h"
#include "request/ngx_http_symbolicate_upload.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"


#define NGX_SYMBOLICATE_NO_FORM                                               \
    SYM_STR("the body is no form of the type multipart/form-data")

/*
 * The loader refuses more deposits from one worker; some are reserved for
 * events.
 */
#define NGX_SYMBOLICATE_UPLOADS      32


struct ngx_http_symbolicate_upload_s {
    ngx_http_symbolicate_rpc_t      rpc;
    ngx_http_symbolicate_lookup_t  *lookup;
    ngx_fd_t                        fd;
    off_t                           offset;
    off_t                           size;       /* of the file */
    uint64_t                        report;     /* length of the report after
                                                 * the body; 0: none */
    ngx_str_t                       reason;     /* if refused */
    unsigned                        active:1;   /* counted */
    unsigned                        refused:1;  /* not a form, or not a crash
                                                 * dump */
    unsigned                        replied:1;
};


static ngx_int_t ngx_http_symbolicate_upload_start(
    ngx_http_symbolicate_lookup_t *lookup);
static void ngx_http_symbolicate_upload_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_upload_note(
    ngx_http_symbolicate_upload_t *upload, sym_str_t reason);
static ngx_int_t ngx_http_symbolicate_upload_take(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_upload_failed(
    ngx_http_symbolicate_lookup_t *lookup, const char *why);
static bool ngx_http_symbolicate_upload_read(void *file, uint64_t at, void *to,
    size_t len);


static ngx_uint_t  ngx_http_symbolicate_uploads;


void
ngx_http_symbolicate_upload_spool(ngx_http_request_t *r)
{
    r->request_body_in_file_only = 1;
    r->request_body_in_clean_file = 1;
    r->request_body_file_log_level = NGX_LOG_INFO;
}


ngx_int_t
ngx_http_symbolicate_upload_step(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_lookup_t  *lookup;

    lookup = (ngx_http_symbolicate_lookup_t *) task;

    return lookup->upload ? ngx_http_symbolicate_upload_take(lookup)
                          : ngx_http_symbolicate_upload_start(lookup);
}


static ngx_int_t
ngx_http_symbolicate_upload_start(ngx_http_symbolicate_lookup_t *lookup)
{
    off_t                size;
    ngx_int_t            rc;
    ngx_chain_t         *cl;
    ngx_temp_file_t     *inflated;
    ngx_http_request_t  *r;

    r = lookup->task.request;

    if (r->request_body->temp_file == NULL) {
        return ngx_http_symbolicate_fail(&lookup->task, NGX_HTTP_BAD_REQUEST,
                                         SYM_STR("the body is empty"), NULL);
    }

    rc = ngx_http_symbolicate_unpack_step(&lookup->task,
                                          NGX_SYMBOLICATE_NO_FORM, &inflated);

    if (rc != NGX_OK) {
        return rc;
    }

    if (inflated) {
        return ngx_http_symbolicate_upload_send(lookup, inflated->file.fd, 0,
                                                inflated->offset);
    }

    size = 0;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {
        size += ngx_buf_size(cl->buf);
    }

    return ngx_http_symbolicate_upload_send(lookup,
                                      r->request_body->temp_file->file.fd, 0,
                                      size);
}


ngx_int_t
ngx_http_symbolicate_upload_send(ngx_http_symbolicate_lookup_t *lookup,
    ngx_fd_t fd, off_t offset, off_t size)
{
    sym_rpc_message_t                 m;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_upload_t    *upload;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = lookup->task.request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->loader == NULL) {
        return ngx_http_symbolicate_upload_failed(lookup,
                            "there is no symbolicate_loader to read crashes");
    }

    if (ngx_http_symbolicate_uploads >= NGX_SYMBOLICATE_UPLOADS) {
        return ngx_http_symbolicate_upload_failed(lookup,
                                                  "too many crashes at once");
    }

    upload = ngx_pcalloc(r->pool, sizeof(ngx_http_symbolicate_upload_t));
    if (upload == NULL) {
        return NGX_ERROR;
    }

    upload->lookup = lookup;
    upload->fd = fd;
    upload->offset = offset;
    upload->size = size;
    upload->rpc.on_reply = ngx_http_symbolicate_upload_reply;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_DEPOSIT;
    m.flags = SYM_RPC_REPORT;
    m.offset = offset;
    m.length = size;
    m.source = SYM_STR("upload");

    if (ngx_http_symbolicate_rpc_call_with(
            ngx_http_symbolicate_loader_of(slcf->loader), &upload->rpc, &m, fd)
        != NGX_OK)
    {
        return ngx_http_symbolicate_upload_failed(lookup,
                                           "the symbol loader is not running");
    }

    lookup->upload = upload;
    upload->active = 1;
    ngx_http_symbolicate_uploads++;

    return NGX_DONE;
}


static void
ngx_http_symbolicate_upload_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_upload_t  *upload;

    upload = (ngx_http_symbolicate_upload_t *) rpc;

    upload->replied = 1;

    if (m && (m->flags & SYM_RPC_DID)) {
        (void) sym_dec_read(m->text, &upload->report);

    } else if (m && (m->flags & SYM_RPC_NOTHING)) {
        upload->refused = 1;
        ngx_http_symbolicate_upload_note(upload, m->text);

    } else {
        ngx_log_error(NGX_LOG_ERR,
                      upload->lookup->task.request->connection->log, 0,
                      "symbolicate: a crash was not read: %*s",
                      m ? m->text.len : sizeof("the loader went away") - 1,
                      m ? m->text.data : "the loader went away");
    }

    ngx_http_symbolicate_enqueue(&upload->lookup->task.turn);
}


/* Returns the reason of a refusal; empty if there is no memory. */
static void
ngx_http_symbolicate_upload_note(ngx_http_symbolicate_upload_t *upload,
    sym_str_t reason)
{
    upload->reason.data = ngx_pnalloc(upload->lookup->task.request->pool,
                                      reason.len + 1);

    if (upload->reason.data) {
        upload->reason.len = reason.len;
        ngx_memcpy(upload->reason.data, reason.data, reason.len);
    }
}


u_char *
ngx_http_symbolicate_upload_text(ngx_http_symbolicate_lookup_t *lookup,
    ngx_fd_t fd, off_t offset, size_t size)
{
    u_char  *text;

    text = ngx_alloc(size + 1, lookup->task.request->connection->log);

    if (text && pread(fd, text, size, offset) != (ssize_t) size) {
        ngx_free(text);
        return NULL;
    }

    return text;
}


ngx_int_t
ngx_http_symbolicate_upload_report(ngx_http_symbolicate_lookup_t *lookup,
    ngx_str_t *text)
{
    ngx_http_symbolicate_upload_t  *upload;

    upload = lookup->upload;

    if (!upload->replied) {
        return NGX_DONE;
    }

    if (upload->refused) {
        *text = upload->reason;
        return NGX_DECLINED;
    }

    if (upload->report == 0 || upload->report > NGX_SYMBOLICATE_REPORT_MAX) {
        return ngx_http_symbolicate_upload_failed(lookup,
                                             "the loader has read no report");
    }

    lookup->call.read = ngx_http_symbolicate_upload_read;
    lookup->call.file = upload;

    text->len = upload->report;
    text->data = ngx_http_symbolicate_upload_text(lookup, upload->fd,
                                                  upload->offset + upload->size,
                                                  text->len);

    return text->data ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_upload_take(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_http_symbolicate_upload_report(lookup, &text);

    if (rc == NGX_DECLINED) {
        return ngx_http_symbolicate_fail(&lookup->task, NGX_HTTP_BAD_REQUEST,
                                         NGX_SYMBOLICATE_NO_FORM, NULL);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_http_symbolicate_read_copy(&lookup->task,
                                        sym_str((char *) text.data, text.len));
    ngx_free(text.data);

    if (rc != NGX_OK && lookup->task.memory.refused) {
        return ngx_http_symbolicate_fail_memory(&lookup->task);
    }

    return rc;
}


static ngx_int_t
ngx_http_symbolicate_upload_failed(ngx_http_symbolicate_lookup_t *lookup,
    const char *why)
{
    return ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"), why);
}


static bool
ngx_http_symbolicate_upload_read(void *file, uint64_t at, void *to, size_t len)
{
    ngx_http_symbolicate_upload_t *upload = file;

    ssize_t  n;

    n = pread(upload->fd, to, len, upload->offset + (off_t) at);

    return n >= 0 && (size_t) n == len;
}


ngx_int_t
ngx_http_symbolicate_upload_copy(ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from)
{
    ngx_pool_t                     *pool;
    ngx_pool_cleanup_t             *cln;
    ngx_pool_cleanup_file_t        *clnf;
    ngx_http_symbolicate_upload_t  *upload;

    if (from->upload == NULL) {
        return NGX_OK;
    }

    pool = lookup->task.request->pool;

    upload = ngx_pcalloc(pool, sizeof(ngx_http_symbolicate_upload_t));
    cln = ngx_pool_cleanup_add(pool, sizeof(ngx_pool_cleanup_file_t));

    if (upload == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    upload->lookup = lookup;
    upload->replied = 1;
    upload->offset = from->upload->offset;
    upload->fd = fcntl(from->upload->fd, F_DUPFD_CLOEXEC, 0);

    if (upload->fd == NGX_INVALID_FILE) {
        return NGX_ERROR;
    }

    cln->handler = ngx_pool_cleanup_file;
    clnf = cln->data;
    clnf->fd = upload->fd;
    clnf->name = (u_char *) "an upload";
    clnf->log = pool->log;

    lookup->upload = upload;
    lookup->call.read = ngx_http_symbolicate_upload_read;
    lookup->call.file = upload;

    return NGX_OK;
}


void
ngx_http_symbolicate_upload_end(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_upload_t  *upload;

    upload = lookup->upload;

    if (upload == NULL || !upload->active) {
        return;
    }

    upload->active = 0;
    ngx_http_symbolicate_uploads--;
    ngx_http_symbolicate_rpc_cancel(&upload->rpc);
}
