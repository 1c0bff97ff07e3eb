
/*
 * ngx_http_symbolicate_fetch_conf.c - directives of fetching.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_request_sources_conf.h"
#include "conf/ngx_http_symbolicate_share_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_names.h"


#define NGX_SYMBOLICATE_BUDGET         30000

#define NGX_SYMBOLICATE_FETCH_TIMEOUT  300000
#define NGX_SYMBOLICATE_FETCH_RATE     1024

#define NGX_SYMBOLICATE_TTL_ABSENT     60
#define NGX_SYMBOLICATE_TTL_PUBLIC     3600
#define NGX_SYMBOLICATE_TTL_MALFORMED  86400
#define NGX_SYMBOLICATE_TTL_FAILED     10

/*
 * ten years: practically for ever, and sums with the current time fit 32 bits
 */
#define NGX_SYMBOLICATE_TTL_MAX        315360000


/* Returns the value of "key=value" for this key. */
ngx_uint_t
ngx_http_symbolicate_option(ngx_str_t *value, const char *key, ngx_str_t *rest)
{
    size_t  len;

    len = ngx_strlen(key);

    if (value->len < len || ngx_strncmp(value->data, key, len) != 0) {
        return 0;
    }

    rest->data = value->data + len;
    rest->len = value->len - len;

    return 1;
}


static ngx_http_symbolicate_loader_conf_t *
ngx_http_symbolicate_loader_add(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_uint_t                           i;
    ngx_http_symbolicate_loader_conf_t  *loader, **p;
    ngx_http_symbolicate_main_conf_t    *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    p = smcf->loaders.elts;

    for (i = 0; i < smcf->loaders.nelts; i++) {
        if (p[i]->path.len == path->len
            && ngx_strncmp(p[i]->path.data, path->data, path->len) == 0)
        {
            return p[i];
        }
    }

    loader = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_loader_conf_t));
    if (loader == NULL) {
        return NULL;
    }

    loader->main = smcf;
    loader->path = *path;
    loader->number = smcf->loaders.nelts;

    p = ngx_array_push(&smcf->loaders);
    if (p == NULL) {
        return NULL;
    }

    *p = loader;

    return loader;
}


char *
ngx_http_symbolicate_set_loader(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_str_t           *value, path;
    struct sockaddr_un   addr;

    if (slcf->loader != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        slcf->loader = NULL;
        return NGX_CONF_OK;
    }

    if (!ngx_http_symbolicate_option(&value[1], "unix:", &path)
        || path.len == 0)
    {
        return "needs the loader's socket, like \"unix:/run/symloader.sock\", "
               "or \"off\"";
    }

    if (ngx_conf_full_name(cf->cycle, &path, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (path.len >= sizeof(addr.sun_path)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the path \"%V\" is too long for a socket: at most "
                           "%uz bytes", &path, sizeof(addr.sun_path) - 1);
        return NGX_CONF_ERROR;
    }

    slcf->loader = ngx_http_symbolicate_loader_add(cf, &path);

    return slcf->loader ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_symbolicate_set_ttl(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    uint32_t    *ttl;
    ngx_int_t    seconds;
    ngx_str_t   *value, rest;
    ngx_uint_t   i;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_symbolicate_option(&value[i], "absent=", &rest)) {
            ttl = &slcf->policy.ttl.absent;

        } else if (ngx_http_symbolicate_option(&value[i], "public=", &rest)) {
            ttl = &slcf->policy.ttl_public;

        } else if (ngx_http_symbolicate_option(&value[i], "malformed=",
                                               &rest))
        {
            ttl = &slcf->policy.ttl.malformed;

        } else if (ngx_http_symbolicate_option(&value[i], "failed=", &rest)) {
            ttl = &slcf->policy.ttl.failed;

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is not an outcome: it takes absent=, "
                               "public=, malformed=, failed=", &value[i]);
            return NGX_CONF_ERROR;
        }

        if (*ttl != (uint32_t) NGX_CONF_UNSET) {
            return "is duplicate";
        }

        seconds = ngx_parse_time(&rest, 1);

        if (seconds == NGX_ERROR || seconds < 1
            || seconds > NGX_SYMBOLICATE_TTL_MAX)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is not possible: use a time of one "
                               "second to ten years, like 10s, 1h, 30d",
                               &value[i]);
            return NGX_CONF_ERROR;
        }

        *ttl = (uint32_t) seconds;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_symbolicate_set_fetch_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ssize_t     rate;
    ngx_int_t   ms;
    ngx_str_t  *value, rest;

    if (slcf->policy.timeout != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;
    ms = ngx_parse_time(&value[1], 0);

    if (ms == NGX_ERROR || ms < 1) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not possible: use a time like 90s, 5m",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    slcf->policy.timeout = ms;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    if (!ngx_http_symbolicate_option(&value[2], "min_rate=", &rest)
        || (rate = ngx_parse_size(&rest)) == NGX_ERROR)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not possible: use \"min_rate=SIZE\", "
                           "bytes a second, like min_rate=1k", &value[2]);
        return NGX_CONF_ERROR;
    }

    slcf->policy.min_rate = rate;

    return NGX_CONF_OK;
}


