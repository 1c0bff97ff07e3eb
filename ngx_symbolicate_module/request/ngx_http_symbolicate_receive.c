
/*
 * ngx_http_symbolicate_receive.c - uploads of symbol files.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/upload/upload.h"
#include "base/hmac.h"
#include "store/object.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "request/ngx_http_symbolicate_assemble.h"
#include "request/ngx_http_symbolicate_body_turns.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_receive.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"
#include "request/ngx_http_symbolicate_upload.h"
#include "request/ngx_http_symbolicate_upload_url.h"
#include "rpc/ngx_http_symbolicate_bucket.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"
#include "store/ngx_http_symbolicate_store.h"


/* Files at a time.  The loader accepts twice as many from one worker. */
#define NGX_SYMBOLICATE_RECEIVE_MAX    24

#define NGX_SYMBOLICATE_RECEIVE_WINDOW 4096


typedef struct ngx_http_symbolicate_receive_s
    ngx_http_symbolicate_receive_t;


/* Counts an upload until the loader has answered, even if its client leaves. */
typedef struct {
    ngx_http_symbolicate_rpc_t       rpc;       /* the first member */
    ngx_queue_t                      queue;
    uint8_t                          token[SYM_SHA256_LEN];
    ngx_http_symbolicate_receive_t  *receive;   /* NULL: the client has left */
} ngx_http_symbolicate_slot_t;


struct ngx_http_symbolicate_receive_s {
    ngx_http_symbolicate_task_t   task;         /* the first member */
    ngx_http_symbolicate_slot_t  *slot;         /* NULL: not counted */
    sym_upload_call_t             call;
    char                          room[SYM_UPLOAD_ROOM];
    const sym_upload_protocol_t  *protocol;
    const sym_upload_token_t     *token;        /* NULL: no token is required */
    ngx_fd_t                      fd;           /* the upload: the body, or the
                                                 * file at a URL */
    off_t                         size;
    double                        started_s;

    ngx_http_symbolicate_upload_url_t  *by_url; /* NULL: the body is the
                                                 * upload */
    ngx_http_symbolicate_upload_file_t  file;   /* the one at the URL */
    unsigned                      is_try:1;     /* it is for try uploads */

    sym_upload_refusal_t          why;          /* FINE: the loader has
                                                 * processed it */
    sym_str_t                     reason;
    sym_upload_counts_t           counts;
    unsigned                      sent:1;
    unsigned                      replied:1;
};


/* Looks a module up, because a client may ask whether it exists. */
typedef struct {
    sym_str_t                     scope;
    sym_object_ref_t              ref;
} ngx_http_symbolicate_receive_look_t;


static ngx_int_t ngx_http_symbolicate_receive_call(ngx_http_request_t *r,
    sym_upload_call_t *call);
static sym_upload_refusal_t ngx_http_symbolicate_receive_check(
    ngx_http_request_t *r, ngx_http_symbolicate_receive_t *receive);
static ngx_int_t ngx_http_symbolicate_receive_busy(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive, ngx_int_t rc);
static ngx_int_t ngx_http_symbolicate_receive_assemble(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive, sym_upload_made_t form);
static void ngx_http_symbolicate_receive_assembled(void *data);
static ngx_int_t ngx_http_symbolicate_receive_count(
    ngx_http_symbolicate_receive_t *receive);
static void ngx_http_symbolicate_receive_free(
    ngx_http_symbolicate_slot_t *slot);
static bool ngx_http_symbolicate_receive_has(void *data, sym_str_t name,
    sym_str_t id);
static bool ngx_http_symbolicate_receive_sign(void *data, sym_str_t text,
    char out[SYM_SHA256_HEX_LEN]);
static void ngx_http_symbolicate_receive_log(
    ngx_http_symbolicate_receive_t *receive, ngx_uint_t status);
static ngx_int_t ngx_http_symbolicate_receive_refuse(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive);
static ngx_int_t ngx_http_symbolicate_receive_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_receive_body(
    ngx_http_symbolicate_receive_t *receive);
static ngx_int_t ngx_http_symbolicate_receive_fetch(
    ngx_http_symbolicate_receive_t *receive, sym_str_t url);
static ngx_int_t ngx_http_symbolicate_receive_file(
    ngx_http_symbolicate_receive_t *receive);
