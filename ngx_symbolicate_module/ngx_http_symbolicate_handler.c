
/*
 * ngx_http_symbolicate_handler.c - begins and ends a request.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "admin/ngx_http_symbolicate_admin.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "ngx_http_symbolicate_handler.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_lookup.h"


ngx_int_t
ngx_http_symbolicate_handler(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    rc = ngx_http_symbolicate_admin(r);

    return (rc != NGX_DECLINED) ? rc : ngx_http_symbolicate_lookup_handler(r);
}


/* Called when a request ends, for any reason. */
ngx_int_t
ngx_http_symbolicate_log_handler(ngx_http_request_t *r)
{
    uint64_t                          started_ns;
    ngx_uint_t                        status;
    sym_served_t                      served;
    const sym_api_route_t            *route;
    ngx_http_symbolicate_ctx_t       *ctx;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    if (r->content_handler != ngx_http_symbolicate_handler
        || ngx_http_symbolicate_is_admin(r))
    {
        return NGX_OK;
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    route = NULL;
    served = SYM_SERVED_NONE;
    started_ns = 0;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx) {
        route = ctx->route;
        served = ctx->served;
        started_ns = ctx->started_ns;
    }

    status = r->err_status ? r->err_status : r->headers_out.status;

    ngx_http_symbolicate_count_request(sym_api_endpoint(slcf->api, route),
                                       served, status, started_ns);

    return NGX_OK;
}
