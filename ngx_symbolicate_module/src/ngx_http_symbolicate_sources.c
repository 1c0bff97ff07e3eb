
/*
 * ngx_http_symbolicate_sources.c - directives of fetching.
 */


#include "ngx_http_symbolicate_module.h"


#define NGX_SYMBOLICATE_BUDGET         30000

#define NGX_SYMBOLICATE_FETCH_TIMEOUT  300000
#define NGX_SYMBOLICATE_FETCH_RATE     1024

#define NGX_SYMBOLICATE_TTL_ABSENT     3600
#define NGX_SYMBOLICATE_TTL_MALFORMED  86400
#define NGX_SYMBOLICATE_TTL_FAILED     10

/* ten years: a word for "for good", and sums with the time fit 32 bits */
#define NGX_SYMBOLICATE_TTL_MAX        315360000


static char *ngx_http_symbolicate_source_option(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value);
static char *ngx_http_symbolicate_source_kinds(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value);
static char *ngx_http_symbolicate_source_redirect(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value);
static char *ngx_http_symbolicate_source_absent(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value);


static ngx_conf_enum_t  ngx_http_symbolicate_ids[] = {
    { ngx_string("as-is"), SYM_SOURCE_IDS_AS_IS },
    { ngx_string("upper"), SYM_SOURCE_IDS_UPPER },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_symbolicate_casings[] = {
    { ngx_string("default"), SYM_SOURCE_CASING_DEFAULT },
    { ngx_string("lowercase"), SYM_SOURCE_CASING_LOWER },
    { ngx_string("uppercase"), SYM_SOURCE_CASING_UPPER },
    { ngx_null_string, 0 }
};


/* "key=value" of this key: what stands behind it. */
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


/* What a word means; 0: it is none of these. */
static ngx_uint_t
ngx_http_symbolicate_word(ngx_conf_enum_t *words, ngx_str_t *value,
    ngx_uint_t *meaning)
{
    for ( /* void */ ; words->name.len; words++) {
        if (words->name.len == value->len
            && ngx_strncmp(words->name.data, value->data, value->len) == 0)
        {
            *meaning = words->value;
            return 1;
        }
    }

    return 0;
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
ngx_http_symbolicate_set_source(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    u_char                         *p;
    ngx_str_t                      *value;
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *source, *sources;

    value = cf->args->elts;

    if (slcf->how.sources == NGX_CONF_UNSET_PTR) {
        slcf->how.sources = ngx_array_create(cf->pool, 2,
                                       sizeof(ngx_http_symbolicate_source_t));
        if (slcf->how.sources == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    sources = slcf->how.sources->elts;

    for (i = 0; i < slcf->how.sources->nelts; i++) {
        if (sources[i].name.len == value[1].len
            && ngx_strncmp(sources[i].name.data, value[1].data, value[1].len)
               == 0)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "there is a source \"%V\" already", &value[1]);
            return NGX_CONF_ERROR;
        }
    }

    for (p = value[1].data; p < value[1].data + value[1].len; p++) {
        if (*p <= ' ' || *p == '=' || *p == '"' || *p >= 0x7f) {
            break;
        }
    }

    if (value[1].len == 0 || value[1].len > 64
        || p != value[1].data + value[1].len)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is no name for a source: 1 to 64 visible "
                           "characters without \"=\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    source = ngx_array_push(slcf->how.sources);
    if (source == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(source, sizeof(ngx_http_symbolicate_source_t));

    source->name = value[1];
    source->metric = ngx_http_symbolicate_metrics_source(cf, &source->name);

    if (source->metric == NULL) {
        return NGX_CONF_ERROR;
    }

    source->rules.layout = SYM_LAYOUT_BREAKPAD;
    source->rules.ids = SYM_SOURCE_IDS_AS_IS;
    source->absent[0] = NGX_HTTP_NOT_FOUND;
    source->absent[1] = NGX_HTTP_FORBIDDEN;
    source->absent[2] = 410;
    source->nabsent = 3;

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_http_symbolicate_source_option(cf, source, &value[i])
            != NGX_CONF_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    if (source->rules.files == 0) {
        source->rules.files = ~0U;
    }

    source->rules.files &= sym_layout_files(source->rules.layout);

    if (source->rules.files == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the layout of source \"%V\" has no place for files "
                           "of these kinds", &source->name);
        return NGX_CONF_ERROR;
    }

    if (source->uri.len == 0) {
        return "needs \"uri=/LOCATION/\", an internal location that has the "
               "symbols";
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_symbolicate_source_option(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value)
{
    ngx_str_t   rest;
    ngx_uint_t  word;

    if (ngx_http_symbolicate_option(value, "uri=", &rest)) {

        if (rest.len == 0 || rest.data[0] != '/'
            || rest.data[rest.len - 1] != '/')
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" must begin and end with a slash",
                               value);
            return NGX_CONF_ERROR;
        }

        source->uri = rest;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "layout=", &rest)) {

        if (!sym_layout_find(sym_str((char *) rest.data, rest.len),
                             &source->rules.layout))
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "unknown layout \"%V\": there are breakpad, "
                               "native, debuginfod, symstore, ssqp, unified, "
                               "slashsymbols", &rest);
            return NGX_CONF_ERROR;
        }

        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "kinds=", &rest)) {
        return ngx_http_symbolicate_source_kinds(cf, source, &rest);
    }

    if (ngx_http_symbolicate_option(value, "ids=", &rest)
        && ngx_http_symbolicate_word(ngx_http_symbolicate_ids, &rest, &word))
    {
        source->rules.ids = word;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "casing=", &rest)
        && ngx_http_symbolicate_word(ngx_http_symbolicate_casings, &rest,
                                     &word))
    {
        source->rules.casing = word;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "absent=", &rest)) {
        return ngx_http_symbolicate_source_absent(cf, source, &rest);
    }

    if (ngx_http_symbolicate_option(value, "redirect=", &rest)) {
        return ngx_http_symbolicate_source_redirect(cf, source, &rest);
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is nothing a source takes: it takes uri=, "
                       "layout=, kinds=, ids=as-is or ids=upper, "
                       "casing=default, lowercase or uppercase, absent=, "
                       "redirect=",
                       value);

    return NGX_CONF_ERROR;
}


