
/*
 * ngx_http_symbolicate_upload_conf.c - directives of uploads.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_upload_conf.h"


/* Larger files are put into a bucket in parts of this size. */
#define NGX_SYMBOLICATE_PART          (64 * 1024 * 1024)

/* S3's limit of a part. */
#define NGX_SYMBOLICATE_PART_MAX      ((off_t) 5 * 1024 * 1024 * 1024)

/*
 * Maximum size of the file: 4096 tokens with long names and lists of sources.
 */
#define NGX_SYMBOLICATE_TOKENS_FILE   (4 * 1024 * 1024)

/*
 * Bodies go to a file in any case.  A larger buffer leaves the processor's
 * cache before it is written, and its memory stays with the worker.
 */
#define NGX_SYMBOLICATE_UPLOAD_BUFFER  (64 * 1024)


static ngx_int_t ngx_http_symbolicate_tokens_text(ngx_conf_t *cf,
    ngx_str_t *name, ngx_str_t *text);
static void ngx_http_symbolicate_tokens_drop(void *data);


char *
ngx_http_symbolicate_set_upload_target(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    ngx_str_t   *value, part;

    if (slcf->upload.target.data) {
        return "is duplicate";
    }

    value = cf->args->elts;
    slcf->upload.target = value[1];

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(value[2].data, "bucket") != 0) {
        return "takes \"NAME\" or \"NAME bucket [part=SIZE]\"";
    }

    slcf->upload.part = NGX_SYMBOLICATE_PART;

    if (cf->args->nelts == 3) {
        return NGX_CONF_OK;
    }

    if (ngx_strncmp(value[3].data, "part=", 5) != 0) {
        return "takes \"NAME\" or \"NAME bucket [part=SIZE]\"";
    }

    part.data = value[3].data + 5;
    part.len = value[3].len - 5;
    slcf->upload.part = ngx_parse_offset(&part);

    if (slcf->upload.part < SYM_RPC_PART_LENGTH_MIN
        || slcf->upload.part > NGX_SYMBOLICATE_PART_MAX)
    {
        return "has a size of parts that S3 does not take: it must be from 5m "
               "to 5g";
    }

    return NGX_CONF_OK;
}


/* The source of a location with this name and ending; NULL: none. */
static ngx_http_symbolicate_source_t *
ngx_http_symbolicate_upload_source(ngx_http_symbolicate_loc_conf_t *conf,
    const char *ending)
{
    size_t                          len;
    ngx_str_t                      *name;
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *sources;

    sources = conf->policy.sources ? conf->policy.sources->elts : NULL;
    len = conf->upload.target.len;

    for (i = 0; sources && i < conf->policy.sources->nelts; i++) {
        name = &sources[i].name;

        if (name->len == len + ngx_strlen(ending)
            && ngx_memcmp(name->data, conf->upload.target.data, len) == 0
            && ngx_memcmp(name->data + len, ending, name->len - len) == 0)
        {
            return &sources[i];
        }
    }

    return NULL;
}


/* symbolicate_upload_tokens FILE | off */
char *
ngx_http_symbolicate_set_upload_tokens(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                              why[256];
    ngx_str_t                         text, *value;
    sym_error_t                       err;
    ngx_pool_cleanup_t               *cln;
    ngx_http_symbolicate_tokens_t    *tokens;

    if (slcf->upload.tokens) {
        return "is duplicate";
    }

    value = cf->args->elts;

    tokens = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_tokens_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (tokens == NULL || cln == NULL) {
        return NGX_CONF_ERROR;
    }

    slcf->upload.tokens = tokens;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        tokens->off = 1;
        return NGX_CONF_OK;
    }

    if (ngx_http_symbolicate_tokens_text(cf, &value[1], &text) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    sym_arena_init(&tokens->arena, 0);
    cln->handler = ngx_http_symbolicate_tokens_drop;
    cln->data = tokens;

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_upload_tokens_read(&tokens->arena,
                               sym_str((char *) text.data, text.len),
                               &tokens->all, &err)
        != SYM_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\": %s", &value[1],
                           sym_error_text(&err, why, sizeof(why)));
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* Whether a host can match: a port of *.DOMAIN never does (origins.h), and any
 * host is too many. */
static ngx_uint_t
ngx_http_symbolicate_is_upload_host(ngx_str_t *host)
{
    u_char      *name;
    ngx_uint_t   is_domain;

    is_domain = host->len > 2 && ngx_strncmp(host->data, "*.", 2) == 0;
    name = is_domain ? host->data + 2 : host->data;

    return name[0] != '\0' && ngx_strchr(name, '/') == NULL
           && ngx_strchr(name, '*') == NULL
           && (!is_domain || ngx_strchr(name, ':') == NULL);
}


