
/*
 * ngx_http_symbolicate_request_sources_conf.c - the directive
 * symbolicate_request_sources.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_request_sources_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_conf.h"


static ngx_int_t ngx_http_symbolicate_request_source_text(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed);
static char *ngx_http_symbolicate_request_source_option(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value);
static char *ngx_http_symbolicate_request_source_roots(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value);
static char *ngx_http_symbolicate_request_source_allow(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value);
static char *ngx_http_symbolicate_request_source_url(ngx_conf_t *cf,
    ngx_str_t *value,
    sym_url_t *url);
static char *ngx_http_symbolicate_request_source_block(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value);
static ngx_int_t ngx_http_symbolicate_request_source_metrics(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed);


/*
 * Settings of request sources for a location; `off` is an empty list of types.
 */
char *
ngx_http_symbolicate_set_request_sources(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                               *rv;
    ngx_str_t                          *value;
    ngx_uint_t                          i;
    ngx_http_symbolicate_request_sources_conf_t  *allowed;

    static ngx_str_t  storage = ngx_string("https://storage.googleapis.com/");
    static ngx_str_t  token =
                     ngx_string("https://www.googleapis.com/oauth2/v4/token");

    if (slcf->policy.request_sources_conf != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        slcf->policy.request_sources_conf = NULL;
        return NGX_CONF_OK;
    }

    allowed = ngx_pcalloc(cf->pool,
                          sizeof(ngx_http_symbolicate_request_sources_conf_t));
    if (allowed == NULL) {
        return NGX_CONF_ERROR;
    }

    allowed->audience = token;

    if (ngx_http_symbolicate_request_source_url(cf, &storage, &allowed->storage)
            != NGX_CONF_OK
        || ngx_http_symbolicate_request_source_url(cf, &token, &allowed->token)
           != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* same as in Symbolicator */
    allowed->deny.failures = 60;
    allowed->deny.window_ms = 60 * 1000;
    allowed->deny.block_ms = 3600 * 1000;

    for (i = 1; i < cf->args->nelts; i++) {
        rv = ngx_http_symbolicate_request_source_option(cf, allowed, &value[i]);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (allowed->types == 0) {
        return "needs types of sources: http, s3, gcs, sentry, "
               "filesystem=/ROOT; or \"off\"";
    }

    if ((allowed->types & ~(1 << SYM_REQUEST_SOURCE_FILESYSTEM))
        && allowed->uri.len == 0)
    {
        return "needs \"uri=/LOCATION/\", an internal location that passes "
               "requests to $symbolicate_given_url";
    }

    if (ngx_http_symbolicate_request_source_text(cf, allowed) != NGX_OK
        || ngx_http_symbolicate_request_source_metrics(cf, allowed) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    slcf->policy.request_sources_conf = allowed;

    return NGX_CONF_OK;
}


/*
 * Joins all arguments; they become part of scopes, so a location sees only
 * files that it could have fetched itself.
 */
static ngx_int_t
ngx_http_symbolicate_request_source_text(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed)
{
    u_char      *p;
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        allowed->text.len += value[i].len + 1;
    }

    allowed->text.data = ngx_pnalloc(cf->pool, allowed->text.len);
    if (allowed->text.data == NULL) {
        return NGX_ERROR;
    }

    p = allowed->text.data;

    for (i = 1; i < cf->args->nelts; i++) {
        p = ngx_cpymem(p, value[i].data, value[i].len);
        *p++ = '\0';
    }

    return NGX_OK;
}


static char *
ngx_http_symbolicate_request_source_option(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value)
{
    ngx_str_t         rest, *uri;
    sym_request_source_type_t  type;

    if (ngx_http_symbolicate_option(value, "filesystem=", &rest)) {
        allowed->types |= 1 << SYM_REQUEST_SOURCE_FILESYSTEM;
        return ngx_http_symbolicate_request_source_roots(cf, allowed, &rest);
    }

    if (sym_request_source_type_find(sym_str((char *) value->data, value->len),
                                     &type)
        && type != SYM_REQUEST_SOURCE_FILESYSTEM)
    {
        allowed->types |= 1 << type;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "allow=", &rest)) {
        return ngx_http_symbolicate_request_source_allow(cf, allowed, &rest);
    }

    if (ngx_http_symbolicate_option(value, "storage=", &rest)) {
        return ngx_http_symbolicate_request_source_url(cf, &rest,
                                                       &allowed->storage);
    }

    if (ngx_http_symbolicate_option(value, "block=", &rest)) {
        return ngx_http_symbolicate_request_source_block(cf, allowed, &rest);
    }

    if (ngx_http_symbolicate_option(value, "token=", &rest)) {
        allowed->audience = rest;
        return ngx_http_symbolicate_request_source_url(cf, &rest,
                                                       &allowed->token);
    }

    uri = NULL;

    if (ngx_http_symbolicate_option(value, "uri=", &rest)) {
        uri = &allowed->uri;

    } else if (ngx_http_symbolicate_option(value, "unverified=", &rest)) {
        uri = &allowed->unverified;
    }

    if (uri) {

        if (rest.len == 0 || rest.data[0] != '/'
            || rest.data[rest.len - 1] != '/')
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" must begin and end with a slash",
                               value);
            return NGX_CONF_ERROR;
        }

        *uri = rest;
        return NGX_CONF_OK;
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is not possible: it takes http, s3, gcs, "
                       "sentry, filesystem=/ROOT, uri=, unverified=, "
                       "allow=CIDR, block=, storage=URL, token=URL", value);

    return NGX_CONF_ERROR;
}


