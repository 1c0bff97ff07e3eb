
/*
 * ngx_http_symbolicate_given_conf.c - the directive
 * symbolicate_request_sources.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_given_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_conf.h"


static ngx_int_t ngx_http_symbolicate_given_text(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given);
static char *ngx_http_symbolicate_given_option(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value);
static char *ngx_http_symbolicate_given_roots(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value);
static char *ngx_http_symbolicate_given_allow(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value);
static char *ngx_http_symbolicate_given_url(ngx_conf_t *cf, ngx_str_t *value,
    sym_url_t *url);
static char *ngx_http_symbolicate_given_block(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value);
static ngx_int_t ngx_http_symbolicate_given_metrics(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given);


/* What a location says of sources in requests; `off` is a list of no types. */
char *
ngx_http_symbolicate_set_given(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                               *rv;
    ngx_str_t                          *value;
    ngx_uint_t                          i;
    ngx_http_symbolicate_given_conf_t  *given;

    static ngx_str_t  storage = ngx_string("https://storage.googleapis.com/");
    static ngx_str_t  token =
                     ngx_string("https://www.googleapis.com/oauth2/v4/token");

    if (slcf->policy.given_conf != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        slcf->policy.given_conf = NULL;
        return NGX_CONF_OK;
    }

    given = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_given_conf_t));
    if (given == NULL) {
        return NGX_CONF_ERROR;
    }

    given->audience = token;

    if (ngx_http_symbolicate_given_url(cf, &storage, &given->storage)
            != NGX_CONF_OK
        || ngx_http_symbolicate_given_url(cf, &token, &given->token)
           != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* as Symbolicator's */
    given->deny.failures = 60;
    given->deny.window_ms = 60 * 1000;
    given->deny.block_ms = 3600 * 1000;

    for (i = 1; i < cf->args->nelts; i++) {
        rv = ngx_http_symbolicate_given_option(cf, given, &value[i]);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (given->types == 0) {
        return "needs types of sources: http, s3, gcs, sentry, "
               "filesystem=/ROOT; or \"off\"";
    }

    if ((given->types & ~(1 << SYM_GIVEN_FILESYSTEM)) && given->uri.len == 0) {
        return "needs \"uri=/LOCATION/\", an internal location that passes "
               "requests to $symbolicate_given_url";
    }

    if (ngx_http_symbolicate_given_text(cf, given) != NGX_OK
        || ngx_http_symbolicate_given_metrics(cf, given) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    slcf->policy.given_conf = given;

    return NGX_CONF_OK;
}


/* All arguments, for scopes: a location sees what it may fetch itself. */
static ngx_int_t
ngx_http_symbolicate_given_text(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given)
{
    u_char      *p;
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        given->text.len += value[i].len + 1;
    }

    given->text.data = ngx_pnalloc(cf->pool, given->text.len);
    if (given->text.data == NULL) {
        return NGX_ERROR;
    }

    p = given->text.data;

    for (i = 1; i < cf->args->nelts; i++) {
        p = ngx_cpymem(p, value[i].data, value[i].len);
        *p++ = '\0';
    }

    return NGX_OK;
}


static char *
ngx_http_symbolicate_given_option(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value)
{
    ngx_str_t         rest, *uri;
    sym_given_type_t  type;

    if (ngx_http_symbolicate_option(value, "filesystem=", &rest)) {
        given->types |= 1 << SYM_GIVEN_FILESYSTEM;
        return ngx_http_symbolicate_given_roots(cf, given, &rest);
    }

    if (sym_given_type_find(sym_str((char *) value->data, value->len), &type)
        && type != SYM_GIVEN_FILESYSTEM)
    {
        given->types |= 1 << type;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_option(value, "allow=", &rest)) {
        return ngx_http_symbolicate_given_allow(cf, given, &rest);
    }

    if (ngx_http_symbolicate_option(value, "storage=", &rest)) {
        return ngx_http_symbolicate_given_url(cf, &rest, &given->storage);
    }

    if (ngx_http_symbolicate_option(value, "block=", &rest)) {
        return ngx_http_symbolicate_given_block(cf, given, &rest);
    }

    if (ngx_http_symbolicate_option(value, "token=", &rest)) {
        given->audience = rest;
        return ngx_http_symbolicate_given_url(cf, &rest, &given->token);
    }

    uri = NULL;

    if (ngx_http_symbolicate_option(value, "uri=", &rest)) {
        uri = &given->uri;

    } else if (ngx_http_symbolicate_option(value, "unverified=", &rest)) {
        uri = &given->unverified;
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


/* "/srv/symbols,/mnt/symbols" */
static char *
ngx_http_symbolicate_given_roots(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value)
{
    u_char     *p, *end, *comma, *last;
    ngx_str_t  *root;

    if (given->roots == NULL) {
        given->roots = ngx_array_create(cf->pool, 2, sizeof(ngx_str_t));
        if (given->roots == NULL) {
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
                               "\"filesystem=%V\" is not possible: want "
                               "absolute paths of folders, like "
                               "filesystem=/srv/symbols", value);
            return NGX_CONF_ERROR;
        }

        root = ngx_array_push(given->roots);
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
ngx_http_symbolicate_given_allow(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value)
{
    ngx_cidr_t  *cidr;

    if (given->allow == NULL) {
        given->allow = ngx_array_create(cf->pool, 2, sizeof(ngx_cidr_t));
        if (given->allow == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    cidr = ngx_array_push(given->allow);
    if (cidr == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_ptocidr(value, cidr) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"allow=%V\" is not possible: want an address or "
                           "a network, like allow=10.1.0.0/16 or "
                           "allow=fd00::/8", value);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* "60/1m/1h": so many failures within a time block a host for a time; "off" */
static char *
ngx_http_symbolicate_given_block(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given, ngx_str_t *value)
{
    u_char     *slash[2], *end;
    ngx_int_t   n, window, time;
    ngx_str_t   part;

    if (ngx_strcmp(value->data, "off") == 0) {
        given->deny.failures = 0;
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
            given->deny.failures = n;
            given->deny.window_ms = window;
            given->deny.block_ms = time;
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"block=%V\" is not possible: want FAILURES/WINDOW/"
                       "TIME, like block=60/1m/1h, or block=off", value);

    return NGX_CONF_ERROR;
}


static char *
ngx_http_symbolicate_given_url(ngx_conf_t *cf, ngx_str_t *value,
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
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\" is no URL: %s", value,
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


/* Counters by type, however many sources requests have; and a few lanes. */
static ngx_int_t
ngx_http_symbolicate_given_metrics(ngx_conf_t *cf,
    ngx_http_symbolicate_given_conf_t *given)
{
    u_char                            *p;
    ngx_str_t                          name;
    sym_str_t                          word;
    ngx_uint_t                         i;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    for (i = 0; i < SYM_GIVEN_TYPES; i++) {

        if (!(given->types & (1 << i))) {
            continue;
        }

        word = sym_given_type_word(i);
        name.len = sizeof("request:") - 1 + word.len;

        name.data = ngx_pnalloc(cf->pool, name.len);
        if (name.data == NULL) {
            return NGX_ERROR;
        }

        p = ngx_cpymem(name.data, "request:", sizeof("request:") - 1);
        ngx_memcpy(p, word.data, word.len);

        given->metrics[i] = ngx_http_symbolicate_metrics_source(cf, &name);
        if (given->metrics[i] == NULL) {
            return NGX_ERROR;
        }
    }

    if (smcf->given_lanes == 0) {
        smcf->given_lanes = smcf->nlanes;
        smcf->nlanes += NGX_SYMBOLICATE_GIVEN_LANES;
    }

    return NGX_OK;
}


char *
ngx_http_symbolicate_given_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t           *clcf;
    ngx_http_symbolicate_given_conf_t  *given;

    ngx_conf_merge_ptr_value(conf->policy.given_conf, prev->policy.given_conf,
                             NULL);

    given = conf->policy.given_conf;

    if (given == NULL || conf->api == NULL) {
        return NGX_CONF_OK;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if ((given->types & ~(1 << SYM_GIVEN_FILESYSTEM))
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