/* "elf,breakpad" */
static char *
ngx_http_symbolicate_source_kinds(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value)
{
    u_char    *p, *end, *comma;
    unsigned   files;

    p = value->data;
    end = p + value->len;

    for ( ;; ) {
        comma = ngx_strlchr(p, end, ',');

        if (comma == NULL) {
            comma = end;
        }

        files = sym_source_files_find(sym_str((char *) p, comma - p));

        if (files == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"kinds=%V\" is not possible: want some of "
                               "elf, macho and breakpad, like elf,breakpad; "
                               "no other kind of file (PE, PDB, WebAssembly, "
                               "source bundles) is read", value);
            return NGX_CONF_ERROR;
        }

        source->rules.files |= files;

        if (comma == end) {
            return NGX_CONF_OK;
        }

        p = comma + 1;
    }
}


/* "bucket.example.com/_bucket/": asked in location /_bucket/ */
static char *
ngx_http_symbolicate_source_redirect(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value)
{
    u_char                           *slash;
    ngx_http_symbolicate_redirect_t  *redirect;

    slash = ngx_strlchr(value->data, value->data + value->len, '/');

    if (slash == NULL || slash == value->data
        || value->data[value->len - 1] != '/')
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"redirect=%V\" is not possible: want a host and "
                           "the location that asks it, like "
                           "redirect=bucket.example.com/_bucket/", value);
        return NGX_CONF_ERROR;
    }

    if (source->redirects == NULL) {
        source->redirects = ngx_array_create(cf->pool, 1,
                                      sizeof(ngx_http_symbolicate_redirect_t));
        if (source->redirects == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    redirect = ngx_array_push(source->redirects);
    if (redirect == NULL) {
        return NGX_CONF_ERROR;
    }

    redirect->host.data = value->data;
    redirect->host.len = slash - value->data;
    redirect->uri.data = slash;
    redirect->uri.len = value->data + value->len - slash;

    return NGX_CONF_OK;
}


/* "404,403" */
static char *
ngx_http_symbolicate_source_absent(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value)
{
    u_char     *p, *end, *comma;
    ngx_int_t   status;

    source->nabsent = 0;

    p = value->data;
    end = p + value->len;

    for ( ;; ) {
        comma = ngx_strlchr(p, end, ',');

        if (comma == NULL) {
            comma = end;
        }

        status = ngx_atoi(p, comma - p);

        if (status < 400 || status > 499
            || source->nabsent == NGX_SYMBOLICATE_ABSENT_MAX)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"absent=%V\" is not possible: want at most "
                               "%d statuses from 400 to 499, like 404,403",
                               value, NGX_SYMBOLICATE_ABSENT_MAX);
            return NGX_CONF_ERROR;
        }

        source->absent[source->nabsent++] = status;

        if (comma == end) {
            return NGX_CONF_OK;
        }

        p = comma + 1;
    }
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
            ttl = &slcf->how.ttl.absent;

        } else if (ngx_http_symbolicate_option(&value[i], "malformed=",
                                               &rest))
        {
            ttl = &slcf->how.ttl.malformed;

        } else if (ngx_http_symbolicate_option(&value[i], "failed=", &rest)) {
            ttl = &slcf->how.ttl.failed;

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is no outcome: it takes absent=, "
                               "malformed=, failed=", &value[i]);
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
                               "\"%V\" is not possible: want a time of one "
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

    if (slcf->how.timeout != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;
    ms = ngx_parse_time(&value[1], 0);

    if (ms == NGX_ERROR || ms < 1) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not possible: want a time like 90s, 5m",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    slcf->how.timeout = ms;

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    if (!ngx_http_symbolicate_option(&value[2], "min_rate=", &rest)
        || (rate = ngx_parse_size(&rest)) == NGX_ERROR)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not possible: want \"min_rate=SIZE\", "
                           "bytes a second, like min_rate=1k", &value[2]);
        return NGX_CONF_ERROR;
    }

    slcf->how.min_rate = rate;

    return NGX_CONF_OK;
}


