
/*
 * ngx_http_symbolicate_source_conf.c - the directive symbolicate_source.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/paths/glob.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_conf.h"


static char *ngx_http_symbolicate_source_option(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value);
static char *ngx_http_symbolicate_source_pattern(ngx_conf_t *cf,
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


/* Looks up a word; 0: unknown. */
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


ngx_http_symbolicate_metric_t *
ngx_http_symbolicate_metrics_source(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_http_symbolicate_metric_t     *source, **p;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    if (name->len == 0 || name->len > SYM_METRICS_NAME_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a valid name: it must have 1 to %d "
                           "bytes", name, SYM_METRICS_NAME_MAX);
        return NULL;
    }

    source = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_metric_t));
    if (source == NULL) {
        return NULL;
    }

    source->name = *name;
    source->main = smcf;

    p = ngx_array_push(&smcf->metrics);
    if (p == NULL) {
        return NULL;
    }

    *p = source;

    return source;
}


/* Sources of the same name, in different locations, have one lane. */
static void
ngx_http_symbolicate_source_lane(ngx_http_symbolicate_metric_t *source)
{
    ngx_uint_t                         i;
    ngx_http_symbolicate_metric_t    **p;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = source->main;
    p = smcf->metrics.elts;

    for (i = 0; p[i] != source; i++) {
        if (p[i]->name.len == source->name.len
            && ngx_strncmp(p[i]->name.data, source->name.data,
                           source->name.len)
               == 0)
        {
            source->lane = p[i]->lane;
            return;
        }
    }

    source->lane = smcf->nlanes++;
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

    if (slcf->policy.sources == NGX_CONF_UNSET_PTR) {
        slcf->policy.sources = ngx_array_create(cf->pool, 2,
                                       sizeof(ngx_http_symbolicate_source_t));
        if (slcf->policy.sources == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    sources = slcf->policy.sources->elts;

    for (i = 0; i < slcf->policy.sources->nelts; i++) {
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

    if (ngx_strcmp(value[1].data, "local") == 0
        || ngx_strcmp(value[1].data, SYM_SCOPE_ALL) == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a name for a source: it means %s",
                           &value[1], value[1].data[0] == 'l'
                           ? "what was loaded by hand" : "all sources");
        return NGX_CONF_ERROR;
    }

    if (ngx_strcmp(value[1].data, NGX_SYMBOLICATE_SHARE_NAME) == 0
        || ngx_strcmp(value[1].data, NGX_SYMBOLICATE_PEERS_NAME) == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a name for a source: it is that of "
                           "a counter of symbolicate_share", &value[1]);
        return NGX_CONF_ERROR;
    }

    if (ngx_strncmp(value[1].data, SYM_REQUEST_SOURCE_PREFIX,
                    SYM_REQUEST_SOURCE_PREFIX_LEN)
        == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a name for a source: those of "
                           "requests have such names", &value[1]);
        return NGX_CONF_ERROR;
    }

    if (value[1].len == 0 || value[1].len > SYM_SCOPE_MAX
        || p != value[1].data + value[1].len)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a name for a source: 1 to 64 "
                           "visible characters without \"=\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    source = ngx_array_push(slcf->policy.sources);
    if (source == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(source, sizeof(ngx_http_symbolicate_source_t));

    source->name = value[1];
    source->conf_file = cf->conf_file->file.name;
    source->conf_line = cf->conf_file->line;
    source->metric = ngx_http_symbolicate_metrics_source(cf, &source->name);

    if (source->metric == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_http_symbolicate_source_lane(source->metric);

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

    if (source->has_index && source->rules.layout != SYM_LAYOUT_SYMSTORE) {
        return "takes \"index\" with layout=symstore only";
    }

    if (source->rules.files == 0) {
        source->rules.files = ~0U;
    }

    source->rules.files &= sym_layout_files(source->rules.layout);

    if (source->rules.files == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the layout of source \"%V\" has no paths for "
                           "files of these kinds", &source->name);
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
                               "native, debuginfod, symstore, "
                               "symstore_index2, ssqp, unified, "
                               "slashsymbols, site", &rest);
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

    if (ngx_http_symbolicate_option(value, "path=", &rest)) {
        return ngx_http_symbolicate_source_pattern(cf, source, &rest);
    }

    if (ngx_strcmp(value->data, "checksum") == 0) {
        source->rules.requires_checksum = 1;
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(value->data, "index") == 0) {
        source->has_index = 1;
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(value->data, "public") == 0) {
        source->is_public = 1;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is unknown to a source: it takes uri=, "
                       "layout=, kinds=, ids=as-is or ids=upper, "
                       "casing=default, lowercase or uppercase, absent=, "
                       "redirect=, path=, checksum, index, public",
                       value);

    return NGX_CONF_ERROR;
}


/* "*electron*"; each option adds one */
static char *
ngx_http_symbolicate_source_pattern(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *value)
{
    sym_str_t  *patterns;

    if (!sym_glob_is_pattern(sym_str((char *) value->data, value->len))) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"path=%V\" is not a pattern: use one like "
                           "path=*electron* or path=c:/windows/**, of at "
                           "most %d bytes", value, SYM_GLOB_MAX);
        return NGX_CONF_ERROR;
    }

    patterns = ngx_palloc(cf->pool,
                          (source->rules.n_patterns + 1) * sizeof(sym_str_t));
    if (patterns == NULL) {
        return NGX_CONF_ERROR;
    }

    if (source->rules.n_patterns) {
        ngx_memcpy(patterns, source->rules.patterns,
                   source->rules.n_patterns * sizeof(sym_str_t));
    }

    patterns[source->rules.n_patterns++] = sym_str((char *) value->data,
                                                   value->len);
    source->rules.patterns = patterns;

    return NGX_CONF_OK;
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
                               "\"kinds=%V\" is not possible: use some of "
                               "elf, macho, pdb, pe, portablepdb, wasm, "
                               "breakpad, sourcebundle, uuidmap, "
                               "bcsymbolmap, il2cpp, proguard, script, "
                               "sourcemap and source, like pdb,breakpad; no "
                               "other kind of file is read",
                               value);
            return NGX_CONF_ERROR;
        }

        source->rules.files |= files;

        if (comma == end) {
            return NGX_CONF_OK;
        }

        p = comma + 1;
    }
}


/*
 * "bucket.example.com/_bucket/": its files are requested in location /_bucket/
 */
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
                           "\"redirect=%V\" is not possible: use a host and "
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
                               "\"absent=%V\" is not possible: use at most "
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