/* symbolicate_upload_hosts HOST | *.DOMAIN | http://HOST ... */
char *
ngx_http_symbolicate_set_upload_hosts(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    u_char      *p;
    ngx_str_t   *value, host;
    sym_str_t   *hosts;
    ngx_uint_t   i, is_http;

    if (slcf->upload.hosts) {
        return "is duplicate";
    }

    value = cf->args->elts;
    slcf->upload.nhosts = (uint32_t) cf->args->nelts - 1;

    hosts = ngx_palloc(cf->pool, slcf->upload.nhosts * sizeof(sym_str_t));
    if (hosts == NULL) {
        return NGX_CONF_ERROR;
    }

    slcf->upload.hosts = hosts;

    for (i = 1; i < cf->args->nelts; i++) {
        host = value[i];
        is_http = host.len > 7 && ngx_strncmp(host.data, "http://", 7) == 0;

        if (is_http) {
            host.data += 7;
            host.len -= 7;
        }

        if (!ngx_http_symbolicate_is_upload_host(&host)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is no host: use HOST or HOST:PORT, or "
                               "*.DOMAIN without a port, perhaps after http://",
                               &value[i]);
            return NGX_CONF_ERROR;
        }

        p = ngx_pnalloc(cf->pool, sizeof("https://") + host.len);
        if (p == NULL) {
            return NGX_CONF_ERROR;
        }

        hosts[i - 1].data = (char *) p;
        p = ngx_sprintf(p, "%s://%V", is_http ? "http" : "https", &host);
        hosts[i - 1].len = p - (u_char *) hosts[i - 1].data;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_symbolicate_tokens_text(ngx_conf_t *cf, ngx_str_t *name,
    ngx_str_t *text)
{
    ssize_t          n;
    ngx_fd_t         fd;
    ngx_int_t        rc;
    ngx_file_info_t  fi;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    fd = ngx_open_file(name->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE || ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "cannot read the tokens in \"%V\"", name);
        rc = NGX_ERROR;

    } else if (ngx_file_size(&fi) > NGX_SYMBOLICATE_TOKENS_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the file of tokens \"%V\" is too large", name);
        rc = NGX_ERROR;

    } else {
        text->len = (size_t) ngx_file_size(&fi);
        text->data = ngx_pnalloc(cf->temp_pool, text->len + 1);

        n = text->data ? read(fd, text->data, text->len) : -1;
        rc = (n >= 0) ? NGX_OK : NGX_ERROR;
        text->len = ngx_max(n, 0);
    }

    if (fd != NGX_INVALID_FILE) {
        (void) ngx_close_file(fd);
    }

    return rc;
}


static void
ngx_http_symbolicate_tokens_drop(void *data)
{
    ngx_http_symbolicate_tokens_t *tokens = data;

    sym_arena_drop(&tokens->arena);
}


ngx_uint_t
ngx_http_symbolicate_upload_is_to(ngx_http_symbolicate_loc_conf_t *slcf,
    sym_str_t source)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *targets[2];

    targets[0] = slcf->upload.source;
    targets[1] = slcf->upload.try_source;

    for (i = 0; i < 2; i++) {
        if (targets[i] && targets[i]->name.len == source.len
            && ngx_memcmp(targets[i]->name.data, source.data, source.len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* Other nodes of a fleet must learn what is uploaded here. */
static char *
ngx_http_symbolicate_upload_shares(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_symbolicate_loc_conf_t   **slcf;
    ngx_http_symbolicate_main_conf_t   *smcf;

    if (conf->policy.share == NULL) {
        return NGX_CONF_OK;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    slcf = ngx_array_push(&smcf->uploads);
    if (slcf == NULL) {
        return NGX_CONF_ERROR;
    }

    *slcf = conf;

    return NGX_CONF_OK;
}


char *
ngx_http_symbolicate_uploads_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    if (conf->upload.target.data == NULL) {
        conf->upload.target = prev->upload.target;
        conf->upload.part = prev->upload.part;
    }

    if (conf->upload.tokens == NULL) {
        conf->upload.tokens = prev->upload.tokens;
    }

    if (conf->upload.hosts == NULL) {
        conf->upload.hosts = prev->upload.hosts;
        conf->upload.nhosts = prev->upload.nhosts;
    }

    if (conf->api != &sym_upload_api) {
        return NGX_CONF_OK;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (conf->upload.target.data == NULL || conf->upload.tokens == NULL
        || !conf->place.has_base)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate upload\" in location \"%V\" needs "
                      "\"symbolicate_upload_target NAME\" and "
                      "\"symbolicate_upload_tokens FILE|off\", there or around "
                      "it, and a prefix location", &clcf->name);
        return NGX_CONF_ERROR;
    }

    if (conf->upload.hosts
        && (conf->policy.request_sources_conf == NULL
            || !(conf->policy.request_sources_conf->types
                 & (1 << SYM_REQUEST_SOURCE_HTTP))))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"symbolicate_upload_hosts\" in location \"%V\" needs "
                      "\"symbolicate_request_sources http uri=/LOCATION/\" "
                      "there or around it", &clcf->name);
        return NGX_CONF_ERROR;
    }

    conf->upload.source = ngx_http_symbolicate_upload_source(conf, "");
    conf->upload.try_source = ngx_http_symbolicate_upload_source(conf, ".try");

    if (conf->upload.source) {
        return ngx_http_symbolicate_upload_shares(cf, conf);
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"symbolicate_upload_target %V\" in location \"%V\": no "
                  "\"symbolicate_source\" there or around it has this name",
                  &conf->upload.target, &clcf->name);
    return NGX_CONF_ERROR;
}


void
ngx_http_symbolicate_upload_buffer(ngx_http_symbolicate_loc_conf_t *conf,
    ngx_http_core_loc_conf_t *clcf)
{
    if (conf->api == &sym_upload_api
        && clcf->client_body_buffer_size > NGX_SYMBOLICATE_UPLOAD_BUFFER)
    {
        clcf->client_body_buffer_size = NGX_SYMBOLICATE_UPLOAD_BUFFER;
    }
}
