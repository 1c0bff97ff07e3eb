
/*
 * ngx_http_symbolicate_aws_conf.c - the directive symbolicate_aws_sigv4.
 *
 * Messages do not repeat values, because a value may be a secret in the wrong
 * place.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "aws/ngx_http_symbolicate_aws_conf.h"
#include "aws/ngx_http_symbolicate_aws_keys.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_source.h"


/* The parameters that each kind of credentials allows. */
#define NGX_SYMBOLICATE_AWS_STATIC    0x01
#define NGX_SYMBOLICATE_AWS_FILE      0x02
#define NGX_SYMBOLICATE_AWS_ENDPOINT  0x04


typedef struct {
    ngx_str_t                      region;
    ngx_str_t                      credentials;
    ngx_str_t                      access_key;
    ngx_str_t                      secret_key;
    ngx_str_t                      token;
    ngx_str_t                      file;
    ngx_str_t                      profile;
    ngx_str_t                      via;
} ngx_http_symbolicate_aws_args_t;


typedef struct {
    const char                    *name;        /* name with its "=" */
    ngx_uint_t                     kinds;       /* 0: all */
    size_t                         offset;
} ngx_http_symbolicate_aws_param_t;


static ngx_http_symbolicate_aws_param_t  ngx_http_symbolicate_aws_params[] = {
    { "region=", 0, offsetof(ngx_http_symbolicate_aws_args_t, region) },
    { "credentials=", 0,
      offsetof(ngx_http_symbolicate_aws_args_t, credentials) },
    { "access_key=", NGX_SYMBOLICATE_AWS_STATIC,
      offsetof(ngx_http_symbolicate_aws_args_t, access_key) },
    { "secret_key=", NGX_SYMBOLICATE_AWS_STATIC,
      offsetof(ngx_http_symbolicate_aws_args_t, secret_key) },
    { "token=", NGX_SYMBOLICATE_AWS_STATIC,
      offsetof(ngx_http_symbolicate_aws_args_t, token) },
    { "file=", NGX_SYMBOLICATE_AWS_FILE,
      offsetof(ngx_http_symbolicate_aws_args_t, file) },
    { "profile=", NGX_SYMBOLICATE_AWS_FILE,
      offsetof(ngx_http_symbolicate_aws_args_t, profile) },
    { "via=", NGX_SYMBOLICATE_AWS_ENDPOINT,
      offsetof(ngx_http_symbolicate_aws_args_t, via) },
    { NULL, 0, 0 }
};


typedef struct {
    ngx_str_t                      name;
    ngx_uint_t                     kind;
    ngx_http_symbolicate_keys_e    from;
} ngx_http_symbolicate_aws_kind_t;


static ngx_http_symbolicate_aws_kind_t  ngx_http_symbolicate_aws_kinds[] = {
    { ngx_string("static"), NGX_SYMBOLICATE_AWS_STATIC,
      ngx_http_symbolicate_keys_static },
    { ngx_string("env"), 0x08, ngx_http_symbolicate_keys_env },
    { ngx_string("file"), NGX_SYMBOLICATE_AWS_FILE,
      ngx_http_symbolicate_keys_file },
    { ngx_string("container"), NGX_SYMBOLICATE_AWS_ENDPOINT,
      ngx_http_symbolicate_keys_container },
    { ngx_string("instance"), NGX_SYMBOLICATE_AWS_ENDPOINT,
      ngx_http_symbolicate_keys_instance },
    { ngx_null_string, 0, ngx_http_symbolicate_keys_static }
};


static char *ngx_http_symbolicate_aws_arg(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args, ngx_str_t *value);
static ngx_http_symbolicate_aws_kind_t *ngx_http_symbolicate_aws_kind(
    ngx_conf_t *cf, ngx_http_symbolicate_aws_args_t *args);
static char *ngx_http_symbolicate_aws_check(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args,
    ngx_http_symbolicate_aws_kind_t *kind);
static ngx_http_symbolicate_keys_t *ngx_http_symbolicate_aws_keys(
    ngx_conf_t *cf, ngx_http_symbolicate_aws_args_t *args,
    ngx_http_symbolicate_aws_kind_t *kind);
static ngx_http_symbolicate_keys_t *ngx_http_symbolicate_aws_shared(
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_keys_conf_t *source);
static void ngx_http_symbolicate_aws_wipe(void *data);


