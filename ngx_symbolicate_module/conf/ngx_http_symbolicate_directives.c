
/*
 * ngx_http_symbolicate_directives.c - directives of serving.
 *
 * A wrong value of a directive is refused with a message that contains the
 * expected form.  docs/use/directives.md describes the directives.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_directives.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


#define NGX_SYMBOLICATE_REQUESTS_MAX  1000000

#define NGX_SYMBOLICATE_RESULTS_MIN   ((off_t) 1024 * 1024)
#define NGX_SYMBOLICATE_RESULTS_MAX   ((off_t) 1024 * 1024 * 1024)

#define NGX_SYMBOLICATE_MEMORY_MIN    ((off_t) 2 * 1024 * 1024)

/*
 * Defaults of symbolicate_proxy; each file is on disk, or has an open
 * descriptor.
 */
#define NGX_SYMBOLICATE_PROXY_FILES      4
#define NGX_SYMBOLICATE_PROXY_FILES_MAX  1000
#define NGX_SYMBOLICATE_PROXY_SIZE       ((off_t) 2048 * 1024 * 1024)

#define NGX_SYMBOLICATE_CACHE_MAX  ((off_t) 4096 * 1024 * 1024)


/*
 * A process may open an LMDB store only once, so two names for one folder must
 * become one store.  Names of missing folders can only be compared as text.
 */
static ngx_uint_t
ngx_http_symbolicate_store_is_same(ngx_str_t *one, ngx_str_t *two)
{
    ngx_file_info_t  a, b;

    if (one->len == two->len
        && ngx_strncmp(one->data, two->data, one->len) == 0)
    {
        return 1;
    }

    return ngx_file_info(one->data, &a) != NGX_FILE_ERROR
           && ngx_file_info(two->data, &b) != NGX_FILE_ERROR
           && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}


static ngx_http_symbolicate_store_conf_t *
ngx_http_symbolicate_store_add(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_uint_t                          i;
    ngx_str_t                           full;
    ngx_http_symbolicate_store_conf_t  *store, **p;
    ngx_http_symbolicate_main_conf_t   *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    full = *path;

    while (full.len > 1 && full.data[full.len - 1] == '/') {
        full.data[--full.len] = '\0';
    }

    if (ngx_conf_full_name(cf->cycle, &full, 0) != NGX_OK) {
        return NULL;
    }

    p = smcf->stores.elts;

    for (i = 0; i < smcf->stores.nelts; i++) {
        if (ngx_http_symbolicate_store_is_same(&p[i]->path, &full)) {
            return p[i];
        }
    }

    store = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_store_conf_t));
    if (store == NULL) {
        return NULL;
    }

    store->main = smcf;
    store->path = full;
    store->number = smcf->stores.nelts;

    p = ngx_array_push(&smcf->stores);
    if (p == NULL) {
        return NULL;
    }

    *p = store;

    return store;
}


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


