
/*
 * ngx_http_symbolicate_attachment.c - a file at a URL that a request names.
 *
 * If the file cannot be fetched, that is an answer, not an error.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_attachment.h"
#include "request/ngx_http_symbolicate_download.h"
#include "request/ngx_http_symbolicate_job.h"
#include "request/ngx_http_symbolicate_task.h"
#include "request/ngx_http_symbolicate_upload.h"
#include "request_sources/ngx_http_symbolicate_request_sources.h"


/* Maximum number of such downloads in a worker. */
#define NGX_SYMBOLICATE_ATTACHMENTS       32

/* Same as in Symbolicator. */
#define NGX_SYMBOLICATE_ATTACHMENT_TRIES  3

/* Arena bytes for each byte of a report. */
#define NGX_SYMBOLICATE_ATTACHMENT_RATIO  256

#define NGX_SYMBOLICATE_ATTACHMENT_REASON  (SYM_RPC_REASON_MAX + 64)


struct ngx_http_symbolicate_attachment_s {
    ngx_http_symbolicate_request_sources_t  *sources;   /* its source has the
                                                         * file */
    ngx_http_symbolicate_download_t  *download;
    ngx_uint_t                        tries;
    ngx_str_t                         text;     /* the file; charged to the
                                                 * task */
    ngx_str_t                         failure;  /* or why there is no file */
    u_char                            reason[NGX_SYMBOLICATE_ATTACHMENT_REASON];
    unsigned                          done:1;
};


