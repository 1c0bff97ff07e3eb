
/*
 * ngx_http_symbolicate_variables.c - variables for logs, and for locations of
 * sources.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/sigv4.h"

#include "aws/ngx_http_symbolicate_aws.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_s3.h"
#include "request_sources/ngx_http_symbolicate_request_source_fetch.h"
#include "ngx_http_symbolicate_variables.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "share/ngx_http_symbolicate_tell.h"


static ngx_int_t ngx_http_symbolicate_path_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_node_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_request_source_variable(
    ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_symbolicate_request_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


/* Values for ngx_http_symbolicate_request_variable(). */
enum {
    ngx_http_symbolicate_var_frames = 0,
    ngx_http_symbolicate_var_modules,
    ngx_http_symbolicate_var_missing,
    ngx_http_symbolicate_var_fetched,
    ngx_http_symbolicate_var_lookup_us,
    ngx_http_symbolicate_var_wait_ms,
    ngx_http_symbolicate_var_status
};


/* Values for ngx_http_symbolicate_request_source_variable(). */
enum {
    ngx_http_symbolicate_var_given_url = 0,
    ngx_http_symbolicate_var_given_host,
    ngx_http_symbolicate_var_given_name
};


static ngx_http_variable_t  ngx_http_symbolicate_vars[] = {

    { ngx_string("symbolicate_frames"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_frames, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_modules"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_modules, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_missing"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_missing, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_fetched"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_fetched, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_lookup_us"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_lookup_us, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_wait_ms"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_wait_ms, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_status"), NULL,
      ngx_http_symbolicate_request_variable,
      ngx_http_symbolicate_var_status, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_path"), NULL,
      ngx_http_symbolicate_path_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_node"), NULL,
      ngx_http_symbolicate_node_variable,
      0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_given_url"), NULL,
      ngx_http_symbolicate_request_source_variable,
      ngx_http_symbolicate_var_given_url, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_given_host"), NULL,
      ngx_http_symbolicate_request_source_variable,
      ngx_http_symbolicate_var_given_host, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("symbolicate_given_name"), NULL,
      ngx_http_symbolicate_request_source_variable,
      ngx_http_symbolicate_var_given_name, NGX_HTTP_VAR_NOCACHEABLE, 0 },

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


/* data must live as long as the request. */
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


/* Not found if the request was not for symbols. */
static ngx_int_t
ngx_http_symbolicate_request_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                      *p;
    uint64_t                     n;
    sym_str_t                    word;
    ngx_http_symbolicate_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_symbolicate_module);

    if (ctx == NULL || ctx->served == SYM_SERVED_NONE) {
        v->not_found = 1;
        return NGX_OK;
    }

    switch (data) {

    case ngx_http_symbolicate_var_frames:
        n = ctx->stats.frames;
        break;

    case ngx_http_symbolicate_var_modules:
        n = ctx->stats.modules;
        break;

    case ngx_http_symbolicate_var_missing:
        n = ctx->stats.missing;
        break;

    case ngx_http_symbolicate_var_fetched:
        n = ctx->stats.fetched;
        break;

    case ngx_http_symbolicate_var_lookup_us:
        n = (uint64_t) (ctx->stats.lookup_s * 1e6);
        break;

    case ngx_http_symbolicate_var_wait_ms:
        n = (uint64_t) (ctx->stats.waited_s * 1e3 + 0.5);
        break;

    default: /* ngx_http_symbolicate_var_status */
        word = sym_served_word(ctx->served);
        return ngx_http_symbolicate_text(v, (u_char *) word.data, word.len);
    }

    p = ngx_pnalloc(r->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_text(v, p, ngx_sprintf(p, "%uL", n) - p);
}


static ngx_int_t
ngx_http_symbolicate_path_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t  *path;

    path = ngx_http_symbolicate_fetch_path(r);

    if (path == NULL) {
        path = ngx_http_symbolicate_s3_path(r);
    }

    if (path == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_symbolicate_text(v, path->data, path->len);
}


static ngx_int_t
ngx_http_symbolicate_node_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t  *node;

    node = ngx_http_symbolicate_tell_node(r);

    if (node == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_symbolicate_text(v, node->data, node->len);
}


/* Not found if r is not a request to a request source. */
static ngx_int_t
ngx_http_symbolicate_request_source_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t                      parts[3];
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_of(r);

    if (fetch) {
        ngx_http_symbolicate_request_source_target(fetch,
                                   &parts[ngx_http_symbolicate_var_given_url],
                                   &parts[ngx_http_symbolicate_var_given_host],
                                   &parts[ngx_http_symbolicate_var_given_name]);
    }

    if (fetch == NULL || parts[data].len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_symbolicate_text(v, parts[data].data, parts[data].len);
}
