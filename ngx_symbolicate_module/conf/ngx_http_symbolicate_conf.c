
/*
 * ngx_http_symbolicate_conf.c - creates, merges and checks the configuration.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_upload_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_names.h"


#define NGX_SYMBOLICATE_CACHE      (16 * 1024 * 1024)
#define NGX_SYMBOLICATE_NAMES      (4 * 1024 * 1024)

#define NGX_SYMBOLICATE_ANSWER     ((off_t) 256 * 1024 * 1024)
#define NGX_SYMBOLICATE_BUFFERS    (64 * 1024 * 1024)
#define NGX_SYMBOLICATE_MEMORY     (192 * 1024 * 1024)
#define NGX_SYMBOLICATE_RESULTS    (64 * 1024 * 1024)


/*
 * Makes the text with the names of the location's sources, for notes of missing
 * modules.
 */
static char *
ngx_http_symbolicate_missing_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    u_char    *p;
    size_t     len;
    uint32_t   i;

    if (!conf->missing || conf->api == NULL) {
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_webhook_merge(cf, conf) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    len = 0;

    for (i = 1; i < conf->scopes.n; i++) {
        len += conf->scopes.names[i].len + 1;
    }

    p = ngx_pnalloc(cf->pool, len + 1);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    conf->missing_in.data = p;

    for (i = 1; i < conf->scopes.n; i++) {
        p = ngx_cpymem(p, conf->scopes.names[i].data,
                       conf->scopes.names[i].len);
        *p++ = '\n';
    }

    conf->missing_in.len = p - conf->missing_in.data;

    return NGX_CONF_OK;
}


void *
ngx_http_symbolicate_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_main_conf_t));
    if (smcf == NULL) {
        return NULL;
    }

    smcf->request_source_lanes = NGX_CONF_UNSET_UINT;

    if (ngx_array_init(&smcf->stores, cf->pool, 2,
                       sizeof(ngx_http_symbolicate_store_conf_t *))
            != NGX_OK
        || ngx_array_init(&smcf->uploads, cf->pool, 1,
                          sizeof(ngx_http_symbolicate_loc_conf_t *))
           != NGX_OK
        || ngx_array_init(&smcf->loaders, cf->pool, 1,
                          sizeof(ngx_http_symbolicate_loader_conf_t *))
             != NGX_OK
        || ngx_http_symbolicate_sources_init(cf, smcf) != NGX_OK
        || ngx_array_init(&smcf->keys, cf->pool, 2,
                          sizeof(void *))
             != NGX_OK
        || ngx_array_init(&smcf->members, cf->pool, 1,
                          sizeof(ngx_http_symbolicate_loc_conf_t *))
             != NGX_OK
        || ngx_array_init(&smcf->metrics, cf->pool, 4,
                          sizeof(ngx_http_symbolicate_metric_t *))
             != NGX_OK)
    {
        return NULL;
    }

    smcf->answers_size = NGX_CONF_UNSET_SIZE;
    smcf->names_size = NGX_CONF_UNSET_SIZE;
    smcf->fetch_concurrency = NGX_CONF_UNSET_UINT;
    smcf->buffers = NGX_CONF_UNSET_SIZE;
    smcf->memory = NGX_CONF_UNSET_SIZE;
    smcf->max_requests = NGX_CONF_UNSET_UINT;
    smcf->max_per_address = NGX_CONF_UNSET_UINT;
    smcf->results_size = NGX_CONF_UNSET_SIZE;
    smcf->results_valid = NGX_CONF_UNSET_MSEC;

    return smcf;
}


char *
ngx_http_symbolicate_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_symbolicate_main_conf_t  *smcf = conf;

    ngx_conf_init_size_value(smcf->answers_size, NGX_SYMBOLICATE_CACHE);
    ngx_conf_init_size_value(smcf->names_size, NGX_SYMBOLICATE_NAMES);
    ngx_conf_init_size_value(smcf->buffers, NGX_SYMBOLICATE_BUFFERS);
    if (smcf->memory == NGX_CONF_UNSET_SIZE) {
        smcf->memory = NGX_SYMBOLICATE_MEMORY;
        smcf->memory_share = NGX_SYMBOLICATE_MEMORY / 2;
    }

    ngx_conf_init_uint_value(smcf->fetch_concurrency, 32);
    ngx_conf_init_uint_value(smcf->max_requests, 200);
    ngx_conf_init_uint_value(smcf->max_per_address,
                             NGX_SYMBOLICATE_SHARE);
    ngx_conf_init_size_value(smcf->results_size, NGX_SYMBOLICATE_RESULTS);
    ngx_conf_init_msec_value(smcf->results_valid, 90000);

    return NGX_CONF_OK;
}


