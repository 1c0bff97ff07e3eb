
/*
 * ngx_http_symbolicate_share_conf.c - the directive symbolicate_share.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_fetch_conf.h"
#include "conf/ngx_http_symbolicate_share_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_conf.h"


#define NGX_SYMBOLICATE_SHARE_EVERY  600000


/* "bucket=/LOCATION/"; the name is that of its counters. */
static char *
ngx_http_symbolicate_share_location(ngx_conf_t *cf,
    ngx_http_symbolicate_source_t *source, ngx_str_t *uri, const char *name)
{
    if (source->uri.len) {
        return "is duplicate";
    }

    if (uri->len == 0 || uri->data[0] != '/' || uri->data[uri->len - 1] != '/')
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must begin and end with a slash", uri);
        return NGX_CONF_ERROR;
    }

    source->uri = *uri;
    source->name.data = (u_char *) name;
    source->name.len = ngx_strlen(name);
    source->conf_file = cf->conf_file->file.name;
    source->conf_line = cf->conf_file->line;
    source->absent[0] = NGX_HTTP_NOT_FOUND;
    source->absent[1] = NGX_HTTP_FORBIDDEN;
    source->nabsent = 2;
    source->metric = ngx_http_symbolicate_metrics_source(cf, &source->name);

    return source->metric ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* NGX_ERROR: not a time above 0. */
static ngx_int_t
ngx_http_symbolicate_share_time(ngx_str_t *text, ngx_msec_t *time)
{
    ngx_int_t  n;

    n = ngx_parse_time(text, 0);
    *time = n;

    return n > 0 ? NGX_OK : NGX_ERROR;
}


/* "nodes=UPSTREAM": found when the configuration is complete. */
static char *
ngx_http_symbolicate_share_nodes(ngx_conf_t *cf,
    ngx_http_symbolicate_shared_t *share, ngx_str_t *name)
{
    ngx_url_t  u;

    if (share->nodes) {
        return "is duplicate";
    }

    ngx_memzero(&u, sizeof(ngx_url_t));

    u.url = *name;
    u.no_resolve = 1;

    share->nodes = ngx_http_upstream_add(cf, &u, 0);

    return share->nodes ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* "tell=/LOCATION/" */
static char *
ngx_http_symbolicate_share_tell(ngx_http_symbolicate_shared_t *share,
    ngx_str_t *uri)
{
    if (share->tell.len) {
        return "is duplicate";
    }

    if (uri->len == 0 || uri->data[0] != '/' || uri->data[uri->len - 1] != '/')
    {
        return "needs a location in \"tell=\" that begins and ends with a "
               "slash";
    }

    share->tell = *uri;

    return NGX_CONF_OK;
}


char *
ngx_http_symbolicate_set_share(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                          *rv;
    ngx_str_t                     *value, uri;
    ngx_uint_t                     i;
    ngx_http_symbolicate_shared_t  *share;

    if (slcf->policy.share != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        slcf->policy.share = NULL;
        return NGX_CONF_OK;
    }

    share = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_shared_t));
    if (share == NULL) {
        return NGX_CONF_ERROR;
    }

    share->every = NGX_SYMBOLICATE_SHARE_EVERY;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_symbolicate_option(&value[i], "bucket=", &uri)) {
            rv = ngx_http_symbolicate_share_location(cf, &share->bucket, &uri,
                                              NGX_SYMBOLICATE_SHARE_NAME);

        } else if (ngx_http_symbolicate_option(&value[i], "peers=", &uri)) {
            rv = ngx_http_symbolicate_share_location(cf, &share->peers, &uri,
                                              NGX_SYMBOLICATE_PEERS_NAME);

        } else if (ngx_http_symbolicate_option(&value[i], "nodes=", &uri)) {
            rv = ngx_http_symbolicate_share_nodes(cf, share, &uri);

        } else if (ngx_http_symbolicate_option(&value[i], "tell=", &uri)) {
            rv = ngx_http_symbolicate_share_tell(share, &uri);

        } else if ((ngx_http_symbolicate_option(&value[i], "warm=", &uri)
                    && ngx_http_symbolicate_share_time(&uri, &share->warm)
                       == NGX_OK)
                   || (ngx_http_symbolicate_option(&value[i], "every=", &uri)
                       && ngx_http_symbolicate_share_time(&uri, &share->every)
                          == NGX_OK))
        {
            continue;

        } else {
            return "takes \"bucket=/LOCATION/\", \"peers=/LOCATION/\" and "
                   "\"tell=/LOCATION/\", internal locations, "
                   "\"nodes=UPSTREAM\", \"warm=TIME\" and \"every=TIME\"; "
                   "or \"off\"";
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (share->bucket.uri.len == 0 && share->warm) {
        return "needs \"bucket=/LOCATION/\" for \"warm=\"";
    }

    if ((share->nodes == NULL) != (share->tell.len == 0)) {
        return "needs both \"nodes=UPSTREAM\" and \"tell=/LOCATION/\"";
    }

    slcf->policy.share = share;

    return NGX_CONF_OK;
}


/* Whether both have the same list. */
static ngx_uint_t
ngx_http_symbolicate_share_is_same(ngx_http_symbolicate_loc_conf_t *a,
    ngx_http_symbolicate_loc_conf_t *b)
{
    ngx_str_t  *x, *y;

    x = &a->policy.share->bucket.uri;
    y = &b->policy.share->bucket.uri;

    return a->policy.server == b->policy.server && x->len == y->len
           && ngx_strncmp(x->data, y->data, x->len) == 0;
}


ngx_int_t
ngx_http_symbolicate_share_join(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_uint_t                          i;
    ngx_http_symbolicate_loc_conf_t   **member;
    ngx_http_symbolicate_main_conf_t   *smcf;

    if (conf->policy.share == NULL || conf->policy.share->warm == 0
        || conf->api == NULL || conf->loader == NULL
        || conf->policy.sources == NULL)
    {
        return NGX_OK;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);
    member = smcf->members.elts;

    for (i = 0; i < smcf->members.nelts; i++) {
        if (ngx_http_symbolicate_share_is_same(member[i], conf)) {
            return NGX_OK;
        }
    }

    member = ngx_array_push(&smcf->members);
    if (member == NULL) {
        return NGX_ERROR;
    }

    *member = conf;

    return NGX_OK;
}
