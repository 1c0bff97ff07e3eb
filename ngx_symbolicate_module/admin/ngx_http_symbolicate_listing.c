
/*
 * ngx_http_symbolicate_listing.c - GET .../modules: contents of the store, in
 * parts.
 *
 * A part is bounded (explain/listing.h), so it is read in one turn.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "explain/listing.h"

#include "admin/ngx_http_symbolicate_listing.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "store/ngx_http_symbolicate_store.h"


typedef struct {
    const sym_scopes_t      *scopes;
    sym_listing_question_t   question;
    sym_out_t                out;
} ngx_http_symbolicate_list_t;


static ngx_int_t ngx_http_symbolicate_listing_arg(ngx_http_request_t *r,
    const char *name, sym_str_t *value);
static sym_status_t ngx_http_symbolicate_listing_read(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err);


ngx_int_t
ngx_http_symbolicate_listing(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    const char                       *reason;
    ngx_chain_t                      *body;
    sym_error_t                       err;
    sym_status_t                      status;
    ngx_http_symbolicate_list_t       list;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    ngx_memzero(&list, sizeof(ngx_http_symbolicate_list_t));

    list.scopes = scopes;

    body = ngx_http_symbolicate_body_begin(r, SYM_LISTING_MAX, &list.out);

    if (body == NULL
        || ngx_http_symbolicate_listing_arg(r, "q", &list.question.q)
           != NGX_OK
        || ngx_http_symbolicate_listing_arg(r, "state", &list.question.state)
           != NGX_OK
        || ngx_http_symbolicate_listing_arg(r, "after", &list.question.after)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    status = ngx_http_symbolicate_store_read(slcf->store,
                                             ngx_http_symbolicate_listing_read,
                                             &list, r->connection->log, &err,
                                             &reason);

    if (status == SYM_MALFORMED) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                               SYM_STR("400 Bad Request"),
                                               err.what);
    }

    if (status != SYM_OK) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                           SYM_STR("503 Service Unavailable"),
                                           reason);
    }

    if (ngx_http_symbolicate_body_end(r, body, &list.out) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, NGX_HTTP_OK, NGX_SYMBOLICATE_JSON,
                                          body);
}


/* Decodes an argument of the query string; "": none. */
static ngx_int_t
ngx_http_symbolicate_listing_arg(ngx_http_request_t *r, const char *name,
    sym_str_t *value)
{
    u_char     *dst, *src, *p;
    ngx_str_t   arg;

    *value = SYM_STR("");

    if (ngx_http_arg(r, (u_char *) name, ngx_strlen(name), &arg) != NGX_OK
        || arg.len == 0)
    {
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, arg.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    dst = p;
    src = arg.data;
    ngx_unescape_uri(&dst, &src, arg.len, 0);

    *value = sym_str((char *) p, dst - p);

    return NGX_OK;
}


static sym_status_t
ngx_http_symbolicate_listing_read(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_list_t *list = data;

    return sym_listing(snapshot, list->scopes, &list->question,
                       (uint32_t) ngx_time(), &list->out, err);
}
