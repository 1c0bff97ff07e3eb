
/*
 * ngx_http_symbolicate_fetch_conf.c - directives of fetching.
 */


#include "conf/ngx_http_symbolicate_module.h"


#define NGX_SYMBOLICATE_BUDGET         30000

#define NGX_SYMBOLICATE_FETCH_TIMEOUT  300000
#define NGX_SYMBOLICATE_FETCH_RATE     1024

#define NGX_SYMBOLICATE_TTL_ABSENT     60
#define NGX_SYMBOLICATE_TTL_PUBLIC     3600
#define NGX_SYMBOLICATE_TTL_MALFORMED  86400
#define NGX_SYMBOLICATE_TTL_FAILED     10

/* ten years: a word for "for good", and sums with the time fit 32 bits */
#define NGX_SYMBOLICATE_TTL_MAX        315360000


/* A location that names a source: on one store a name is one source. */
typedef struct {
    ngx_http_symbolicate_store_t   *store;
    ngx_http_symbolicate_source_t  *source;
    sym_rpc_ttl_t                  ttl;        /* absent: of this source */
    void                           *server;     /* where its location is */
    ngx_str_t                       location;
} ngx_http_symbolicate_use_t;


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

    if (ngx_strcmp(value[1].data, "local") == 0
        || ngx_strcmp(value[1].data, SYM_SCOPE_ALL) == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is no name for a source: it means %s",
                           &value[1], value[1].data[0] == 'l'
                           ? "what was loaded by hand" : "all sources");
        return NGX_CONF_ERROR;
    }

    if (value[1].len == 0 || value[1].len > SYM_SCOPE_MAX
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
    source->conf_file = cf->conf_file->file.name;
    source->conf_line = cf->conf_file->line;
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

    if (ngx_strcmp(value->data, "public") == 0) {
        source->is_public = 1;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is nothing a source takes: it takes uri=, "
                       "layout=, kinds=, ids=as-is or ids=upper, "
                       "casing=default, lowercase or uppercase, absent=, "
                       "redirect=, public",
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

        } else if (ngx_http_symbolicate_option(&value[i], "public=", &rest)) {
            ttl = &slcf->how.ttl_public;

        } else if (ngx_http_symbolicate_option(&value[i], "malformed=",
                                               &rest))
        {
            ttl = &slcf->how.ttl.malformed;

        } else if (ngx_http_symbolicate_option(&value[i], "failed=", &rest)) {
            ttl = &slcf->how.ttl.failed;

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is no outcome: it takes absent=, "
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
    slcf->how.ttl_public = (uint32_t) NGX_CONF_UNSET;
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


ngx_int_t
ngx_http_symbolicate_sources_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    sym_scopes_t  *local;

    if (ngx_array_init(&smcf->scopes, cf->pool, 4, sizeof(sym_scopes_t))
            != NGX_OK
        || ngx_array_init(&smcf->uses, cf->pool, 4,
                          sizeof(ngx_http_symbolicate_use_t))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    local = ngx_array_push(&smcf->scopes);
    if (local == NULL) {
        return NGX_ERROR;
    }

    *local = sym_scopes_local;

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_scopes_same(sym_scopes_t *a, sym_scopes_t *b)
{
    ngx_uint_t  i;

    if (a->n != b->n) {
        return 0;
    }

    for (i = 0; i < a->n; i++) {
        if (!sym_str_eq(a->names[i], b->names[i])) {
            return 0;
        }
    }

    return 1;
}


/* What was loaded by hand, then the sources in their order; each distinct list
 * has a number. */
static ngx_int_t
ngx_http_symbolicate_scopes_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_uint_t                         i, n;
    sym_str_t                         *names;
    sym_scopes_t                      *known, *added;
    ngx_http_symbolicate_source_t     *sources;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    n = conf->how.sources ? conf->how.sources->nelts : 0;
    sources = conf->how.sources ? conf->how.sources->elts : NULL;

    names = ngx_palloc(cf->pool, (n + 1) * sizeof(sym_str_t));
    if (names == NULL) {
        return NGX_ERROR;
    }

    names[0] = SYM_STR(SYM_SCOPE_LOCAL);

    for (i = 0; i < n; i++) {
        names[i + 1] = sym_str((char *) sources[i].name.data,
                               sources[i].name.len);
    }

    conf->scopes.names = names;
    conf->scopes.n = n + 1;

    known = smcf->scopes.elts;

    for (i = 0; i < smcf->scopes.nelts; i++) {
        if (ngx_http_symbolicate_scopes_same(&known[i], &conf->scopes)) {
            conf->scopes = known[i];
            return NGX_OK;
        }
    }

    conf->scopes.number = smcf->scopes.nelts;

    added = ngx_array_push(&smcf->scopes);
    if (added == NULL) {
        return NGX_ERROR;
    }

    *added = conf->scopes;

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_redirects_same(ngx_array_t *a, ngx_array_t *b)
{
    ngx_uint_t                        i;
    ngx_http_symbolicate_redirect_t  *x, *y;

    if (a == NULL || b == NULL || a->nelts != b->nelts) {
        return a == b;
    }

    x = a->elts;
    y = b->elts;

    for (i = 0; i < a->nelts; i++) {
        if (x[i].host.len != y[i].host.len || x[i].uri.len != y[i].uri.len
            || ngx_memcmp(x[i].host.data, y[i].host.data, x[i].host.len) != 0
            || ngx_memcmp(x[i].uri.data, y[i].uri.data, x[i].uri.len) != 0)
        {
            return 0;
        }
    }

    return 1;
}


/* In what two sources of one name differ; NULL: they are the same. */
static const char *
ngx_http_symbolicate_use_differs(ngx_http_symbolicate_use_t *a,
    ngx_http_symbolicate_use_t *b)
{
    ngx_http_symbolicate_source_t  *x, *y;

    x = a->source;
    y = b->source;

    if (x->uri.len != y->uri.len
        || ngx_strncmp(x->uri.data, y->uri.data, x->uri.len) != 0)
    {
        return "uri=";
    }

    if (a->server != b->server) {
        return "the server that uri= is a location of";
    }

    if (x->rules.layout != y->rules.layout) {
        return "layout=";
    }

    if (x->rules.files != y->rules.files) {
        return "kinds=";
    }

    if (x->rules.ids != y->rules.ids) {
        return "ids=";
    }

    if (x->rules.casing != y->rules.casing) {
        return "casing=";
    }

    if (x->nabsent != y->nabsent
        || ngx_memcmp(x->absent, y->absent, x->nabsent * sizeof(ngx_uint_t))
           != 0)
    {
        return "absent=";
    }

    if (!ngx_http_symbolicate_redirects_same(x->redirects, y->redirects)) {
        return "redirect=";
    }

    if (x->is_public != y->is_public) {
        return "public";
    }

    if (a->ttl.absent != b->ttl.absent || a->ttl.malformed != b->ttl.malformed
        || a->ttl.failed != b->ttl.failed)
    {
        return "symbolicate_negative_ttl";
    }

    return NULL;
}


static ngx_int_t
ngx_http_symbolicate_use_add(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf, ngx_http_symbolicate_use_t *use)
{
    ngx_uint_t                      i;
    const char                     *what;
    ngx_http_symbolicate_use_t     *uses, *added;
    ngx_http_symbolicate_source_t  *source, *other;

    uses = smcf->uses.elts;
    source = use->source;

    for (i = 0; i < smcf->uses.nelts; i++) {
        other = uses[i].source;

        if (uses[i].store != use->store || other->name.len != source->name.len
            || ngx_strncmp(other->name.data, source->name.data,
                           source->name.len)
               != 0)
        {
            continue;
        }

        what = ngx_http_symbolicate_use_differs(&uses[i], use);

        if (what == NULL) {
            return NGX_OK;
        }

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "source \"%V\" of location \"%V\" (%V:%ui) is not that "
                      "of location \"%V\" (%V:%ui): they differ in %s; on one "
                      "store a name stands for one source",
                      &source->name, &use->location, &source->conf_file,
                      source->conf_line, &uses[i].location, &other->conf_file,
                      other->conf_line, what);
        return NGX_ERROR;
    }

    added = ngx_array_push(&smcf->uses);
    if (added == NULL) {
        return NGX_ERROR;
    }

    *added = *use;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_uses_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_uint_t                         i;
    ngx_http_core_loc_conf_t          *clcf;
    ngx_http_symbolicate_use_t         use;
    ngx_http_symbolicate_source_t     *sources;
    ngx_http_symbolicate_main_conf_t  *smcf;

    if (conf->dialect == NGX_CONF_UNSET || conf->store == NULL
        || conf->how.sources == NULL)
    {
        return NGX_OK;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    use.store = conf->store;
    use.server = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    use.location = clcf->name;

    sources = conf->how.sources->elts;

    for (i = 0; i < conf->how.sources->nelts; i++) {
        use.source = &sources[i];
        use.ttl = conf->how.ttl;

        if (sources[i].is_public) {
            use.ttl.absent = conf->how.ttl_public;
        }

        if (ngx_http_symbolicate_use_add(cf, smcf, &use) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
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
    ngx_http_symbolicate_ttl_merge(&conf->how.ttl_public,
                                   prev->how.ttl_public,
                                   NGX_SYMBOLICATE_TTL_PUBLIC);
    ngx_http_symbolicate_ttl_merge(&conf->how.ttl.malformed,
                                   prev->how.ttl.malformed,
                                   NGX_SYMBOLICATE_TTL_MALFORMED);
    ngx_http_symbolicate_ttl_merge(&conf->how.ttl.failed,
                                   prev->how.ttl.failed,
                                   NGX_SYMBOLICATE_TTL_FAILED);

    if (ngx_http_symbolicate_scopes_merge(cf, conf) != NGX_OK
        || ngx_http_symbolicate_uses_merge(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

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