char *
ngx_http_symbolicate_claim(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *slcf, ngx_uint_t is_claimed,
    void *handler)
{
    ngx_http_core_loc_conf_t  *clcf;

    if (is_claimed) {
        return "is duplicate";
    }

    if (slcf->api) {
        return "cannot be next to \"symbolicate\" in one location";
    }

    if (slcf->health != NGX_CONF_UNSET) {
        return "cannot be next to \"symbolicate_health\" in one location";
    }

    if (slcf->metrics != NGX_CONF_UNSET) {
        return "cannot be next to \"symbolicate_metrics\" in one location";
    }

    if (slcf->page) {
        return "cannot be next to \"symbolicate_page\" in one location";
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = (ngx_http_handler_pt) handler;
    slcf->handler = clcf->handler;

    return NGX_CONF_OK;
}


ngx_uint_t
ngx_http_symbolicate_set_base(ngx_http_symbolicate_loc_conf_t *slcf,
    ngx_http_core_loc_conf_t *clcf)
{
#if (NGX_PCRE)
    if (clcf->regex) {
        return 0;
    }
#endif

    if (clcf->name.len == 0 || clcf->name.data[0] != '/') {
        return 0;
    }

    slcf->place.has_base = 1;
    slcf->place.base = sym_str((char *) clcf->name.data, clcf->name.len);

    if (clcf->name.data[clcf->name.len - 1] == '/') {
        slcf->place.base.len--;
    }

    return 1;
}


/* Lists the names of all APIs: "tecken" or "atos". */
static void
ngx_http_symbolicate_api_names(u_char *text, size_t size)
{
    u_char      *p;
    ngx_uint_t   i;

    p = text;

    for (i = 0; sym_apis[i]; i++) {
        p = ngx_slprintf(p, text + size - 1, "%s\"%s\"", i ? " or " : "",
                         sym_apis[i]->name);
    }

    *p = '\0';
}


/*
 * Whether another route of the API already includes all paths with this ending.
 */
static ngx_uint_t
ngx_http_symbolicate_is_covered(const sym_api_t *api,
    const sym_api_route_t *route)
{
    size_t                  len, tail;
    const sym_api_route_t  *other;

    len = ngx_strlen(route->suffix);

    for (other = api->routes; other->suffix; other++) {
        tail = ngx_strlen(other->suffix);

        if (other != route && !other->is_root && tail < len
            && ngx_strcmp(route->suffix + len - tail, other->suffix) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* Describes the paths of an API: be "/" or end in "/v4" or "/v5". */
static void
ngx_http_symbolicate_api_paths(const sym_api_t *api, u_char *text, size_t size)
{
    u_char                 *p;
    const char             *verb, *last;
    const sym_api_route_t  *route;

    p = text;
    last = NULL;

    for (route = api->routes; route->suffix; route++) {

        if (ngx_http_symbolicate_is_covered(api, route)) {
            continue;
        }

        verb = route->is_root ? "be" : "end in";

        p = ngx_slprintf(p, text + size - 1, "%s%s%s\"%s\"",
                         last ? " or " : "", verb == last ? "" : verb,
                         verb == last ? "" : " ", route->suffix);
        last = verb;
    }

    *p = '\0';
}


char *
ngx_http_symbolicate_set_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                      *rv;
    u_char                     text[512];
    ngx_str_t                 *value;
    const sym_api_t           *api;
    ngx_http_core_loc_conf_t  *clcf;

    ngx_http_symbolicate_main_conf_t  *smcf;

    rv = ngx_http_symbolicate_claim(cf, slcf, slcf->api != NULL, cmd->post);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    api = (cf->args->nelts == 1)
          ? sym_apis[0]
          : sym_api_find(sym_str((char *) value[1].data, value[1].len));

    if (api == NULL) {
        ngx_http_symbolicate_api_names(text, sizeof(text));
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "unknown API \"%V\" in \"symbolicate\": it must be "
                           "%s", &value[1], text);
        return NGX_CONF_ERROR;
    }

    slcf->api = api;

    if (api->read_wait) {
        smcf = ngx_http_conf_get_module_main_conf(cf,
                                                  ngx_http_symbolicate_module);
        smcf->has_jobs = 1;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    slcf->place.is_root = clcf->exact_match && clcf->name.len == 1;

    (void) ngx_http_symbolicate_set_base(slcf, clcf);

    if (clcf->exact_match
        && sym_api_route(api, &slcf->place,
                         sym_str((char *) clcf->name.data, clcf->name.len))
           == NULL)
    {
        ngx_http_symbolicate_api_paths(api, text, sizeof(text));
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"symbolicate\" would answer 404 to everything in "
                           "\"location = %V\": the path of an exact location "
                           "must %s", &clcf->name, text);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


char *
ngx_http_symbolicate_set_page(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char  *p = conf;

    char        *rv;
    ngx_flag_t  *flag;

    flag = (ngx_flag_t *) (p + cmd->offset);

    rv = ngx_http_symbolicate_claim(cf, conf, *flag != NGX_CONF_UNSET,
                                    cmd->post);

    if (rv == NGX_CONF_OK) {
        *flag = 1;
    }

    return rv;
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

    if (size == (off_t) NGX_ERROR || size < (off_t) SYM_ANSWER_CACHE_BYTES_MIN
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


/* symbolicate_memory SIZE [request=SIZE] */
char *
ngx_http_symbolicate_set_memory(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_main_conf_t  *smcf = conf;

    off_t       size, share;
    ngx_str_t  *value, text;

    static const size_t  prefix = sizeof("request=") - 1;

    if (smcf->memory != NGX_CONF_UNSET_SIZE) {
        return "is duplicate";
    }

    value = cf->args->elts;
    size = ngx_parse_offset(&value[1]);
    share = size / 2;

    if (cf->args->nelts == 3) {
        text = value[2];
        share = NGX_ERROR;

        if (text.len > prefix
            && ngx_strncmp(text.data, "request=", prefix) == 0)
        {
            text.data += prefix;
            text.len -= prefix;
            share = ngx_parse_offset(&text);
        }
    }

    if (size == 0 && share == 0) {
        smcf->memory = 0;
        return NGX_CONF_OK;
    }

    if (size < NGX_SYMBOLICATE_MEMORY_MIN || share > size
        || share < NGX_SYMBOLICATE_MEMORY_MIN / 2)
    {
        return "must be a size from 2m, or 0 (no limit), and may have "
               "\"request=SIZE\" after it, from 1m to that size";
    }

    smcf->memory = (size_t) size;
    smcf->memory_share = (size_t) share;

    return NGX_CONF_OK;
}


/* symbolicate_max_requests NUMBER [per_address=NUMBER] */
char *
ngx_http_symbolicate_set_max_requests(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_main_conf_t  *smcf = conf;

    ngx_int_t   n, per_address;
    ngx_str_t  *value;

    static const size_t  prefix = sizeof("per_address=") - 1;

    if (smcf->max_requests != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    n = ngx_atoi(value[1].data, value[1].len);
    per_address = NGX_SYMBOLICATE_SHARE;

    if (cf->args->nelts == 3) {
        per_address = value[2].len > prefix
                      && ngx_strncmp(value[2].data, "per_address=", prefix) == 0
                      ? ngx_atoi(value[2].data + prefix, value[2].len - prefix)
                      : NGX_ERROR;

        if (per_address > NGX_SYMBOLICATE_REQUESTS_MAX) {
            per_address = NGX_ERROR;
        }
    }

    if (n < 0 || n > NGX_SYMBOLICATE_REQUESTS_MAX || per_address < 0) {
        return "must be a number of requests from 0 (no limit) to 1000000, "
               "and may have \"per_address=NUMBER\" after it";
    }

    smcf->max_requests = n;
    smcf->max_per_address = per_address;

    return NGX_CONF_OK;
}


/* symbolicate_results SIZE [valid=TIME] */
char *
ngx_http_symbolicate_set_results(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_main_conf_t  *smcf = conf;

    off_t       size;
    ngx_int_t   ms;
    ngx_str_t  *value, time;

    static const size_t  prefix = sizeof("valid=") - 1;

    if (smcf->results_size != NGX_CONF_UNSET_SIZE) {
        return "is duplicate";
    }

    value = cf->args->elts;
    size = ngx_parse_offset(&value[1]);

    if (size < NGX_SYMBOLICATE_RESULTS_MIN
        || size > NGX_SYMBOLICATE_RESULTS_MAX)
    {
        return "must be a size from 1m to 1g";
    }

    smcf->results_size = (size_t) size;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    time = value[2];

    if (time.len <= prefix || ngx_strncmp(time.data, "valid=", prefix) != 0) {
        return "takes nothing after its size but \"valid=TIME\"";
    }

    time.data += prefix;
    time.len -= prefix;
    ms = ngx_parse_time(&time, 0);

    if (ms == NGX_ERROR || ms == 0) {
        return "has a \"valid\" that is not a time; use one like 90s";
    }

    smcf->results_valid = ms;

    return NGX_CONF_OK;
}


/* symbolicate_proxy on [files=NUMBER] [size=SIZE] | off */
char *
ngx_http_symbolicate_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_int_t                           n;
    ngx_str_t                          *value, rest;
    ngx_uint_t                          i;
    ngx_http_symbolicate_proxy_conf_t  *proxy;

    proxy = &slcf->proxy;

    if (proxy->enable != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        proxy->enable = 0;
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(value[1].data, "on") != 0) {
        return "must be \"off\", or \"on\" and perhaps \"files=NUMBER\" and "
               "\"size=SIZE\"";
    }

    proxy->enable = 1;
    proxy->files = NGX_SYMBOLICATE_PROXY_FILES;
    proxy->size = NGX_SYMBOLICATE_PROXY_SIZE;

    for (i = 2; i < cf->args->nelts; i++) {

        if (ngx_http_symbolicate_option(&value[i], "files=", &rest)) {
            n = ngx_atoi(rest.data, rest.len);

            if (n < 1 || n > NGX_SYMBOLICATE_PROXY_FILES_MAX) {
                return "has a \"files\" that is not a number from 1 to 1000";
            }

            proxy->files = n;
            continue;
        }

        if (ngx_http_symbolicate_option(&value[i], "size=", &rest)) {
            proxy->size = ngx_parse_offset(&rest);

            if (proxy->size < 1) {
                return "has a \"size\" that is not a size; use one like 2g";
            }

            continue;
        }

        return "takes nothing after \"on\" but \"files=NUMBER\" and "
               "\"size=SIZE\"";
    }

    return NGX_CONF_OK;
}
