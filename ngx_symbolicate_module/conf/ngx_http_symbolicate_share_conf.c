
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

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_symbolicate_option(&value[i], "bucket=", &uri)) {
            rv = ngx_http_symbolicate_share_location(cf, &share->bucket, &uri,
                                              NGX_SYMBOLICATE_SHARE_NAME);

        } else if (ngx_http_symbolicate_option(&value[i], "peers=", &uri)) {
            rv = ngx_http_symbolicate_share_location(cf, &share->peers, &uri,
                                              NGX_SYMBOLICATE_PEERS_NAME);

        } else {
            return "takes \"bucket=/LOCATION/\" and \"peers=/LOCATION/\", "
                   "internal locations; or \"off\"";
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    slcf->policy.share = share;

    return NGX_CONF_OK;
}
