
/*
 * ngx_http_symbolicate_directives.c - directives of serving.
 *
 * A directive with a wrong value is refused with a sentence that says what is
 * expected.  docs/use/directives.md describes each.
 */


#include "conf/ngx_http_symbolicate_module.h"
#include "conf/ngx_http_symbolicate_directives.h"


#define NGX_SYMBOLICATE_CACHE_MAX  ((off_t) 4096 * 1024 * 1024)


char *
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


char *
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


char *
ngx_http_symbolicate_set_health(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    return ngx_http_symbolicate_claim(cf, slcf, &slcf->health,
                                      ngx_http_symbolicate_health_handler);
}


char *
ngx_http_symbolicate_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    return ngx_http_symbolicate_claim(cf, slcf, &slcf->metrics,
                                      ngx_http_symbolicate_metrics_handler);
}


char *
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


char *
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
