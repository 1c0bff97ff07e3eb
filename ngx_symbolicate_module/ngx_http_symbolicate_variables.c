
/*
 * ngx_http_symbolicate_variables.c - what logs may say of a request, and
 * what a location of a source sends on.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/sigv4.h"

#include "aws/ngx_http_symbolicate_aws.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "fetch/ngx_http_symbolicate_fetch_request.h"
#include "ngx_http_symbolicate_variables.h"
#include "request/ngx_http_symbolicate_ctx.h"


static ngx_int_t ngx_http_symbolicate_path_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_count_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_lookup_us_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_wait_ms_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_status_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_http_symbolicate_vars[] = {

    { ngx_string("symbolicate_frames"), NULL,
      ngx_http_symbolicate_count_variable,
      offsetof(sym_request_stats_t, frames), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_modules"), NULL,
      ngx_http_symbolicate_count_variable,
      offsetof(sym_request_stats_t, modules), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_missing"), NULL,
      ngx_http_symbolicate_count_variable,
      offsetof(sym_request_stats_t, missing), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_fetched"), NULL,
      ngx_http_symbolicate_count_variable,
      offsetof(sym_request_stats_t, fetched), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_lookup_us"), NULL,
      ngx_http_symbolicate_lookup_us_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_wait_ms"), NULL,
      ngx_http_symbolicate_wait_ms_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_status"), NULL,
      ngx_http_symbolicate_status_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_path"), NULL,
      ngx_http_symbolicate_path_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_aws_authorization"), NULL,
      ngx_http_symbolicate_aws_variable,
      offsetof(sym_sigv4_t, authorization), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_aws_date"), NULL,
      ngx_http_symbolicate_aws_variable,
      offsetof(sym_sigv4_t, amz_date), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_aws_content_sha256"), NULL,
      ngx_http_symbolicate_aws_variable,
      offsetof(sym_sigv4_t, content_sha256), NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_aws_security_token"), NULL,
      ngx_http_symbolicate_aws_variable,
      offsetof(sym_sigv4_t, security_token), NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


ngx_int_t
ngx_http_symbolicate_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_symbolicate_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


/* The request that a variable tells of; NULL: it was not for symbols, the
 * variable has no value. */
static ngx_http_symbolicate_ctx_t *
ngx_http_symbolicate_variable_ctx(ngx_http_request_t *r,
    ngx_http_variable_value_t *v)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx == NULL || ctx->served == SYM_SERVED_NONE) {
        v->not_found = 1;
        return NULL;
    }

    return ctx;
}


/* data lives as long as the request. */
static ngx_int_t
ngx_http_symbolicate_text(ngx_http_variable_value_t *v, u_char *data,
    size_t len)
{
    v->data = data;
    v->len = len;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_number(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uint64_t n)
{
    u_char  *p;

    p = ngx_pnalloc(r->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_text(v, p, ngx_sprintf(p, "%uL", n) - p);
}


static ngx_int_t
ngx_http_symbolicate_count_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                      *p;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_variable_ctx(r, v);

    if (ctx == NULL) {
        return NGX_OK;
    }

    p = (u_char *) &ctx->stats + data;

    return ngx_http_symbolicate_number(r, v, *(uint32_t *) p);
}


static ngx_int_t
ngx_http_symbolicate_lookup_us_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_variable_ctx(r, v);

    if (ctx == NULL) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_number(r, v,
                                       (uint64_t) (ctx->stats.lookup_s * 1e6));
}


static ngx_int_t
ngx_http_symbolicate_wait_ms_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_variable_ctx(r, v);

    if (ctx == NULL) {
        return NGX_OK;
    }

    return ngx_http_symbolicate_number(r, v,
                                 (uint64_t) (ctx->stats.waited_s * 1e3 + 0.5));
}


static ngx_int_t
ngx_http_symbolicate_status_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    sym_str_t                    word;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_symbolicate_variable_ctx(r, v);

    if (ctx == NULL) {
        return NGX_OK;
    }

    word = sym_served_word(ctx->served);

    return ngx_http_symbolicate_text(v, (u_char *) word.data, word.len);
}


static ngx_int_t
ngx_http_symbolicate_path_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t  *path;

    path = ngx_http_symbolicate_fetch_path(r);

    if (path == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_symbolicate_text(v, path->data, path->len);
}