void
ngx_http_symbolicate_sources_create(ngx_http_symbolicate_loc_conf_t *slcf)
{
    slcf->loader = NGX_CONF_UNSET_PTR;
    slcf->how.sources = NGX_CONF_UNSET_PTR;
    slcf->aws = NGX_CONF_UNSET_PTR;
    slcf->how.ttl.absent = (uint32_t) NGX_CONF_UNSET;
    slcf->how.ttl.malformed = (uint32_t) NGX_CONF_UNSET;
    slcf->how.ttl.failed = (uint32_t) NGX_CONF_UNSET;
    slcf->how.timeout = NGX_CONF_UNSET_MSEC;
    slcf->how.min_rate = NGX_CONF_UNSET_SIZE;
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

    ngx_conf_merge_ptr_value(conf->loader, prev->loader, NULL);
    ngx_conf_merge_ptr_value(conf->how.sources, prev->how.sources, NULL);
    ngx_conf_merge_ptr_value(conf->aws, prev->aws, NULL);
    ngx_conf_merge_msec_value(conf->how.timeout, prev->how.timeout,
                              NGX_SYMBOLICATE_FETCH_TIMEOUT);
    ngx_conf_merge_size_value(conf->how.min_rate, prev->how.min_rate,
                              NGX_SYMBOLICATE_FETCH_RATE);
    ngx_conf_merge_msec_value(conf->budget, prev->budget,
                              NGX_SYMBOLICATE_BUDGET);
    ngx_conf_merge_uint_value(conf->on_failure, prev->on_failure,
                              ngx_http_symbolicate_on_failure_503);

    ngx_http_symbolicate_ttl_merge(&conf->how.ttl.absent,
                                   prev->how.ttl.absent,
                                   NGX_SYMBOLICATE_TTL_ABSENT);
    ngx_http_symbolicate_ttl_merge(&conf->how.ttl.malformed,
                                   prev->how.ttl.malformed,
                                   NGX_SYMBOLICATE_TTL_MALFORMED);
    ngx_http_symbolicate_ttl_merge(&conf->how.ttl.failed,
                                   prev->how.ttl.failed,
                                   NGX_SYMBOLICATE_TTL_FAILED);

    if (conf->dialect == NGX_CONF_UNSET
        || (conf->loader == NULL) == (conf->how.sources == NULL))
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
                  "\"symbolicate_source NAME uri=/LOCATION/\", there or around "
                  "it", &clcf->name);

    return NGX_CONF_ERROR;
}