char *
ngx_http_symbolicate_set_aws(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_str_t                        *value;
    ngx_uint_t                        i;
    ngx_http_symbolicate_aws_args_t   args;
    ngx_http_symbolicate_aws_kind_t  *kind;

    if (slcf->aws != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    ngx_memzero(&args, sizeof(ngx_http_symbolicate_aws_args_t));

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_http_symbolicate_aws_arg(cf, &args, &value[i]) != NGX_CONF_OK) {
            return NGX_CONF_ERROR;
        }
    }

    kind = ngx_http_symbolicate_aws_kind(cf, &args);

    if (kind == NULL
        || ngx_http_symbolicate_aws_check(cf, &args, kind) != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    slcf->aws = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_sigv4_t));
    if (slcf->aws == NULL) {
        return NGX_CONF_ERROR;
    }

    slcf->aws->key = ngx_pcalloc(cf->pool, sizeof(sym_sigv4_key_t));
    if (slcf->aws->key == NULL) {
        return NGX_CONF_ERROR;
    }

    slcf->aws->region = args.region;
    slcf->aws->keys = ngx_http_symbolicate_aws_keys(cf, &args, kind);

    return slcf->aws->keys ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static char *
ngx_http_symbolicate_aws_arg(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args, ngx_str_t *value)
{
    u_char                            *p;
    ngx_str_t                          rest, *arg;
    ngx_http_symbolicate_aws_param_t  *param;

    for (param = ngx_http_symbolicate_aws_params; param->name; param++) {

        if (!ngx_http_symbolicate_option(value, param->name, &rest)) {
            continue;
        }

        arg = (ngx_str_t *) ((u_char *) args + param->offset);

        if (rest.len == 0 || arg->len) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%s\" in \"symbolicate_aws_sigv4\" %s",
                               param->name,
                               arg->len ? "is duplicate" : "needs a value");
            return NGX_CONF_ERROR;
        }

        *arg = rest;

        return NGX_CONF_OK;
    }

    /* a word without a name may be a secret */

    p = ngx_strlchr(value->data, value->data + value->len, '=');

    rest.data = value->data;
    rest.len = p ? p - value->data + 1 : 0;

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is unknown to \"symbolicate_aws_sigv4\": it "
                       "takes region=, credentials=, access_key=, "
                       "secret_key=, token=, file=, profile=, via=", &rest);

    return NGX_CONF_ERROR;
}


static ngx_http_symbolicate_aws_kind_t *
ngx_http_symbolicate_aws_kind(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args)
{
    ngx_http_symbolicate_aws_kind_t  *kind;

    for (kind = ngx_http_symbolicate_aws_kinds; kind->name.len; kind++) {
        if (kind->name.len == args->credentials.len
            && ngx_strncmp(kind->name.data, args->credentials.data,
                           kind->name.len)
               == 0)
        {
            return kind;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"symbolicate_aws_sigv4\" needs \"credentials=\" "
                       "static, env, file, container or instance");

    return NULL;
}


static char *
ngx_http_symbolicate_aws_check(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args,
    ngx_http_symbolicate_aws_kind_t *kind)
{
    ngx_str_t                         *arg;
    sym_error_t                        err;
    sym_sigv4_key_t                    key;
    ngx_http_symbolicate_aws_param_t  *param;

    for (param = ngx_http_symbolicate_aws_params; param->name; param++) {
        arg = (ngx_str_t *) ((u_char *) args + param->offset);

        if (arg->len && param->kinds && !(param->kinds & kind->kind)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%s\" does not go with \"credentials=%V\"",
                               param->name, &kind->name);
            return NGX_CONF_ERROR;
        }
    }

    ngx_memzero(&err, sizeof(sym_error_t));
    ngx_memzero(&key, sizeof(sym_sigv4_key_t));

    if (sym_sigv4_key(&key, SYM_STR("secret"),
                      sym_str((char *) args->region.data, args->region.len),
                      ngx_time(), NULL, &err)
        != SYM_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"symbolicate_aws_sigv4\" needs \"region=\" with "
                           "the bucket's region, like eu-central-1");
        return NGX_CONF_ERROR;
    }

    if (kind->kind == NGX_SYMBOLICATE_AWS_STATIC
        && (args->access_key.len == 0 || args->secret_key.len == 0))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"credentials=static\" needs \"access_key=\" and "
                           "\"secret_key=\"");
        return NGX_CONF_ERROR;
    }

    if (kind->kind == NGX_SYMBOLICATE_AWS_FILE && args->file.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"credentials=file\" needs \"file=PATH\"");
        return NGX_CONF_ERROR;
    }

    if (kind->kind == NGX_SYMBOLICATE_AWS_ENDPOINT
        && (args->via.len == 0 || args->via.data[0] != '/'
            || args->via.data[args->via.len - 1] != '/'))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"credentials=%V\" needs \"via=/LOCATION/\", an "
                           "internal location that leads to the endpoint, with "
                           "a slash at both ends", &kind->name);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_http_symbolicate_keys_t *
