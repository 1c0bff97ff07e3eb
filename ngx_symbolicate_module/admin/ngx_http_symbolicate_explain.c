
/*
 * ngx_http_symbolicate_explain.c - GET .../explain/NAME/ID: the store's records
 * of a module.
 *
 * The text is written under sym_store_guarded(), because only there records can
 * be read.  Its buffer is allocated before.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "explain/explain.h"

#include "admin/ngx_http_symbolicate_explain.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"
#include "store/ngx_http_symbolicate_store.h"


typedef struct {
    ngx_http_symbolicate_task_t  task;     /* the first member */
    char                         id[SYM_ID_MAX];
    char                         code_id[SYM_CODE_ID_MAX];
    sym_module_key_t             key;
    sym_scopes_t                 scopes;
    sym_explained_t             *sources;
    sym_arena_t                  arena;    /* of paths */
    sym_str_t                    blocked_hosts;
    sym_out_t                    out;
} ngx_http_symbolicate_look_t;


static ngx_int_t ngx_http_symbolicate_explain_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_explain_headers(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_explain_unavailable(
    ngx_http_symbolicate_task_t *task, const char *reason);
static sym_status_t ngx_http_symbolicate_look(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_explain_work = {
    { NULL,
      NULL,
      ngx_http_symbolicate_explain_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_explain_headers,
    NULL,
    NULL,
    NULL
};


ngx_int_t
ngx_http_symbolicate_explain(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    ngx_http_symbolicate_look_t  *look;

    look = ngx_http_symbolicate_task_create(r,
                                           sizeof(ngx_http_symbolicate_look_t),
                                           &ngx_http_symbolicate_explain_work);
    if (look == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_memcpy(look->id, key->id.data, key->id.len);
    ngx_memcpy(look->code_id, key->code_id.data, key->code_id.len);

    look->key = *key;
    look->key.id = sym_str(look->id, key->id.len);
    look->key.code_id = sym_str(look->code_id, key->code_id.len);
    look->scopes = *scopes;

    return ngx_http_symbolicate_task_start(&look->task);
}


static ngx_int_t
ngx_http_symbolicate_explain_step(ngx_http_symbolicate_task_t *task)
{
    char                             *text;
    sym_out_t                         hosts;
    const char                       *reason;
    ngx_chain_t                      *body;
    sym_error_t                       err;
    sym_status_t                      status;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_look_t      *look;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    look = (ngx_http_symbolicate_look_t *) task;
    r = task->request;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    text = ngx_palloc(r->pool, NGX_SYMBOLICATE_BLOCKED_TEXT);
    if (text == NULL) {
        return NGX_ERROR;
    }

    hosts = sym_out_fixed(text, NGX_SYMBOLICATE_BLOCKED_TEXT);
    ngx_http_symbolicate_denied_write(&hosts);
    look->blocked_hosts = sym_str(text, hosts.pos - text);

    body = ngx_http_symbolicate_body_begin(r,
                                      (look->scopes.n + 1) * SYM_EXPLAIN_MAX
                                      + look->blocked_hosts.len,
                                      &look->out);
    look->sources = ngx_palloc(r->pool,
                               look->scopes.n * sizeof(sym_explained_t));

    if (body == NULL || look->sources == NULL) {
        return NGX_ERROR;
    }

    sym_arena_init(&look->arena, 0);

    status = ngx_http_symbolicate_store_read(slcf->store,
                                             ngx_http_symbolicate_look, look,
                                             r->connection->log, &err, &reason);

    sym_arena_drop(&look->arena);

    if (status != SYM_OK && status != SYM_NOT_FOUND) {
        return ngx_http_symbolicate_explain_unavailable(task, reason);
    }

    if (ngx_http_symbolicate_body_end(r, body, &look->out) != NGX_OK) {
        return NGX_ERROR;
    }

    if (status == SYM_NOT_FOUND) {
        task->error_body = body;

        return ngx_http_symbolicate_fail(task, NGX_HTTP_NOT_FOUND,
                                         SYM_STR("404 Not Found"), NULL);
    }

    ngx_http_symbolicate_output_take(task, body);

    return NGX_OK;
}


/* headers of an error are added when it is sent */
static ngx_int_t
ngx_http_symbolicate_explain_headers(ngx_http_symbolicate_task_t *task)
{
    if (task->status) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_add_header(task->request, "Vary", "Accept", 6);
}


static ngx_int_t
ngx_http_symbolicate_explain_unavailable(ngx_http_symbolicate_task_t *task,
    const char *reason)
{
    return ngx_http_symbolicate_fail(task, NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"),
                                     reason);
}


static sym_status_t
ngx_http_symbolicate_look(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_look_t *look = data;

    return sym_explain(snapshot, &look->scopes, &look->key,
                       (uint32_t) ngx_time(), &look->arena, look->sources,
                       look->blocked_hosts, &look->out, err);
}
