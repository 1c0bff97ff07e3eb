
/*
 * ngx_http_symbolicate_explain.c - GET .../explain/NAME/ID: what the store
 * knows of a module.
 *
 * All is written under sym_store_guarded(), where the record can be looked at,
 * into a buffer that was made before.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "explain/explain.h"

#include "admin/ngx_http_symbolicate_explain.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "store/ngx_http_symbolicate_store.h"


typedef struct {
    sym_store_t       *db;
    sym_module_key_t  *key;
    sym_scopes_t      *scopes;
    sym_explained_t   *sources;
    sym_out_t         *out;
    sym_error_t        err;
    sym_status_t       status;
} ngx_http_symbolicate_look_t;


static void ngx_http_symbolicate_look(void *data);


static ngx_int_t
ngx_http_symbolicate_explain_trouble(ngx_http_request_t *r,
    const char *reason)
{
    return ngx_http_symbolicate_send_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                           SYM_STR("503 Service Unavailable"),
                                           reason);
}


ngx_int_t
ngx_http_symbolicate_explain(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    sym_out_t                         out;
    const char                       *reason;
    ngx_chain_t                      *body;
    sym_status_t                      status;
    ngx_http_symbolicate_db_t        *db;
    ngx_http_symbolicate_look_t       look;
    ngx_http_symbolicate_store_t     *store;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    store = ngx_http_symbolicate_store_of(slcf->store);

    ngx_memzero(&look, sizeof(ngx_http_symbolicate_look_t));

    body = ngx_http_symbolicate_body_begin(r, (scopes->n + 1) * SYM_EXPLAIN_MAX,
                                           &out);
    look.sources = ngx_palloc(r->pool, scopes->n * sizeof(sym_explained_t));

    if (body == NULL || look.sources == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    db = ngx_http_symbolicate_store_get(store, r->connection->log,
                                        &reason);
    if (db == NULL) {
        return ngx_http_symbolicate_explain_trouble(r, reason);
    }

    look.db = db->db;
    look.key = key;
    look.scopes = scopes;
    look.out = &out;

    status = sym_store_guarded(db->db, ngx_http_symbolicate_look, &look,
                               &look.err);

    if (status == SYM_DAMAGED) {
        ngx_http_symbolicate_store_damaged(store, db, &look.err,
                                           r->connection->log);

    } else {
        status = look.status;

        if (status != SYM_OK && status != SYM_NOT_FOUND) {
            ngx_http_symbolicate_store_trouble(store, &look.err,
                                               r->connection->log);
        }
    }

    ngx_http_symbolicate_store_put(db);

    if (status != SYM_OK && status != SYM_NOT_FOUND) {
        return ngx_http_symbolicate_explain_trouble(r,
                                   ngx_http_symbolicate_store_reason(status));
    }

    if (ngx_http_symbolicate_body_end(r, body, &out) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, status == SYM_OK
                                             ? NGX_HTTP_OK
                                             : NGX_HTTP_NOT_FOUND,
                                          body);
}


/* Runs under the guard. */
static void
ngx_http_symbolicate_look(void *data)
{
    ngx_http_symbolicate_look_t *look = data;

    sym_snapshot_t  *snapshot;

    look->status = sym_snapshot_begin(look->db, &snapshot, &look->err);

    if (look->status != SYM_OK) {
        return;
    }

    look->status = sym_explain(snapshot, look->scopes, look->key,
                               (uint32_t) ngx_time(), look->sources, look->out,
                               &look->err);

    sym_snapshot_end(snapshot);
}
