
/*
 * ngx_http_symbolicate_health.c - whether this server can answer.
 *
 * /__lbheartbeat__ shows that nginx runs, /__heartbeat__ that its store is
 * readable and warm, too, and /__version__ the version of the build.  Names and
 * formats are those of Mozilla's Dockerflow, because Mozilla's load balancers
 * use it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_symbolicate_version.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "metrics/ngx_http_symbolicate_health.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "store/ngx_http_symbolicate_store.h"


static ngx_int_t ngx_http_symbolicate_heartbeat(ngx_http_request_t *r);
static sym_status_t ngx_http_symbolicate_check(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err);
static ngx_int_t ngx_http_symbolicate_alive(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_version(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_send_text(ngx_http_request_t *r,
    ngx_str_t *type, ngx_str_t *text);


typedef struct {
    ngx_str_t                name;
    ngx_http_handler_pt      handler;
} ngx_http_symbolicate_page_t;

static ngx_http_symbolicate_page_t  ngx_http_symbolicate_pages[] = {
    { ngx_string("/__heartbeat__"), ngx_http_symbolicate_heartbeat },
    { ngx_string("/__lbheartbeat__"), ngx_http_symbolicate_alive },
    { ngx_string("/__version__"), ngx_http_symbolicate_version },
    { ngx_null_string, NULL }
};


ngx_int_t
ngx_http_symbolicate_health_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    ngx_http_symbolicate_page_t      *page;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    for (page = ngx_http_symbolicate_pages; page->name.len; page++) {

        if (r->uri.len >= page->name.len
            && ngx_strncmp(r->uri.data + r->uri.len - page->name.len,
                           page->name.data, page->name.len)
               == 0)
        {
            rc = ngx_http_symbolicate_method(r, NGX_HTTP_GET, slcf->cors);

            if (rc != NGX_DECLINED) {
                return rc;
            }

            rc = ngx_http_discard_request_body(r);

            return rc == NGX_OK ? page->handler(r) : rc;
        }
    }

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                           SYM_STR("404 Not Found"), NULL);
}


static ngx_int_t
ngx_http_symbolicate_heartbeat(ngx_http_request_t *r)
{
    bool                              unsound;
    const char                       *reason;
    sym_error_t                       err;
    sym_status_t                      status;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    unsound = false;

    status = ngx_http_symbolicate_store_read(slcf->store,
                                             ngx_http_symbolicate_check,
                                             &unsound, r->connection->log, &err,
                                             &reason);

    if (status == SYM_OK && unsound) {

        /* the store is usable, but some modules are missing */

        status = SYM_DAMAGED;
        reason = ngx_http_symbolicate_store_reason(status);
    }

    if (status == SYM_OK && ngx_http_symbolicate_is_warming()) {
        status = SYM_AGAIN;
        reason = "the store is being filled with what the fleet uses most";
    }

    if (status == SYM_OK) {
        return ngx_http_symbolicate_alive(r);
    }

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                           SYM_STR("503 Service Unavailable"),
                                           reason);
}


/* Reads the meta page, and searches the directory down to a leaf, for a module
 * that does not exist. */
static sym_status_t
ngx_http_symbolicate_check(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    bool *unsound = data;

    sym_status_t         status;
    sym_object_ref_t     ref;
    sym_object_record_t  record;

    sym_object_ref_named(&ref, SYM_STR("__heartbeat__"),
                         SYM_STR("000000000000000000000000000000000"));

    status = sym_snapshot_object(snapshot, SYM_STR(""), &ref,
                                 SYM_KIND_SYMCACHE, &record, err);

    *unsound = sym_snapshot_has_unsound(snapshot);

    return status == SYM_NOT_FOUND ? SYM_OK : status;
}


static ngx_int_t
ngx_http_symbolicate_alive(ngx_http_request_t *r)
{
    static ngx_str_t  type = ngx_string("application/json; charset=utf-8");
    static ngx_str_t  nothing = ngx_null_string;

    return ngx_http_symbolicate_send_text(r, &type, &nothing);
}


static ngx_int_t
ngx_http_symbolicate_version(ngx_http_request_t *r)
{
    static ngx_str_t  type = ngx_string("application/json");

    static ngx_str_t  without = ngx_string(
        "{\"version\": \"" NGX_SYMBOLICATE_VERSION "\"}");

    static ngx_str_t  with = ngx_string(
        "{\"version\": \"" NGX_SYMBOLICATE_VERSION "\", "
        "\"commit\": \"" NGX_SYMBOLICATE_COMMIT "\"}");

    return ngx_http_symbolicate_send_text(r, &type,
                            sizeof(NGX_SYMBOLICATE_COMMIT) > 1 ? &with
                                                               : &without);
}


static ngx_int_t
ngx_http_symbolicate_send_text(ngx_http_request_t *r, ngx_str_t *type,
    ngx_str_t *text)
{
    r->headers_out.status = NGX_HTTP_OK;

    ngx_http_symbolicate_set_type(r, NGX_SYMBOLICATE_JSON, text->len);

    r->headers_out.content_type = *type;
    r->headers_out.content_type_len = type->len;

    r->header_only = (text->len == 0);

    return ngx_http_symbolicate_send_bytes(r, text);
}
