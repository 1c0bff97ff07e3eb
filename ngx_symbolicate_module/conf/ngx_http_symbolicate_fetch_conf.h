
/*
 * ngx_http_symbolicate_fetch_conf.h - directives of fetching.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


/* Returns the value of "key=value" for this key. */
ngx_uint_t ngx_http_symbolicate_option(ngx_str_t *value, const char *key,
    ngx_str_t *rest);

char *ngx_http_symbolicate_set_loader(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_symbolicate_set_fetch_timeout(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_symbolicate_set_ttl(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

void ngx_http_symbolicate_sources_create(
    ngx_http_symbolicate_loc_conf_t *slcf);
char *ngx_http_symbolicate_sources_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf);

char *ngx_http_symbolicate_set_webhook(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Lets the location's loader notify its webhook. */
char *ngx_http_symbolicate_webhook_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_CONF_H_INCLUDED_ */
