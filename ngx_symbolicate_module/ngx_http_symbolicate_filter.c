
/*
 * ngx_http_symbolicate_filter.c - CORS headers, and nginx's own errors.
 *
 * Scripts in browsers can read a response only if it has CORS headers.  This
 * includes nginx's own responses in our locations (413 of client_max_body_size,
 * 503 of limit_req, ..).  nginx's errors while it reads a body are converted to
 * JSON.
 *
 * Replies to requests without a client end here too (download/background.c).
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "admin/ngx_http_symbolicate_admin.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_background.h"
#include "metrics/ngx_http_symbolicate_health.h"
#include "ngx_http_symbolicate_filter.h"
#include "ngx_http_symbolicate_handler.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_lookup.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"


static ngx_int_t ngx_http_symbolicate_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_int_t ngx_http_symbolicate_cors(ngx_http_request_t *r,
    ngx_uint_t is_file);
static ngx_uint_t ngx_http_symbolicate_is_page(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_swap(ngx_http_request_t *r,
    sym_str_t title);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


ngx_int_t
ngx_http_symbolicate_filter_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_symbolicate_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_symbolicate_body_filter;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_header_filter(ngx_http_request_t *r)
{
    ngx_int_t                           rc;
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_background_t  *bg;

    if (r != r->main) {
        bg = ngx_http_symbolicate_background_of(r);

        if (bg) {
            return ngx_http_symbolicate_background_header(bg, r);
        }
    }

    if (r != r->main
        || (r->content_handler != ngx_http_symbolicate_handler
            && r->content_handler != ngx_http_symbolicate_health_handler))
    {
        return ngx_http_next_header_filter(r);
    }

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->cors && !ngx_http_symbolicate_is_admin(r)
        && ngx_http_symbolicate_cors(r, slcf->api && slcf->api->may_have_cors)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_symbolicate_is_page(r)) {

        switch (r->headers_out.status) {

        case NGX_HTTP_BAD_REQUEST:
            rc = ngx_http_symbolicate_swap(r, SYM_STR("400 Bad Request"));
            break;

        case NGX_HTTP_REQUEST_ENTITY_TOO_LARGE:
            rc = ngx_http_symbolicate_swap(r,
                                       SYM_STR("413 Request Entity Too Large"));
            break;

        case NGX_HTTP_INTERNAL_SERVER_ERROR:
            rc = ngx_http_symbolicate_swap(r,
                                          SYM_STR("500 Internal Server Error"));
            break;

        default:
            rc = NGX_OK;
        }

        if (rc != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return ngx_http_next_header_filter(r);
}


/* Files have the headers of Mozilla's server, which do not depend on Origin. */
static ngx_int_t
ngx_http_symbolicate_cors(ngx_http_request_t *r, ngx_uint_t is_file)
{
    static const char  expose[] = "accept, accept-encoding, authorization, "
                                  "content-type, dnt, origin, user-agent, "
                                  "x-csrftoken, x-requested-with";
    static const char  allow[] = "accept,accept-encoding,authorization,"
                                 "content-type,dnt,origin,user-agent,"
                                 "x-csrftoken,x-requested-with";

    if (is_file) {

        if (ngx_http_symbolicate_add_header(r, "Access-Control-Allow-Methods",
                                            "GET", 3)
                != NGX_OK
            || ngx_http_symbolicate_add_header(r,
                                               "Access-Control-Allow-Headers",
                                               allow, sizeof(allow) - 1)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

    } else if (ngx_http_symbolicate_find_header(r, "Origin") == NULL) {
        return NGX_OK;
    }

    if (ngx_http_symbolicate_add_header(r, "Access-Control-Allow-Origin",
                                        "*", 1)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_add_header(r, "Access-Control-Expose-Headers",
                                           expose, sizeof(expose) - 1);
}


/* Whether nginx made the page: our pages are JSON. */
static ngx_uint_t
ngx_http_symbolicate_is_page(ngx_http_request_t *r)
{
    ngx_str_t  *type;

    type = &r->headers_out.content_type;

    return type->len == 9 && ngx_strncmp(type->data, "text/html", 9) == 0;
}


/* Replaces the body that nginx is about to send with ours. */
static ngx_int_t
ngx_http_symbolicate_swap(ngx_http_request_t *r, sym_str_t title)
{
    const char                  *type;
    ngx_chain_t                 *body;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_ctx_get(r);
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    body = ngx_http_symbolicate_error_body(r, r->headers_out.status, title,
                                           NULL, &type);

    if (body == NULL
        || ngx_http_symbolicate_add_header(r, "Vary", "Accept", 6) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ctx->swapped = body;

    if (ctx->task == NULL || ctx->started_ns) {
        ctx->served = ngx_http_symbolicate_lookup_served(r->headers_out.status);
    }

    ngx_http_symbolicate_set_type(r, type, body->buf->last - body->buf->pos);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_chain_t                        *cl;
    ngx_http_symbolicate_ctx_t         *ctx;
    ngx_http_symbolicate_background_t  *bg;

    if (r != r->main) {
        bg = ngx_http_symbolicate_background_of(r);

        return bg ? ngx_http_symbolicate_background_body(bg, r, in)
                  : ngx_http_next_body_filter(r, in);
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx == NULL || ctx->swapped == NULL || in == NULL) {
        return ngx_http_next_body_filter(r, in);
    }

    /* nginx's page is passed in one call, with its last buffer marked */

    for ( ; in; in = in->next) {

        if (ngx_buf_in_memory(in->buf)) {
            in->buf->pos = in->buf->last;
        }

        if (in->buf->last_buf) {
            cl = ctx->swapped;
            ctx->swapped = NULL;
            return ngx_http_next_body_filter(r, cl);
        }
    }

    return NGX_OK;
}