/* Reads a list: "/srv/symbols,/mnt/symbols". */
static char *
ngx_http_symbolicate_request_source_roots(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value)
{
    u_char     *p, *end, *comma, *last;
    ngx_str_t  *root;

    if (allowed->roots == NULL) {
        allowed->roots = ngx_array_create(cf->pool, 2, sizeof(ngx_str_t));
        if (allowed->roots == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    p = value->data;
    end = p + value->len;

    for ( ;; ) {
        comma = ngx_strlchr(p, end, ',');

        if (comma == NULL) {
            comma = end;
        }

        last = comma;

        while (last - p > 1 && last[-1] == '/') {
            last--;
        }

        if (last - p < 2 || *p != '/') {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"filesystem=%V\" is not possible: use "
                               "absolute paths of folders, like "
                               "filesystem=/srv/symbols", value);
            return NGX_CONF_ERROR;
        }

        root = ngx_array_push(allowed->roots);
        if (root == NULL) {
            return NGX_CONF_ERROR;
        }

        root->len = last - p;

        root->data = ngx_pnalloc(cf->pool, root->len + 1);
        if (root->data == NULL) {
            return NGX_CONF_ERROR;
        }

        (void) ngx_cpystrn(root->data, p, root->len + 1);

        if (comma == end) {
            return NGX_CONF_OK;
        }

        p = comma + 1;
    }
}


static char *
ngx_http_symbolicate_request_source_allow(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value)
{
    ngx_cidr_t  *cidr;

    if (allowed->allow == NULL) {
        allowed->allow = ngx_array_create(cf->pool, 2, sizeof(ngx_cidr_t));
        if (allowed->allow == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    cidr = ngx_array_push(allowed->allow);
    if (cidr == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_ptocidr(value, cidr) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"allow=%V\" is not possible: use an address or "
                           "a network, like allow=10.1.0.0/16 or "
                           "allow=fd00::/8", value);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/*
 * Reads "60/1m/1h" (this many failures within a time block a host for a time),
 * or "off".
 */
static char *
ngx_http_symbolicate_request_source_block(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed, ngx_str_t *value)
{
    u_char     *slash[2], *end;
    ngx_int_t   n, window, time;
    ngx_str_t   part;

    if (ngx_strcmp(value->data, "off") == 0) {
        allowed->deny.failures = 0;
        return NGX_CONF_OK;
    }

    end = value->data + value->len;
    slash[0] = ngx_strlchr(value->data, end, '/');
    slash[1] = slash[0] ? ngx_strlchr(slash[0] + 1, end, '/') : NULL;

    if (slash[1]) {
        n = ngx_atoi(value->data, slash[0] - value->data);

        part.data = slash[0] + 1;
        part.len = slash[1] - part.data;
        window = ngx_parse_time(&part, 0);

        part.data = slash[1] + 1;
        part.len = end - part.data;
        time = ngx_parse_time(&part, 0);

        if (n > 0 && n <= 1000000 && window > 0 && time > 0) {
            allowed->deny.failures = n;
            allowed->deny.window_ms = window;
            allowed->deny.block_ms = time;
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"block=%V\" is not possible: use "
                       "FAILURES/WINDOW/TIME, like block=60/1m/1h, or "
                       "block=off", value);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_symbolicate_request_source_url(ngx_conf_t *cf, ngx_str_t *value,
    sym_url_t *url)
{
    u_char       *copy;
    sym_str_t    *parts[] = { &url->userinfo, &url->host, &url->path,
                              &url->query };
    ngx_uint_t    i;
    sym_error_t   err;
    sym_arena_t   arena;

    ngx_memzero(&err, sizeof(sym_error_t));
    sym_arena_init(&arena, 0);

    if (sym_url_read(&arena, sym_str((char *) value->data, value->len), url,
                     &err)
        != SYM_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a URL: %s", value,
                           err.what ? err.what : "no memory");
        sym_arena_drop(&arena);
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        copy = ngx_pnalloc(cf->pool, parts[i]->len + 1);

        if (copy == NULL) {
            sym_arena_drop(&arena);
            return NGX_CONF_ERROR;
        }

        if (parts[i]->len) {
            ngx_memcpy(copy, parts[i]->data, parts[i]->len);
        }

        parts[i]->data = (char *) copy;
    }

    sym_arena_drop(&arena);

    return NGX_CONF_OK;
}


/*
 * Adds counters for each type, however many sources requests have; and a few
 * lanes.
 */
static ngx_int_t
ngx_http_symbolicate_request_source_metrics(ngx_conf_t *cf,
    ngx_http_symbolicate_request_sources_conf_t *allowed)
{
    u_char                            *p;
    ngx_str_t                          name;
    sym_str_t                          word;
    ngx_uint_t                         i;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    for (i = 0; i < SYM_REQUEST_SOURCE_TYPES; i++) {

        if (!(allowed->types & (1 << i))) {
            continue;
        }

        word = sym_request_source_type_word(i);
        name.len = sizeof("request:") - 1 + word.len;

        name.data = ngx_pnalloc(cf->pool, name.len);
        if (name.data == NULL) {
            return NGX_ERROR;
        }

        p = ngx_cpymem(name.data, "request:", sizeof("request:") - 1);
        ngx_memcpy(p, word.data, word.len);

        allowed->metrics[i] = ngx_http_symbolicate_metrics_source(cf, &name);
        if (allowed->metrics[i] == NULL) {
            return NGX_ERROR;
        }
    }

    if (smcf->request_source_lanes == NGX_CONF_UNSET_UINT) {
        smcf->request_source_lanes = smcf->nlanes;
        smcf->nlanes += NGX_SYMBOLICATE_REQUEST_SOURCE_LANES;
    }

    return NGX_OK;
}


char *
ngx_http_symbolicate_request_source_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t           *clcf;
    ngx_http_symbolicate_request_sources_conf_t  *allowed;

    ngx_conf_merge_ptr_value(conf->policy.request_sources_conf,
                             prev->policy.request_sources_conf,
                             NULL);

    allowed = conf->policy.request_sources_conf;

    if (allowed == NULL || conf->api == NULL) {
        return NGX_CONF_OK;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if ((allowed->types & ~(1 << SYM_REQUEST_SOURCE_FILESYSTEM))
        && (clcf->resolver == NULL || clcf->resolver->connections.nelts == 0))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate_request_sources\" in location \"%V\" "
                      "needs nginx's \"resolver\", there or around it",
                      &clcf->name);
        return NGX_CONF_ERROR;
    }

    if (conf->policy.sources == NULL) {
        conf->policy.sources = ngx_array_create(cf->pool, 1,
                                       sizeof(ngx_http_symbolicate_source_t));
        if (conf->policy.sources == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}