static ngx_int_t ngx_http_symbolicate_attachment_begin(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_attachment_fetch(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_attachment_fetched(
    ngx_http_symbolicate_lookup_t *lookup);
static void ngx_http_symbolicate_attachment_explain(
    ngx_http_symbolicate_attachment_t *attachment,
    ngx_http_symbolicate_fetch_result_t *result);
static void ngx_http_symbolicate_attachment_cut(ngx_str_t *reason,
    const char *text);
static ngx_int_t ngx_http_symbolicate_attachment_read(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_attachment_report(
    ngx_http_symbolicate_lookup_t *lookup);
static ngx_int_t ngx_http_symbolicate_attachment_charge(
    ngx_http_symbolicate_lookup_t *lookup, size_t size);
static ngx_int_t ngx_http_symbolicate_attachment_use(
    ngx_http_symbolicate_lookup_t *lookup);


static ngx_uint_t  ngx_http_symbolicate_attachments;


ngx_int_t
ngx_http_symbolicate_attachment_step(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                           rc;
    ngx_http_symbolicate_attachment_t  *attachment;

    attachment = lookup->attachment;

    if (attachment == NULL) {
        return ngx_http_symbolicate_attachment_begin(lookup);
    }

    if (!attachment->done) {
        rc = lookup->upload ? ngx_http_symbolicate_attachment_report(lookup)
                            : ngx_http_symbolicate_attachment_fetched(lookup);

        if (rc != NGX_OK) {
            return rc;
        }

        attachment->done = 1;
    }

    return ngx_http_symbolicate_attachment_use(lookup);
}


static ngx_int_t
ngx_http_symbolicate_attachment_begin(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                           rc;
    ngx_http_request_t                 *r;
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_main_conf_t   *smcf;
    ngx_http_symbolicate_attachment_t  *attachment;

    r = lookup->task.request;
    smcf = ngx_http_get_module_main_conf(r, ngx_http_symbolicate_module);
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (ngx_http_symbolicate_attachments >= NGX_SYMBOLICATE_ATTACHMENTS) {
        return ngx_http_symbolicate_fail(&lookup->task,
                                         NGX_HTTP_SERVICE_UNAVAILABLE,
                                         SYM_STR("503 Service Unavailable"),
                                         "too many crash reports are fetched");
    }

    attachment = ngx_pcalloc(r->pool,
                             sizeof(ngx_http_symbolicate_attachment_t));
    if (attachment == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_http_symbolicate_request_sources_create(r, smcf, &slcf->policy,
                                                lookup->asked->link->sources,
                                                     &attachment->sources);

    if (rc == NGX_BUSY) {
        return ngx_http_symbolicate_fail(&lookup->task,
                                         NGX_HTTP_SERVICE_UNAVAILABLE,
                                         SYM_STR("503 Service Unavailable"),
                                         "too many requests with sources");
    }

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    lookup->attachment = attachment;

    rc = ngx_http_symbolicate_attachment_fetch(lookup);

    if (rc != NGX_DONE) {
        return rc;
    }

    /*
     * the client's waiting time begins here; the request may end in this call
     */

    rc = ngx_http_symbolicate_job_begin(lookup);

    return rc == NGX_OK ? NGX_DONE : rc;
}


static ngx_int_t
ngx_http_symbolicate_attachment_fetch(ngx_http_symbolicate_lookup_t *lookup)
{
    sym_object_ref_t                      ref;
    ngx_http_core_loc_conf_t             *clcf;
    ngx_http_symbolicate_lease_t          lease;
    ngx_http_symbolicate_object_t         object;
    ngx_http_symbolicate_attachment_t    *attachment;
    ngx_http_symbolicate_fetch_policy_t  *policy;

    attachment = lookup->attachment;
    policy = ngx_http_symbolicate_request_sources_policy(attachment->sources);

    if (policy->artifacts == NULL) {
        ngx_str_set(&attachment->failure, "download failed: "
                    "symbolicate_request_sources does not allow it");
        attachment->done = 1;
        return NGX_AGAIN;
    }

    clcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_core_module);

    ngx_memzero(&ref, sizeof(sym_object_ref_t));
    ngx_memzero(&object, sizeof(ngx_http_symbolicate_object_t));

    ref.url = lookup->asked->link->url;
    ref.role = SYM_TEXT_BUNDLE;     /* no limit of a source file */

    object.first = policy->artifacts;
    object.places = UINT64_MAX;
    object.ref = &ref;
    object.files = NGX_MAX_UINT32_VALUE;

    lease.bytes = clcf->client_max_body_size ? clcf->client_max_body_size
                                             : NGX_MAX_OFF_T_VALUE;
    lease.whole = 1;

    attachment->tries++;
    attachment->download = ngx_http_symbolicate_download_start(
                                     &ngx_http_symbolicate_attachments,
                                     &lookup->task.turn, policy, &object,
                                     &lease);

    return attachment->download ? NGX_DONE : NGX_ERROR;
}


/* NGX_OK: the file has been read, or the request has no file. */
static ngx_int_t
ngx_http_symbolicate_attachment_fetched(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_download_t      *download;
    ngx_http_symbolicate_attachment_t    *attachment;
    ngx_http_symbolicate_fetch_result_t  *result;

    attachment = lookup->attachment;
    download = attachment->download;

    if (!download->ended && !download->too_large) {
        return NGX_DONE;
    }

    if (download->too_large) {
        ngx_str_set(&attachment->failure, "download failed: "
                    "the file is larger than client_max_body_size");
        return NGX_OK;
    }

    result = ngx_http_symbolicate_fetch_result(download->fetch);

    if (result->state == SYM_MODULE_READY) {
        return ngx_http_symbolicate_attachment_read(lookup);
    }

    if (result->state == SYM_MODULE_FAILED
        && result->status != NGX_HTTP_UNAUTHORIZED
        && result->status != NGX_HTTP_FORBIDDEN
        && attachment->tries < NGX_SYMBOLICATE_ATTACHMENT_TRIES)
    {
        ngx_http_symbolicate_download_drop(download);
        attachment->download = NULL;

        return ngx_http_symbolicate_attachment_fetch(lookup);
    }

    ngx_http_symbolicate_attachment_explain(attachment, result);

    return NGX_OK;
}


static void
ngx_http_symbolicate_attachment_explain(
    ngx_http_symbolicate_attachment_t *attachment,
    ngx_http_symbolicate_fetch_result_t *result)
{
    u_char     *p, *last;
    ngx_str_t   reason;

    reason = result->reason;

    if (result->state == SYM_MODULE_ABSENT) {
        ngx_str_set(&attachment->failure, "not found");
        return;
    }

    if (result->status == NGX_HTTP_UNAUTHORIZED
        || result->status == NGX_HTTP_FORBIDDEN)
    {
        ngx_str_set(&attachment->failure, "permission denied: 403 Forbidden");
        return;
    }

    /* the scope without the digest of the source */

    ngx_http_symbolicate_attachment_cut(&reason, "\": ");

    attachment->failure.data = attachment->reason;
    last = attachment->reason + NGX_SYMBOLICATE_ATTACHMENT_REASON;
    p = ngx_slprintf(attachment->reason, last, "download failed: %V", &reason);
    attachment->failure.len = p - attachment->reason;
}


/* Removes the text and the part before it. */
static void
ngx_http_symbolicate_attachment_cut(ngx_str_t *reason, const char *text)
{
    u_char  *p;

    p = ngx_strnstr(reason->data, (char *) text, reason->len);

    if (p) {
        p += ngx_strlen(text);
        reason->len -= p - reason->data;
        reason->data = p;
    }
}


/* Passes a minidump to the loader; reads other files. */
static ngx_int_t
ngx_http_symbolicate_attachment_read(ngx_http_symbolicate_lookup_t *lookup)
{
    u_char                                magic[4];
    size_t                                size;
    ngx_http_symbolicate_attachment_t    *attachment;
    ngx_http_symbolicate_fetch_result_t  *result;

    attachment = lookup->attachment;
    result = ngx_http_symbolicate_fetch_result(attachment->download->fetch);

    if (lookup->asked->link->route->is_upload) {

        if (pread(result->fd, magic, 4, result->offset) != 4
            || (ngx_strncmp(magic, "MDMP", 4) != 0
                && ngx_strncmp(magic, "PMDM", 4) != 0))
        {
            ngx_str_set(&attachment->failure, "Header mismatch");
            return NGX_OK;
        }

        return ngx_http_symbolicate_upload_send(lookup, result->fd,
                                                result->offset,
                                                result->length);
    }

    if (result->length > NGX_SYMBOLICATE_REPORT_MAX) {
        ngx_str_set(&attachment->failure,
                    "failed to parse apple crash report");
        return NGX_OK;
    }

    size = (size_t) result->length;

    if (ngx_http_symbolicate_attachment_charge(lookup, size) != NGX_OK) {
        return NGX_ERROR;
    }

    attachment->text.data = ngx_http_symbolicate_upload_text(lookup, result->fd,
                                                             result->offset,
                                                             size);
    if (attachment->text.data == NULL) {
        sym_account_give(&lookup->task.memory, size);
        return NGX_ERROR;
    }

    attachment->text.len = size;

    return NGX_OK;
}


/* Checks whether the loader has replied. */
static ngx_int_t
ngx_http_symbolicate_attachment_report(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_int_t                           rc;
    ngx_str_t                           text;
    ngx_http_symbolicate_attachment_t  *attachment;

    attachment = lookup->attachment;
    rc = ngx_http_symbolicate_upload_report(lookup, &text);

    if (rc == NGX_DECLINED) {
        ngx_http_symbolicate_attachment_cut(&text, ": "); /* removes "malformed:
                                                           * " */
        attachment->failure = text;
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_symbolicate_attachment_charge(lookup, text.len) != NGX_OK) {
        ngx_free(text.data);
        return NGX_ERROR;
    }

    attachment->text = text;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_attachment_charge(ngx_http_symbolicate_lookup_t *lookup,
    size_t size)
{
    return sym_account_charge(&lookup->task.memory, size)
           ? NGX_OK : ngx_http_symbolicate_fail_memory(&lookup->task);
}


/* Continues with the request for which the file was fetched. */
static ngx_int_t
ngx_http_symbolicate_attachment_use(ngx_http_symbolicate_lookup_t *lookup)
{
    sym_request_t                      *linked;
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_attachment_t  *attachment;

    attachment = lookup->attachment;
    linked = lookup->asked;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    lookup->arena.limit +=
        attachment->text.len * NGX_SYMBOLICATE_ATTACHMENT_RATIO;

    lookup->call.route = linked->link->route;
    lookup->call.linked = linked;
    lookup->call.body = sym_str((char *) attachment->text.data,
                                attachment->text.len);
    lookup->call.failure = sym_str((char *) attachment->failure.data,
                                   attachment->failure.len);

    lookup->asked = sym_api_create(slcf->api, &lookup->arena, linked->options,
                                   &lookup->call);

    return lookup->asked ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_attachment_copy(ngx_http_symbolicate_lookup_t *lookup,
    const ngx_http_symbolicate_lookup_t *from)
{
    ngx_http_symbolicate_attachment_t  *attachment;

    if (from->attachment && !from->attachment->done) {
        return NGX_OK;
    }

    if (from->attachment) {
        attachment = ngx_pcalloc(lookup->task.request->pool,
                                 sizeof(ngx_http_symbolicate_attachment_t));
        if (attachment == NULL) {
            return NGX_ERROR;
        }

        attachment->done = 1;
        lookup->attachment = attachment;

        attachment->failure.len = from->attachment->failure.len;
        attachment->failure.data = ngx_pstrdup(lookup->task.request->pool,
                                               &from->attachment->failure);

        if (attachment->failure.data == NULL
            || !sym_account_charge(&lookup->task.memory,
                                   from->attachment->text.len))
        {
            return NGX_ERROR;
        }

        attachment->text.len = from->attachment->text.len;
        attachment->text.data = ngx_alloc(attachment->text.len + 1,
                                          ngx_cycle->log);
        if (attachment->text.data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(attachment->text.data, from->attachment->text.data,
                   attachment->text.len);
    }

    return ngx_http_symbolicate_upload_copy(lookup, from);
}


void
ngx_http_symbolicate_attachment_end(ngx_http_symbolicate_lookup_t *lookup)
{
    ngx_http_symbolicate_attachment_t  *attachment;

    attachment = lookup->attachment;

    if (attachment == NULL) {
        return;
    }

    ngx_http_symbolicate_download_drop(attachment->download);
    attachment->download = NULL;

    if (attachment->sources) {
        ngx_http_symbolicate_request_sources_release(attachment->sources);
        attachment->sources = NULL;
    }

    if (attachment->text.data) {
        ngx_free(attachment->text.data);
    }

    sym_account_give(&lookup->task.memory, attachment->text.len);
    ngx_str_null(&attachment->text);
}