ngx_http_symbolicate_aws_keys(ngx_conf_t *cf,
    ngx_http_symbolicate_aws_args_t *args,
    ngx_http_symbolicate_aws_kind_t *kind)
{
    const char                        *trouble;
    ngx_pool_cleanup_t                *cln;
    ngx_http_core_srv_conf_t          *cscf;
    ngx_http_symbolicate_keys_t       *keys, **p;
    ngx_http_symbolicate_keys_conf_t  *source;
    ngx_http_symbolicate_main_conf_t  *smcf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    source = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_keys_conf_t));
    if (source == NULL) {
        return NULL;
    }

    source->from = kind->from;
    source->file = args->file;
    source->profile = args->profile;
    source->via = args->via;
    source->server = cscf->ctx;

    if (source->profile.len == 0) {
        ngx_str_set(&source->profile, "default");
    }

    if (source->file.len
        && ngx_conf_full_name(cf->cycle, &source->file, 0) != NGX_OK)
    {
        return NULL;
    }

    keys = ngx_http_symbolicate_aws_shared(smcf, source);
    if (keys) {
        return keys;
    }

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_http_symbolicate_keys_t));
    p = ngx_array_push(&smcf->keys);

    if (cln == NULL || p == NULL) {
        return NULL;
    }

    keys = cln->data;
    ngx_memzero(keys, sizeof(ngx_http_symbolicate_keys_t));
    *p = keys;
    cln->handler = ngx_http_symbolicate_aws_wipe;

    keys->now.access_key = sym_str((char *) args->access_key.data,
                                   args->access_key.len);
    keys->now.secret_key = sym_str((char *) args->secret_key.data,
                                   args->secret_key.len);
    keys->now.token = sym_str((char *) args->token.data, args->token.len);

    trouble = ngx_http_symbolicate_keys_init(cf, source, keys);

    if (trouble) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"credentials=%V\": %s", &kind->name, trouble);
        return NULL;
    }

    return keys;
}


static ngx_uint_t
ngx_http_symbolicate_aws_is_same(ngx_str_t *one, ngx_str_t *two)
{
    return one->len == two->len
           && (one->len == 0
               || ngx_strncmp(one->data, two->data, one->len) == 0);
}


/*
 * Locations with the same source of keys share the keys, so that they are
 * requested once.  An endpoint is one location of one server.  Static keys need
 * no request; each directive has its own copy, which is wiped separately.
 */
static ngx_http_symbolicate_keys_t *
ngx_http_symbolicate_aws_shared(ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_keys_conf_t *source)
{
    ngx_uint_t                          i;
    ngx_http_symbolicate_keys_t       **p;
    ngx_http_symbolicate_keys_conf_t   *other;

    if (source->from == ngx_http_symbolicate_keys_static) {
        return NULL;
    }

    p = smcf->keys.elts;

    for (i = 0; i < smcf->keys.nelts; i++) {
        other = p[i]->conf;

        if (other->from == source->from
            && ngx_http_symbolicate_aws_is_same(&other->file, &source->file)
            && ngx_http_symbolicate_aws_is_same(&other->profile,
                                                &source->profile)
            && ngx_http_symbolicate_aws_is_same(&other->via, &source->via)
            && (source->via.len == 0 || other->server == source->server))
        {
            return p[i];
        }
    }

    return NULL;
}


static void
ngx_http_symbolicate_aws_wipe(void *data)
{
    ngx_http_symbolicate_keys_t *keys = data;

    if (keys->now.secret_key.len) {
        sym_wipe((void *) keys->now.secret_key.data,
                 keys->now.secret_key.len);
    }

    sym_arena_drop(&keys->arena);
}