void *
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
     *     slcf->api = NULL;
     *     slcf->handler = NULL;
     *     slcf->page = NULL;
     *     slcf->place = { 0 };
     *     slcf->missing_in = { 0, NULL };
     *     slcf->webhook = { 0, NULL };
     *     slcf->proxy.files = 0;
     *     slcf->proxy.size = 0;
     *     slcf->upload = { 0 };
     */

    slcf->store = NGX_CONF_UNSET_PTR;
    slcf->health = NGX_CONF_UNSET;
    slcf->admin = NGX_CONF_UNSET;
    slcf->missing = NGX_CONF_UNSET;
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
    slcf->request_timeout = NGX_CONF_UNSET_MSEC;
    slcf->proxy.enable = NGX_CONF_UNSET;

    ngx_http_symbolicate_sources_create(slcf);

    return slcf;
}


char *
ngx_http_symbolicate_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_symbolicate_loc_conf_t *prev = parent;
    ngx_http_symbolicate_loc_conf_t *conf = child;

    ngx_uint_t                 asks_for_cors;
    ngx_http_core_loc_conf_t  *clcf;

    ngx_conf_merge_ptr_value(conf->store, prev->store, NULL);
    conf->policy.store = conf->store;
    ngx_conf_merge_value(conf->demangle, prev->demangle, 1);

    ngx_conf_merge_uint_value(conf->max_jobs, prev->max_jobs, 0);
    ngx_conf_merge_uint_value(conf->max_stacks, prev->max_stacks, 0);
    ngx_conf_merge_uint_value(conf->max_frames, prev->max_frames, 1000000);
    ngx_conf_merge_uint_value(conf->max_modules, prev->max_modules, 10000);
    ngx_conf_merge_off_value(conf->max_answer, prev->max_answer,
                             NGX_SYMBOLICATE_ANSWER);
    ngx_conf_merge_uint_value(conf->max_missing, prev->max_missing, 5000);
    ngx_conf_merge_uint_value(conf->slice, prev->slice, 512);
    asks_for_cors = conf->cors == 1;
    ngx_conf_merge_value(conf->cors, prev->cors, 1);
    ngx_conf_merge_value(conf->missing, prev->missing, 0);
    ngx_conf_merge_str_value(conf->webhook, prev->webhook, "");
    ngx_conf_merge_msec_value(conf->request_timeout, prev->request_timeout,
                              900000);

    if (conf->proxy.enable == NGX_CONF_UNSET) {
        conf->proxy = prev->proxy;
    }

    ngx_conf_init_value(conf->proxy.enable, 0);

    if (conf->request_timeout == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate_request_timeout 0\" is not possible: "
                      "each request would be over when it begins");
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (ngx_http_symbolicate_sources_merge(cf, prev, conf) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_symbolicate_uploads_merge(cf, prev, conf) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_symbolicate_missing_merge(cf, conf) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (conf->store == NULL
        && (conf->api || conf->health != NGX_CONF_UNSET))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" in location \"%V\" needs \"symbolicate_store "
                      "PATH\", there or around it",
                      conf->api ? "symbolicate" : "symbolicate_health",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    if (conf->admin == 1 && !clcf->noname
        && (conf->api == NULL || !conf->place.has_base
            || clcf->exact_match))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate_admin\" in location \"%V\" would serve "
                      "nothing: it needs \"symbolicate\" in the same prefix "
                      "location", &clcf->name);
        return NGX_CONF_ERROR;
    }

    /*
     * "if" and "limit_except" blocks use the handler of their location, unless
     * they have their own
     */

    if (clcf->noname && clcf->handler == NULL) {
        conf->api = prev->api;
        conf->health = prev->health;
        conf->admin = prev->admin;
        conf->metrics = prev->metrics;
        conf->page = prev->page;
        conf->place = prev->place;
        conf->missing_in = prev->missing_in;

        conf->handler = prev->handler;
        clcf->handler = prev->handler;
    }

    ngx_http_symbolicate_upload_buffer(conf, clcf);

    conf->policy.for_peers = conf->api && conf->api->is_for_peers;

    /*
     * scripts of other sites in an operator's browser must not read a server's
     * counters
     */

    if (conf->metrics != NGX_CONF_UNSET
        || (conf->api && conf->api->is_same_site
            && !(conf->api->may_have_cors && asks_for_cors)))
    {
        conf->cors = 0;
    }

    return NGX_CONF_OK;
}