void
ngx_http_symbolicate_sources_create(ngx_http_symbolicate_loc_conf_t *slcf)
{
    slcf->loader = NGX_CONF_UNSET_PTR;
    slcf->policy.sources = NGX_CONF_UNSET_PTR;
    slcf->policy.request_sources_conf = NGX_CONF_UNSET_PTR;
    slcf->policy.share = NGX_CONF_UNSET_PTR;
    slcf->aws = NGX_CONF_UNSET_PTR;
    slcf->policy.ttl.absent = (uint32_t) NGX_CONF_UNSET;
    slcf->policy.ttl_public = (uint32_t) NGX_CONF_UNSET;
    slcf->policy.ttl.malformed = (uint32_t) NGX_CONF_UNSET;
    slcf->policy.ttl.failed = (uint32_t) NGX_CONF_UNSET;
    slcf->policy.timeout = NGX_CONF_UNSET_MSEC;
    slcf->policy.min_rate = NGX_CONF_UNSET_SIZE;
    slcf->budget = NGX_CONF_UNSET_MSEC;
    slcf->on_failure = NGX_CONF_UNSET_UINT;
}


static void
ngx_http_symbolicate_ttl_merge(uint32_t *conf, uint32_t prev, uint32_t usual)
{
    if (*conf == (uint32_t) NGX_CONF_UNSET) {
        *conf = prev == (uint32_t) NGX_CONF_UNSET ? usual : prev;
    }
}


char *
ngx_http_symbolicate_sources_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t  *clcf;
    ngx_http_core_srv_conf_t  *cscf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    conf->policy.server = cscf->ctx;

    ngx_conf_merge_ptr_value(conf->loader, prev->loader, NULL);
    ngx_conf_merge_ptr_value(conf->policy.sources, prev->policy.sources, NULL);
    ngx_conf_merge_ptr_value(conf->policy.share, prev->policy.share, NULL);
    ngx_conf_merge_ptr_value(conf->aws, prev->aws, NULL);
    ngx_conf_merge_msec_value(conf->policy.timeout, prev->policy.timeout,
                              NGX_SYMBOLICATE_FETCH_TIMEOUT);
    ngx_conf_merge_size_value(conf->policy.min_rate, prev->policy.min_rate,
                              NGX_SYMBOLICATE_FETCH_RATE);
    ngx_conf_merge_msec_value(conf->budget, prev->budget,
                              NGX_SYMBOLICATE_BUDGET);
    ngx_conf_merge_uint_value(conf->on_failure, prev->on_failure,
                              ngx_http_symbolicate_on_failure_503);

    ngx_http_symbolicate_ttl_merge(&conf->policy.ttl.absent,
                                   prev->policy.ttl.absent,
                                   NGX_SYMBOLICATE_TTL_ABSENT);
    ngx_http_symbolicate_ttl_merge(&conf->policy.ttl_public,
                                   prev->policy.ttl_public,
                                   NGX_SYMBOLICATE_TTL_PUBLIC);
    ngx_http_symbolicate_ttl_merge(&conf->policy.ttl.malformed,
                                   prev->policy.ttl.malformed,
                                   NGX_SYMBOLICATE_TTL_MALFORMED);
    ngx_http_symbolicate_ttl_merge(&conf->policy.ttl.failed,
                                   prev->policy.ttl.failed,
                                   NGX_SYMBOLICATE_TTL_FAILED);

    if (ngx_http_symbolicate_request_source_merge(cf, prev,
                                                  conf) != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_symbolicate_scopes_merge(cf, conf) != NGX_OK
        || ngx_http_symbolicate_uses_merge(cf, conf) != NGX_OK
        || ngx_http_symbolicate_share_join(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (conf->api == NULL
        || (conf->loader == NULL) == (conf->policy.sources == NULL))
    {
        return NGX_CONF_OK;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (conf->loader == NULL) {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "location \"%V\" has \"symbolicate_source\" but no "
                      "\"symbolicate_loader\": nothing will be fetched",
                      &clcf->name);
        return NGX_CONF_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"symbolicate_loader\" in location \"%V\" needs "
                  "\"symbolicate_source NAME uri=/LOCATION/\" or "
                  "\"symbolicate_request_sources\", there or around it",
                  &clcf->name);

    return NGX_CONF_ERROR;
}


char *
ngx_http_symbolicate_set_webhook(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_str_t  *value;

    if (slcf->webhook.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        ngx_str_set(&slcf->webhook, "");
        return NGX_CONF_OK;
    }

    if (!ngx_http_symbolicate_option(&value[1], "uri=", &slcf->webhook)
        || slcf->webhook.len == 0 || slcf->webhook.data[0] != '/')
    {
        return "needs \"uri=/LOCATION\", an internal location that passes "
               "requests to the webhook, or \"off\"";
    }

    return NGX_CONF_OK;
}


/* A loader notifies only one webhook, so that arrivals are reported once. */
char *
ngx_http_symbolicate_webhook_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_symbolicate_loader_conf_t  *loader;

    loader = conf->loader;

    if (loader == NULL || conf->webhook.len == 0) {
        return NGX_CONF_OK;
    }

    if (loader->webhook.len
        && (loader->webhook_server != conf->policy.server
            || loader->webhook.len != conf->webhook.len
            || ngx_strncmp(loader->webhook.data, conf->webhook.data,
                           conf->webhook.len)
               != 0))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the loader \"unix:%V\" has two webhooks, \"%V\" and "
                      "\"%V\", or one in two servers: it notifies only one",
                      &loader->path, &loader->webhook, &conf->webhook);
        return NGX_CONF_ERROR;
    }

    loader->webhook = conf->webhook;
    loader->webhook_server = conf->policy.server;

    return NGX_CONF_OK;
}
