
/*
 * ngx_http_symbolicate_module.c - directives and log variables.
 *
 * A directive with a wrong value is refused with a sentence that says what is
 * expected.  docs/use/directives.md describes each.
 */


#include "conf/ngx_http_symbolicate_module.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif


static char *ngx_http_symbolicate_set_store(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
static char *ngx_http_symbolicate_set_api(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_symbolicate_set_health(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_symbolicate_set_metrics(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_symbolicate_set_number(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
static char *ngx_http_symbolicate_set_cache(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

static ngx_int_t ngx_http_symbolicate_add_variables(ngx_conf_t *cf);
static ngx_int_t ngx_http_symbolicate_init(ngx_conf_t *cf);
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

static void *ngx_http_symbolicate_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_symbolicate_init_main_conf(ngx_conf_t *cf, void *conf);
static void *ngx_http_symbolicate_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_symbolicate_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static ngx_int_t ngx_http_symbolicate_init_process(ngx_cycle_t *cycle);
static void ngx_http_symbolicate_exit_process(ngx_cycle_t *cycle);


/* What a worker does not give back to the system between requests. */
#define NGX_SYMBOLICATE_TRIM       (16 * 1024 * 1024)

#define NGX_SYMBOLICATE_CACHE      (16 * 1024 * 1024)
#define NGX_SYMBOLICATE_NAMES      (4 * 1024 * 1024)
#define NGX_SYMBOLICATE_CACHE_MAX  ((off_t) 4096 * 1024 * 1024)

#define NGX_SYMBOLICATE_ANSWER     ((off_t) 256 * 1024 * 1024)
#define NGX_SYMBOLICATE_BUFFERS    (64 * 1024 * 1024)


/* What a number may be.  Counts are 32 bits wide in core/. */
typedef struct {
    ngx_uint_t   min;
    ngx_uint_t   max;
    const char  *meaning;
} ngx_http_symbolicate_bounds_t;

static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_limit = {
    0, 0xffffffff, "a whole number from 0 (no limit) to 4294967295"
};

static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_slice_bounds = {
    1, 1000000, "a whole number of frames from 1 to 1000000"
};


static ngx_http_symbolicate_bounds_t  ngx_http_symbolicate_concurrency = {
    1, 1000, "a whole number of downloads from 1 to 1000"
};

static ngx_conf_enum_t  ngx_http_symbolicate_on_failure[] = {
    { ngx_string("503"), ngx_http_symbolicate_on_failure_503 },
    { ngx_string("partial"), ngx_http_symbolicate_on_failure_partial },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_symbolicate_commands[] = {

    { ngx_string("symbolicate_store"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_store,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, store),
      NULL },

    { ngx_string("symbolicate"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_health"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_symbolicate_set_health,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_admin"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, admin),
      NULL },

    { ngx_string("symbolicate_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_symbolicate_set_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_max_jobs"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_jobs),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_stacks"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_stacks),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_frames"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_frames),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_modules"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_modules),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_max_answer"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_off_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_answer),
      NULL },

    { ngx_string("symbolicate_answer_buffers"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, buffers),
      NULL },

    { ngx_string("symbolicate_max_missing"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, max_missing),
      &ngx_http_symbolicate_limit },

    { ngx_string("symbolicate_slice"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, slice),
      &ngx_http_symbolicate_slice_bounds },

    { ngx_string("symbolicate_answer_cache"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_cache,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, recent),
      NULL },

    { ngx_string("symbolicate_demangle"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, demangle),
      NULL },

    { ngx_string("symbolicate_demangle_cache"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_cache,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, names_size),
      NULL },

    { ngx_string("symbolicate_loader"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_loader,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_source"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_2MORE,
      ngx_http_symbolicate_set_source,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_fetch_concurrency"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_symbolicate_set_number,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_main_conf_t, fetch_concurrency),
      &ngx_http_symbolicate_concurrency },

    { ngx_string("symbolicate_fetch_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE12,
      ngx_http_symbolicate_set_fetch_timeout,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_budget"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, budget),
      NULL },

    { ngx_string("symbolicate_on_failure"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, on_failure),
      &ngx_http_symbolicate_on_failure },

    { ngx_string("symbolicate_negative_ttl"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_ttl,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_aws_sigv4"),
      NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_symbolicate_set_aws,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("symbolicate_cors"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_symbolicate_loc_conf_t, cors),
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_symbolicate_module_ctx = {
    ngx_http_symbolicate_add_variables,    /* preconfiguration */
    ngx_http_symbolicate_init,             /* postconfiguration */

    ngx_http_symbolicate_create_main_conf, /* create main configuration */
    ngx_http_symbolicate_init_main_conf,   /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_symbolicate_create_loc_conf,  /* create location configuration */
    ngx_http_symbolicate_merge_loc_conf    /* merge location configuration */
};


ngx_module_t  ngx_http_symbolicate_module = {
    NGX_MODULE_V1,
    &ngx_http_symbolicate_module_ctx,      /* module context */
    ngx_http_symbolicate_commands,         /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_symbolicate_init_process,     /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_symbolicate_exit_process,     /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


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


static char *
ngx_http_symbolicate_set_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_str_t  *value;

    if (slcf->store != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs the path of a store, not an empty string";
    }

    if (ngx_strlchr(value[1].data, value[1].data + value[1].len, '$')) {
        return "takes no variables: each store is one folder";
    }

    slcf->store = ngx_http_symbolicate_store_add(cf, &value[1]);

    return slcf->store ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* True if an exact location of this name can ever be asked for symbols. */
static ngx_uint_t
ngx_http_symbolicate_has_tail(ngx_str_t *name)
{
    u_char  *tail;

    if (name->len < 3) {
        return 0;
    }

    tail = name->data + name->len - 3;

    return ngx_strncmp(tail, "/v5", 3) == 0 || ngx_strncmp(tail, "/v4", 3) == 0;
}


/* A location serves one thing, by one handler. */
static char *
ngx_http_symbolicate_claim(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *slcf, ngx_flag_t *flag,
    ngx_http_handler_pt handler)
{
    ngx_http_core_loc_conf_t  *clcf;

    if (*flag != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    if (slcf->dialect != NGX_CONF_UNSET) {
        return "cannot stand beside \"symbolicate\" in one location";
    }

    if (slcf->health != NGX_CONF_UNSET) {
        return "cannot stand beside \"symbolicate_health\" in one location";
    }

    if (slcf->metrics != NGX_CONF_UNSET) {
        return "cannot stand beside \"symbolicate_metrics\" in one location";
    }

    *flag = 1;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = handler;

    return NGX_CONF_OK;
}


static char *
ngx_http_symbolicate_set_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                      *rv;
    ngx_str_t                 *value;
    ngx_http_core_loc_conf_t  *clcf;

    rv = ngx_http_symbolicate_claim(cf, slcf, &slcf->dialect,
                                    ngx_http_symbolicate_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    if (cf->args->nelts == 1 || ngx_strcmp(value[1].data, "tecken") == 0) {
        slcf->dialect = ngx_http_symbolicate_tecken;

    } else if (ngx_strcmp(value[1].data, "atos") == 0) {
        slcf->dialect = ngx_http_symbolicate_atos;

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown dialect \"%V\" in \"symbolicate\": "
                           "there are \"tecken\" and \"atos\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    slcf->is_root = clcf->exact_match && clcf->name.len == 1;

    if (slcf->dialect == ngx_http_symbolicate_tecken
        && clcf->exact_match && !slcf->is_root
        && !ngx_http_symbolicate_has_tail(&clcf->name))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"symbolicate\" would answer 404 to everything in "
                           "\"location = %V\": the path of an exact location "
                           "must be \"/\" or end in \"/v5\" or \"/v4\"",
                           &clcf->name);
        return NGX_CONF_ERROR;
    }

#if (NGX_PCRE)
    if (clcf->regex == NULL)
#endif
    if (clcf->name.len && clcf->name.data[0] == '/') {
        slcf->base = clcf->name;

        if (slcf->base.data[slcf->base.len - 1] == '/') {
            slcf->base.len--;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_symbolicate_set_health(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    return ngx_http_symbolicate_claim(cf, slcf, &slcf->health,
                                      ngx_http_symbolicate_health_handler);
}


static char *
ngx_http_symbolicate_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    return ngx_http_symbolicate_claim(cf, slcf, &slcf->metrics,
                                      ngx_http_symbolicate_metrics_handler);
}


static char *
ngx_http_symbolicate_set_number(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    char  *p = conf;

    ngx_int_t                       n;
    ngx_str_t                      *value;
    ngx_uint_t                     *field;
    ngx_http_symbolicate_bounds_t  *bounds;

    field = (ngx_uint_t *) (p + cmd->offset);

    if (*field != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    bounds = cmd->post;

    n = ngx_atoi(value[1].data, value[1].len);

    if (n == NGX_ERROR
        || (ngx_uint_t) n < bounds->min || (ngx_uint_t) n > bounds->max)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V %V\" is not possible: the value must be %s",
                           &value[0], &value[1], bounds->meaning);
        return NGX_CONF_ERROR;
    }

    *field = n;

    return NGX_CONF_OK;
}


static char *
ngx_http_symbolicate_set_cache(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char *p = conf;

    off_t       size;
    size_t     *field;
    ngx_str_t  *value;

    field = (size_t *) (p + cmd->offset);

    if (*field != NGX_CONF_UNSET_SIZE) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        *field = 0;
        return NGX_CONF_OK;
    }

    size = ngx_parse_offset(&value[1]);

    if (size == (off_t) NGX_ERROR || size < (off_t) SYM_RECENT_BYTES_MIN
        || size > NGX_SYMBOLICATE_CACHE_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V %V\" is not possible: the value must be a "
                           "size from 64k to 4g, or \"off\"",
                           &value[0], &value[1]);
        return NGX_CONF_ERROR;
    }

    *field = (size_t) size;

    return NGX_CONF_OK;
}


static ngx_int_t
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

    if (ctx == NULL || ctx->status == SYM_SERVED_NONE) {
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

    word = sym_served_word(ctx->status);

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


static ngx_int_t
ngx_http_symbolicate_init(ngx_conf_t *cf)
{
    ngx_uint_t                  i;
    ngx_http_handler_pt        *h;
    ngx_http_core_main_conf_t  *cmcf;

    /* nginx calls them from the last to the first */

    static ngx_http_handler_pt  handlers[] = {
        ngx_http_symbolicate_fetch_encode,
        ngx_http_symbolicate_aws_wait,
        ngx_http_symbolicate_iam_check
    };

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        h = ngx_array_push(&cmcf->phases[NGX_HTTP_PREACCESS_PHASE].handlers);
        if (h == NULL) {
            return NGX_ERROR;
        }

        *h = handlers[i];
    }

    if (ngx_http_symbolicate_filter_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_metrics_init(cf);
}


static void *
ngx_http_symbolicate_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_main_conf_t));
    if (smcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&smcf->stores, cf->pool, 2,
                       sizeof(ngx_http_symbolicate_store_t *))
            != NGX_OK
        || ngx_array_init(&smcf->loaders, cf->pool, 1,
                          sizeof(ngx_http_symbolicate_loader_t *))
             != NGX_OK
        || ngx_http_symbolicate_sources_init(cf, smcf) != NGX_OK
        || ngx_array_init(&smcf->keys, cf->pool, 2,
                          sizeof(ngx_http_symbolicate_keys_t *))
             != NGX_OK
        || ngx_array_init(&smcf->metrics, cf->pool, 4,
                          sizeof(ngx_http_symbolicate_metric_t *))
             != NGX_OK
        || ngx_http_symbolicate_metrics_zone(cf, smcf) != NGX_OK)
    {
        return NULL;
    }

    smcf->recent = NGX_CONF_UNSET_SIZE;
    smcf->names_size = NGX_CONF_UNSET_SIZE;
    smcf->fetch_concurrency = NGX_CONF_UNSET_UINT;
    smcf->buffers = NGX_CONF_UNSET_SIZE;

    return smcf;
}


static char *
ngx_http_symbolicate_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_symbolicate_main_conf_t  *smcf = conf;

    ngx_conf_init_size_value(smcf->recent, NGX_SYMBOLICATE_CACHE);
    ngx_conf_init_size_value(smcf->names_size, NGX_SYMBOLICATE_NAMES);
    ngx_conf_init_size_value(smcf->buffers, NGX_SYMBOLICATE_BUFFERS);
    ngx_conf_init_uint_value(smcf->fetch_concurrency, 32);

    return NGX_CONF_OK;
}


static void *
ngx_http_symbolicate_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_loc_conf_t));
    if (slcf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     slcf->is_root = 0;
     *     slcf->base = { 0, NULL };
     */

    slcf->store = NGX_CONF_UNSET_PTR;
    slcf->dialect = NGX_CONF_UNSET;
    slcf->health = NGX_CONF_UNSET;
    slcf->admin = NGX_CONF_UNSET;
    slcf->metrics = NGX_CONF_UNSET;
    slcf->demangle = NGX_CONF_UNSET;
    slcf->max_jobs = NGX_CONF_UNSET_UINT;
    slcf->max_stacks = NGX_CONF_UNSET_UINT;
    slcf->max_frames = NGX_CONF_UNSET_UINT;
    slcf->max_modules = NGX_CONF_UNSET_UINT;
    slcf->max_answer = NGX_CONF_UNSET;
    slcf->max_missing = NGX_CONF_UNSET_UINT;
    slcf->slice = NGX_CONF_UNSET_UINT;
    slcf->cors = NGX_CONF_UNSET;

    ngx_http_symbolicate_sources_create(slcf);

    return slcf;
}


static char *
ngx_http_symbolicate_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_symbolicate_loc_conf_t *prev = parent;
    ngx_http_symbolicate_loc_conf_t *conf = child;

    ngx_http_core_loc_conf_t  *clcf;

    ngx_conf_merge_ptr_value(conf->store, prev->store, NULL);
    ngx_conf_merge_value(conf->demangle, prev->demangle, 1);

    ngx_conf_merge_uint_value(conf->max_jobs, prev->max_jobs, 0);
    ngx_conf_merge_uint_value(conf->max_stacks, prev->max_stacks, 0);
    ngx_conf_merge_uint_value(conf->max_frames, prev->max_frames, 1000000);
    ngx_conf_merge_uint_value(conf->max_modules, prev->max_modules, 10000);
    ngx_conf_merge_off_value(conf->max_answer, prev->max_answer,
                             NGX_SYMBOLICATE_ANSWER);
    ngx_conf_merge_uint_value(conf->max_missing, prev->max_missing, 5000);
    ngx_conf_merge_uint_value(conf->slice, prev->slice, 512);
    ngx_conf_merge_value(conf->cors, prev->cors, 1);

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (ngx_http_symbolicate_sources_merge(cf, prev, conf) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (conf->store == NULL
        && (conf->dialect != NGX_CONF_UNSET || conf->health != NGX_CONF_UNSET))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" in location \"%V\" needs \"symbolicate_store "
                      "PATH\", there or around it",
                      conf->dialect != NGX_CONF_UNSET ? "symbolicate"
                                                     : "symbolicate_health",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    if (conf->admin == 1 && !clcf->noname
        && (conf->dialect == NGX_CONF_UNSET || conf->base.data == NULL
            || clcf->exact_match))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate_admin\" in location \"%V\" would serve "
                      "nothing: it needs \"symbolicate\" beside it, in a "
                      "location that is given by the beginning of a path",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    /* "if" and "limit_except" blocks serve with the handler of their location,
     * unless they have another */

    if (clcf->noname && clcf->handler == NULL) {
        conf->dialect = prev->dialect;
        conf->health = prev->health;
        conf->admin = prev->admin;
        conf->metrics = prev->metrics;
        conf->is_root = prev->is_root;
        conf->base = prev->base;

        if (conf->dialect != NGX_CONF_UNSET) {
            clcf->handler = ngx_http_symbolicate_handler;

        } else if (conf->health != NGX_CONF_UNSET) {
            clcf->handler = ngx_http_symbolicate_health_handler;

        } else if (conf->metrics != NGX_CONF_UNSET) {
            clcf->handler = ngx_http_symbolicate_metrics_handler;
        }
    }

    /* figures of a server are not for scripts of any page that a browser of its
     * network has open */

    if (conf->metrics != NGX_CONF_UNSET) {
        conf->cors = 0;
    }

    return NGX_CONF_OK;
}


/*
 * Windows of an answer are as large as what glibc maps for each malloc() and
 * unmaps again, and smaller ones are trimmed from the heap: each request would
 * meet all its pages anew (measured: a fifth of an answer of 1,000 frames).
 */
static void
ngx_http_symbolicate_tune_malloc(void)
{
#ifdef __GLIBC__
    (void) mallopt(M_MMAP_THRESHOLD, 8 * NGX_SYMBOLICATE_BUFFER);
    (void) mallopt(M_TRIM_THRESHOLD, NGX_SYMBOLICATE_TRIM);
#endif
}


static void
ngx_http_symbolicate_names_cleanup(void *data)
{
    sym_names_free(data);
}


static ngx_int_t
ngx_http_symbolicate_names_init(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cycle->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    smcf->names = sym_names_create(smcf->names_size);

    cln->handler = ngx_http_symbolicate_names_cleanup;
    cln->data = smcf->names;

    return smcf->names ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_init_process(ngx_cycle_t *cycle)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_symbolicate_module);
    if (smcf == NULL) {
        return NGX_OK;
    }

    if (smcf->stores.nelts) {
        ngx_http_symbolicate_tune_malloc();

        if (ngx_http_symbolicate_names_init(cycle, smcf) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_http_symbolicate_metrics_process(smcf);

    return NGX_OK;
}


/* A loader that came back while the worker was ending has a connection that
 * nobody closed: nginx takes it for one that was forgotten. */
static void
ngx_http_symbolicate_exit_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                          i;
    ngx_http_symbolicate_loader_t     **loaders;
    ngx_http_symbolicate_main_conf_t   *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_symbolicate_module);
    if (smcf == NULL) {
        return;
    }

    loaders = smcf->loaders.elts;

    for (i = 0; i < smcf->loaders.nelts; i++) {
        if (loaders[i]->connection) {
            ngx_http_symbolicate_loader_close(loaders[i]);
        }
    }
}