static ngx_int_t ngx_http_symbolicate_receive_send(
    ngx_http_symbolicate_receive_t *receive);
static void ngx_http_symbolicate_receive_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m);
static ngx_int_t ngx_http_symbolicate_receive_answer(
    ngx_http_symbolicate_receive_t *receive);
static void ngx_http_symbolicate_receive_cleanup(
    ngx_http_symbolicate_task_t *task);


static ngx_queue_t  ngx_http_symbolicate_slots = {
    &ngx_http_symbolicate_slots, &ngx_http_symbolicate_slots
};
static uint64_t    ngx_http_symbolicate_receive_number;


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_receive_work = {
    { ngx_http_symbolicate_receive_step, NULL, NULL, NULL },
    NULL,
    NULL,
    ngx_http_symbolicate_receive_cleanup,
    NULL
};


ngx_int_t
ngx_http_symbolicate_receive_handler(ngx_http_request_t *r, sym_str_t rest)
{
    ngx_int_t                         rc;
    sym_out_t                         out;
    ngx_chain_t                      *body;
    sym_upload_made_t                 made;
    sym_upload_answer_t               answer;
    ngx_http_symbolicate_growing_t    growing;
    ngx_http_symbolicate_receive_t   *receive;

    receive = ngx_http_symbolicate_task_create(r,
                                        sizeof(ngx_http_symbolicate_receive_t),
                                        &ngx_http_symbolicate_receive_work);
    if (receive == NULL
        || ngx_http_symbolicate_receive_call(r, &receive->call) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    receive->call.room = receive->room;
    receive->started_s = (double) ngx_time();
    receive->protocol = sym_upload_protocol(&receive->call);
    receive->why = ngx_http_symbolicate_receive_check(r, receive);

    if (receive->why != SYM_UPLOAD_FINE) {
        return ngx_http_symbolicate_receive_refuse(r, receive);
    }

    if (receive->protocol->assembles) {
        made = receive->protocol->assembles(&receive->call);

        if (made != SYM_UPLOAD_NOTHING) {
            return ngx_http_symbolicate_receive_assemble(r, receive, made);
        }
    }

    ngx_http_symbolicate_growing_begin(&growing, r,
                                       NGX_SYMBOLICATE_RECEIVE_WINDOW, &out);

    if (receive->protocol->reply
        && receive->protocol->reply(&receive->call, &answer, &out))
    {
        body = ngx_http_symbolicate_growing_end(&growing, &out);

        ngx_http_symbolicate_receive_log(receive, answer.status);

        receive->task.ctx->served = answer.status < NGX_HTTP_BAD_REQUEST
                                    ? SYM_SERVED_OK
                                    : ngx_http_symbolicate_lookup_served(
                                                               answer.status);

        return body ? ngx_http_symbolicate_send_body(r, answer.status,
                                                     answer.type, body)
                    : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_symbolicate_receive_count(receive);

    if (rc != NGX_OK) {
        return ngx_http_symbolicate_receive_busy(r, receive, rc);
    }

    ngx_http_symbolicate_upload_spool(r);

    if (ngx_http_symbolicate_body_take_turns(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_task_read(&receive->task);
}


/* It was not counted. */
static ngx_int_t
ngx_http_symbolicate_receive_busy(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive, ngx_int_t rc)
{
    if (rc != NGX_BUSY) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    receive->why = SYM_UPLOAD_BUSY;
    return ngx_http_symbolicate_receive_refuse(r, receive);
}


/* A request to assemble files is another task, which counts until it ends. */
static ngx_int_t
ngx_http_symbolicate_receive_assemble(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive, sym_upload_made_t form)
{
    ngx_int_t            rc;
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(r->pool, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_symbolicate_receive_count(receive);

    if (rc != NGX_OK) {
        return ngx_http_symbolicate_receive_busy(r, receive, rc);
    }

    cln->handler = ngx_http_symbolicate_receive_assembled;
    cln->data = receive->slot;
    receive->slot = NULL;

    return ngx_http_symbolicate_assemble_handler(r, form, &receive->call);
}


static void
ngx_http_symbolicate_receive_assembled(void *data)
{
    ngx_http_symbolicate_receive_free(data);
}


/* Fills in the parts of the request for protocols. */
static ngx_int_t
ngx_http_symbolicate_receive_call(ngx_http_request_t *r,
    sym_upload_call_t *call)
{
    size_t                            len;
    ngx_str_t                         base;
    ngx_time_t                       *tp;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    len = ngx_min(slcf->place.base.len, r->uri.len);

    call->method = (unsigned) r->method;
    call->needs_token = !slcf->upload.tokens->off;
    call->path = sym_str((char *) r->uri.data + len, r->uri.len - len);
    call->query = sym_str((char *) r->args.data, r->args.len);
    call->header = ngx_http_symbolicate_header;
    call->has = ngx_http_symbolicate_receive_has;
    call->sign = ngx_http_symbolicate_receive_sign;
    call->ctx = r;


    tp = ngx_timeofday();
    call->now_ms = (uint64_t) tp->sec * 1000 + tp->msec;

    call->number = (uint64_t) ngx_time() << 32
                   ^ (uint64_t) ngx_pid << 16
                   ^ ++ngx_http_symbolicate_receive_number;

    /* a random UUID (RFC 9562, section 5.4) */

    (void) ngx_sprintf((u_char *) call->uuid,
                       "%08xD-%04xD-4%03xD-8%03xD-%08xD%04xD%Z",
                       (uint32_t) ngx_random(),
                       (uint32_t) ngx_random() & 0xffff,
                       (uint32_t) ngx_random() & 0xfff,
                       (uint32_t) ngx_random() & 0xfff,
                       (uint32_t) ngx_random(),
                       (uint32_t) ngx_random() & 0xffff);

    if (ngx_http_symbolicate_base(r, len, &base) != NGX_OK) {
        return NGX_ERROR;
    }

    call->base = sym_str((char *) base.data, base.len);

    return NGX_OK;
}


/* Checks everything that does not need the body. */
static sym_upload_refusal_t
ngx_http_symbolicate_receive_check(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive)
{
    sym_str_t                         secret, source;
    const sym_upload_token_t         *token;
    sym_upload_refusal_t              why;
    ngx_http_symbolicate_tokens_t    *tokens;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    tokens = slcf->upload.tokens;

    if (receive->protocol->admit) {
        why = receive->protocol->admit(&receive->call,
                                       tokens->off ? NULL : &tokens->all,
                                       &receive->token);
        receive->call.token = receive->token;

        if (why != SYM_UPLOAD_FINE) {
            return why;
        }

    } else if (!tokens->off) {
        secret = receive->protocol->secret(&receive->call);

        if (secret.data == NULL) {
            return SYM_UPLOAD_NO_TOKEN;
        }

        token = sym_upload_token_find(&tokens->all, secret);

        if (token == NULL) {
            return SYM_UPLOAD_BAD_TOKEN;
        }

        if (token->expires_s && (uint64_t) ngx_time() >= token->expires_s) {
            return SYM_UPLOAD_EXPIRED;
        }

        receive->token = token;
        receive->call.token = token;
    }

    if (!(receive->protocol->methods & receive->call.method)) {
        return SYM_UPLOAD_NO_METHOD;
    }

    token = receive->token;

    if (token == NULL) {
        return SYM_UPLOAD_FINE;
    }

    source = sym_str((char *) slcf->upload.target.data,
                     slcf->upload.target.len);

    if (!sym_upload_token_has_source(token, source)
        || !(token->rights & SYM_UPLOAD_MAY_UPLOAD
             || (receive->protocol->takes_try && token->rights)))
    {
        return SYM_UPLOAD_NO_RIGHT;
    }

    if (token->bytes && r->headers_in.content_length_n > 0
        && (uint64_t) r->headers_in.content_length_n > token->bytes)
    {
        return SYM_UPLOAD_TOO_LARGE;
    }

    return SYM_UPLOAD_FINE;
}


/* NGX_BUSY: the token, or all clients of this worker, have too many. */
static ngx_int_t
ngx_http_symbolicate_receive_count(ngx_http_symbolicate_receive_t *receive)
{
    ngx_uint_t                    all, same;
    ngx_queue_t                  *q;
    const sym_upload_token_t     *token;
    ngx_http_symbolicate_slot_t  *slot;

    token = receive->token;
    all = 0;
    same = 0;

    for (q = ngx_queue_head(&ngx_http_symbolicate_slots);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_slots);
         q = ngx_queue_next(q))
    {
        slot = ngx_queue_data(q, ngx_http_symbolicate_slot_t, queue);

        all++;
        same += token && ngx_memcmp(slot->token, token->hash, SYM_SHA256_LEN)
                         == 0;
    }

    if (all >= NGX_SYMBOLICATE_RECEIVE_MAX
        || (token && same >= token->at_once))
    {
        return NGX_BUSY;
    }

    slot = ngx_calloc(sizeof(ngx_http_symbolicate_slot_t),
                      receive->task.request->connection->log);
    if (slot == NULL) {
        return NGX_ERROR;
    }

    if (token) {
        ngx_memcpy(slot->token, token->hash, SYM_SHA256_LEN);
    }

    slot->receive = receive;
    receive->slot = slot;
    ngx_queue_insert_tail(&ngx_http_symbolicate_slots, &slot->queue);

    return NGX_OK;
}


static void
ngx_http_symbolicate_receive_free(ngx_http_symbolicate_slot_t *slot)
{
    ngx_queue_remove(&slot->queue);
    ngx_free(slot);
}


static sym_status_t
ngx_http_symbolicate_receive_look(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_receive_look_t *look = data;

    sym_object_record_t  record;

    return sym_snapshot_object(snapshot, look->scope, &look->ref,
                               SYM_KIND_SYMCACHE, &record, err);
}


/* If the store cannot be read, the client uploads the file again. */
static bool
ngx_http_symbolicate_receive_has(void *data, sym_str_t name, sym_str_t id)
{
    ngx_http_request_t *r = data;

    const char                           *reason;
    sym_error_t                           err;
    ngx_http_symbolicate_loc_conf_t      *slcf;
    ngx_http_symbolicate_receive_look_t   look;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    look.scope = sym_str((char *) slcf->upload.target.data,
                         slcf->upload.target.len);
    sym_object_ref_mozilla(&look.ref, name, id);

    return ngx_http_symbolicate_store_read(slcf->store,
                                           ngx_http_symbolicate_receive_look,
                                           &look, r->connection->log, &err,
                                           &reason)
           == SYM_OK;
}


static bool
ngx_http_symbolicate_receive_sign(void *data, sym_str_t text,
    char out[SYM_SHA256_HEX_LEN])
{
    sym_sha256_t  digest;

    if (!sym_hmac_sha256(ngx_http_symbolicate_session_key(), text, &digest)) {
        return false;
    }

    sym_sha256_hex(&digest, out);

    return true;
}


/* Some protocols show the UUID to the client. */
static void
ngx_http_symbolicate_receive_log(ngx_http_symbolicate_receive_t *receive,
    ngx_uint_t status)
{
    if (status < NGX_HTTP_BAD_REQUEST) {
        return;
    }

    ngx_log_error(NGX_LOG_NOTICE, receive->task.request->connection->log, 0,
                  "symbolicate: an upload was refused with %ui: %s%s%*s, "
                  "uuid %s", status,
                  receive->why ? sym_upload_words(receive->why)
                               : "see the answer",
                  receive->reason.len ? ": " : "",
                  receive->reason.len,
                  receive->reason.len ? receive->reason.data : "",
                  receive->call.uuid);
}


/* Makes the body of a refusal; *status is its status.  NULL: no memory. */
static ngx_chain_t *
ngx_http_symbolicate_receive_refusal(ngx_http_symbolicate_receive_t *receive,
    sym_upload_answer_t *answer)
{
    sym_out_t                        out;
    const char                      *allow;
    ngx_chain_t                     *body;
    ngx_http_request_t              *r;
    ngx_http_symbolicate_growing_t   growing;

    r = receive->task.request;

    allow = receive->protocol->methods == SYM_UPLOAD_PUT ? "PUT"
            : receive->protocol->methods & SYM_UPLOAD_PUT ? "POST, PUT"
            : "POST";

    ngx_http_symbolicate_growing_begin(&growing, r,
                                       NGX_SYMBOLICATE_RECEIVE_WINDOW, &out);
    receive->protocol->refuse(&receive->call, receive->why, receive->reason,
                              answer, &out);
    body = ngx_http_symbolicate_growing_end(&growing, &out);

    receive->task.ctx->served = ngx_http_symbolicate_lookup_served(
                                                              answer->status);

    ngx_http_symbolicate_receive_log(receive, answer->status);

    if (body == NULL
        || ((answer->status == NGX_HTTP_SERVICE_UNAVAILABLE
             || answer->status == NGX_HTTP_TOO_MANY_REQUESTS)
            && ngx_http_symbolicate_add_header(r, "Retry-After", "5", 1)
               != NGX_OK)
        || (answer->status == NGX_HTTP_NOT_ALLOWED
            && ngx_http_symbolicate_add_header(r, "Allow", allow,
                                               ngx_strlen(allow))
               != NGX_OK))
    {
        return NULL;
    }

    return body;
}


static ngx_int_t
ngx_http_symbolicate_receive_refuse(ngx_http_request_t *r,
    ngx_http_symbolicate_receive_t *receive)
{
    ngx_chain_t          *body;
    sym_upload_answer_t   answer;

    body = ngx_http_symbolicate_receive_refusal(receive, &answer);

    return body ? ngx_http_symbolicate_send_body(r, answer.status,
                                                 answer.type, body)
                : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_receive_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                        rc;
    ngx_chain_t                     *body;
    sym_upload_answer_t              answer;
    ngx_http_symbolicate_receive_t  *receive;

    receive = (ngx_http_symbolicate_receive_t *) task;

    if (receive->replied && receive->why == SYM_UPLOAD_FINE) {
        rc = ngx_http_symbolicate_receive_answer(receive);

    } else if (receive->replied) {
        rc = NGX_DECLINED;

    } else {
        rc = receive->by_url ? ngx_http_symbolicate_receive_file(receive)
                             : ngx_http_symbolicate_receive_body(receive);
    }

    if (rc != NGX_DECLINED) {
        return rc;
    }

    body = ngx_http_symbolicate_receive_refusal(receive, &answer);
    ngx_http_symbolicate_task_reply(task, answer.status, answer.type, body);

    return NGX_DONE;
}


/* NGX_DONE: the loader is at work; NGX_DECLINED: receive->why is set. */
static ngx_int_t
ngx_http_symbolicate_receive_body(ngx_http_symbolicate_receive_t *receive)
{
    ngx_chain_t         *cl;
    ngx_http_request_t  *r;

    r = receive->task.request;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {
        receive->size += ngx_buf_size(cl->buf);
    }

    receive->fd = NGX_INVALID_FILE;

    if (receive->size == 0 && receive->protocol->takes_empty) {
        return ngx_http_symbolicate_receive_send(receive);
    }

    if (r->request_body->temp_file == NULL || receive->size == 0) {
        receive->why = SYM_UPLOAD_MALFORMED;
        receive->reason = SYM_STR("the body is empty");
        return NGX_DECLINED;
    }

    /* the length of a chunked body is unknown before it is read */

    if (receive->token && receive->token->bytes
        && (uint64_t) receive->size > receive->token->bytes)
    {
        receive->why = SYM_UPLOAD_TOO_LARGE;
        return NGX_DECLINED;
    }

    receive->fd = r->request_body->temp_file->file.fd;

    return ngx_http_symbolicate_receive_send(receive);
}


/*
 * Fetches the file that the client names.  NGX_DONE: it is under way;
 * NGX_DECLINED: receive->why is set.
 */
static ngx_int_t
ngx_http_symbolicate_receive_fetch(ngx_http_symbolicate_receive_t *receive,
    sym_str_t url)
{
    off_t                      most;
    ngx_int_t                  rc;
    ngx_http_request_t        *r;
    ngx_http_core_loc_conf_t  *clcf;

    r = receive->task.request;
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    most = clcf->client_max_body_size ? clcf->client_max_body_size
                                      : NGX_MAX_OFF_T_VALUE;

    if (receive->token && receive->token->bytes
        && receive->token->bytes < (uint64_t) most)
    {
        most = (off_t) receive->token->bytes;
    }

    rc = ngx_http_symbolicate_receive_count(receive);

    if (rc != NGX_OK) {
        receive->why = SYM_UPLOAD_BUSY;
        return rc == NGX_BUSY ? NGX_DECLINED : NGX_ERROR;
    }

    receive->replied = 0;
    receive->by_url = ngx_http_symbolicate_upload_url_start(r,
                                                           &receive->task.turn,
                                                            url, most);

    return receive->by_url ? NGX_DONE : NGX_ERROR;
}


/* Uploads the file that was fetched. */
static ngx_int_t
ngx_http_symbolicate_receive_file(ngx_http_symbolicate_receive_t *receive)
{
    ngx_int_t  rc;

    if (receive->sent) {
        return NGX_DONE;
    }

    rc = ngx_http_symbolicate_upload_url_result(receive->by_url,
                                                &receive->file);

    if (rc == NGX_DECLINED) {
        receive->why = receive->file.why;
        receive->reason = receive->file.reason;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    receive->fd = receive->file.fd;
    receive->size = receive->file.size;

    return ngx_http_symbolicate_receive_send(receive);
}


/*
 * Starts the upload.  NGX_DONE: the loader is at work; NGX_DECLINED:
 * receive->why is set.
 */
static ngx_int_t
ngx_http_symbolicate_receive_send(ngx_http_symbolicate_receive_t *receive)
{
    sym_rpc_message_t                 m;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = receive->task.request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    receive->why = SYM_UPLOAD_UNAVAILABLE;

    if (slcf->loader == NULL) {
        receive->reason = SYM_STR("there is no symbolicate_loader");
        return NGX_DECLINED;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_UPLOAD;
    m.flags = receive->protocol->flags(&receive->call);
    m.flags |= receive->size ? 0 : SYM_RPC_EMPTY;
    m.length = receive->size;
    m.text = receive->protocol->hint(&receive->call);
    m.rules = slcf->upload.source->rules;
    m.limit = slcf->upload.part;
    m.key.scope = sym_str((char *) slcf->upload.target.data,
                          slcf->upload.target.len);

    if (receive->token == NULL) {
        m.flags |= SYM_RPC_TRY;

    } else {
        m.source = receive->token->name;
        m.flags |= receive->token->rights & SYM_UPLOAD_MAY_TRY
                   ? SYM_RPC_TRY : 0;
        m.flags |= receive->token->rights & SYM_UPLOAD_MAY_UPLOAD
                   ? 0 : SYM_RPC_ONLY_TRY;
    }

    /* the fields of the form have already decided */

    if (receive->by_url) {
        m.flags &= ~(SYM_RPC_FORM | SYM_RPC_TRY | SYM_RPC_ONLY_TRY);
        m.flags |= receive->is_try ? SYM_RPC_TRY | SYM_RPC_ONLY_TRY : 0;
    }

    receive->slot->rpc.on_reply = ngx_http_symbolicate_receive_reply;

    if (ngx_http_symbolicate_rpc_call_with(
            ngx_http_symbolicate_loader_of(slcf->loader), &receive->slot->rpc,
            &m, receive->fd)
        != NGX_OK)
    {
        receive->reason = SYM_STR("the symbol loader is not running");
        return NGX_DECLINED;
    }

    receive->sent = 1;

    if (slcf->upload.part) {
        (void) ngx_http_symbolicate_bucket_open(receive->slot->rpc.loader,
                                                m.ticket, slcf);
    }

    return NGX_DONE;
}


static void
ngx_http_symbolicate_receive_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    char                            *text;
    sym_str_t                        reason;
    ngx_http_request_t              *r;
    ngx_http_symbolicate_receive_t  *receive;

    receive = ((ngx_http_symbolicate_slot_t *) rpc)->receive;

    ngx_http_symbolicate_receive_free((ngx_http_symbolicate_slot_t *) rpc);

    if (receive == NULL) {
        return;
    }

    r = receive->task.request;

    receive->slot = NULL;
    receive->sent = 0;
    receive->replied = 1;

    if (m && (m->flags & SYM_RPC_DID)
        && sym_upload_counts_read(m->text, &receive->counts)
        && receive->counts.report <= NGX_SYMBOLICATE_REPORT_MAX)
    {
        receive->why = SYM_UPLOAD_FINE;

    } else {
        reason = m ? m->text : SYM_STR("the symbol loader went away");

        receive->why = (m == NULL) ? SYM_UPLOAD_UNAVAILABLE
                       : (m->flags & SYM_RPC_KEPT) ? SYM_UPLOAD_NO_RIGHT
                       : (m->flags & SYM_RPC_NOTHING) ? SYM_UPLOAD_MALFORMED
                       : SYM_UPLOAD_UNAVAILABLE;

        text = ngx_pnalloc(r->pool, reason.len + 1);

        if (text) {
            ngx_memcpy(text, reason.data, reason.len);
            receive->reason = sym_str(text, reason.len);
        }

        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "symbolicate: an upload was not stored: %*s",
                      reason.len, reason.data);
    }

    ngx_http_symbolicate_enqueue(&receive->task.turn);
}


static ngx_int_t
ngx_http_symbolicate_receive_range(ngx_http_request_t *r, uint64_t bytes)
{
    u_char  *p, *end;

    p = ngx_pnalloc(r->pool, sizeof("bytes=0-") + NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    end = ngx_sprintf(p, "bytes=0-%uL", bytes - 1);

    return ngx_http_symbolicate_add_header(r, "Range", (char *) p, end - p);
}


/* NGX_DECLINED: receive->why is set. */
static ngx_int_t
ngx_http_symbolicate_receive_answer(ngx_http_symbolicate_receive_t *receive)
{
    char                             url[SYM_UPLOAD_URL_MAX];
    bool                             is_try;
    size_t                           len;
    ssize_t                          n;
    sym_out_t                        out;
    ngx_chain_t                     *body;
    ngx_time_t                      *tp;
    sym_upload_done_t                done;
    ngx_http_request_t              *r;
    sym_upload_answer_t              answer;
    ngx_http_symbolicate_growing_t   growing;

    r = receive->task.request;
    tp = ngx_timeofday();

    ngx_memzero(&done, sizeof(sym_upload_done_t));

    done.call = &receive->call;
    done.token = receive->token;
    done.counts = receive->counts;
    done.bytes = receive->size;
    done.url = receive->file.url;
    done.redirects = receive->file.redirects;
    done.started_s = receive->started_s;
    done.now_s = (double) tp->sec + (double) tp->msec / 1000;

    done.report.len = receive->counts.report;
    done.report.data = ngx_pnalloc(r->pool, done.report.len + 1);

    if (done.report.data == NULL) {
        return NGX_ERROR;
    }

    n = done.report.len
        ? pread(receive->fd, (char *) done.report.data, done.report.len,
                receive->size)
        : 0;

    if (n != (ssize_t) done.report.len) {
        return NGX_ERROR;
    }

    if (receive->protocol->url && receive->by_url == NULL) {
        is_try = 0;
        len = receive->protocol->url(&done, url, &is_try);

        if (len) {
            receive->is_try = is_try;
            return ngx_http_symbolicate_receive_fetch(receive,
                                                      sym_str(url, len));
        }
    }

    ngx_http_symbolicate_growing_begin(&growing, r,
                                       NGX_SYMBOLICATE_RECEIVE_WINDOW, &out);
    receive->protocol->answer(&done, &answer, &out);
    body = ngx_http_symbolicate_growing_end(&growing, &out);

    ngx_http_symbolicate_receive_log(receive, answer.status);

    receive->task.ctx->served = answer.status < NGX_HTTP_BAD_REQUEST
                                ? SYM_SERVED_OK
                                : ngx_http_symbolicate_lookup_served(
                                                              answer.status);

    /* resumable uploads of Google Cloud Storage: no header, no bytes */

    if (answer.status == NGX_HTTP_PERMANENT_REDIRECT && done.counts.part
        && ngx_http_symbolicate_receive_range(r, done.counts.part) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_task_reply(&receive->task, answer.status, answer.type,
                                    body);

    return NGX_DONE;
}


static void
ngx_http_symbolicate_receive_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_receive_t  *receive;

    receive = (ngx_http_symbolicate_receive_t *) task;

    ngx_http_symbolicate_upload_url_end(receive->by_url);

    if (receive->slot == NULL) {
        return;
    }

    if (receive->sent) {
        receive->slot->receive = NULL;

    } else {
        ngx_http_symbolicate_receive_free(receive->slot);
    }

    receive->slot = NULL;
}
