
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


typedef struct {
    sym_store_t  *db;
    sym_error_t   err;
    sym_status_t  status;
    bool          unsound;
} ngx_http_symbolicate_check_t;


static ngx_int_t ngx_http_symbolicate_heartbeat(ngx_http_request_t *r);
static void ngx_http_symbolicate_check(void *data);
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
    const char                       *reason;
    sym_status_t                      status;
    ngx_http_symbolicate_db_t        *db;
    ngx_http_symbolicate_check_t      check;
    ngx_http_symbolicate_store_t     *store;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    store = ngx_http_symbolicate_store_of(slcf->store);

    db = ngx_http_symbolicate_store_get(store, r->connection->log,
                                        &reason);
    if (db == NULL) {
        goto unavailable;
    }

    ngx_memzero(&check, sizeof(ngx_http_symbolicate_check_t));

    check.db = db->db;

    status = sym_store_guarded(db->db, ngx_http_symbolicate_check, &check,
                               &check.err);

    if (status == SYM_OK) {
        status = check.status;
    }

    if (status == SYM_DAMAGED) {
        ngx_http_symbolicate_store_damaged(store, db, &check.err,
                                           r->connection->log);

    } else if (status != SYM_OK) {
        ngx_http_symbolicate_store_trouble(store, &check.err,
                                           r->connection->log);
    }

    ngx_http_symbolicate_store_put(db);

    if (status == SYM_OK && check.unsound) {

        /* the store is usable, but some modules are missing */

        status = SYM_DAMAGED;
    }

    if (status == SYM_OK && !ngx_http_symbolicate_is_warming()) {
        return ngx_http_symbolicate_alive(r);
    }

    reason = status == SYM_OK
             ? "the store is being filled with what the fleet uses most"
             : ngx_http_symbolicate_store_reason(status);

unavailable:

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                           SYM_STR("503 Service Unavailable"),
                                           reason);
}


/* Runs under the guard.  Reads the meta page, and searches the directory down
 * to a leaf, for a module that does not exist. */
static void
ngx_http_symbolicate_check(void *data)
{
    ngx_http_symbolicate_check_t *check = data;

    sym_snapshot_t      *snapshot;
    sym_object_ref_t     ref;
    sym_object_record_t  record;

    check->status = sym_snapshot_begin(check->db, &snapshot, &check->err);

    if (check->status != SYM_OK) {
        return;
    }

    sym_object_ref_named(&ref, SYM_STR("__heartbeat__"),
                         SYM_STR("000000000000000000000000000000000"));

    check->status = sym_snapshot_object(snapshot, SYM_STR(""), &ref,
                                        SYM_KIND_SYMCACHE, &record,
                                        &check->err);

    if (check->status == SYM_NOT_FOUND) {
        check->status = SYM_OK;
    }

    check->unsound = sym_snapshot_has_unsound(snapshot);

    sym_snapshot_end(snapshot);
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
