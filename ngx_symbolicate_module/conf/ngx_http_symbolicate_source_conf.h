
/*
 * ngx_http_symbolicate_source_conf.h - the directive symbolicate_source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


char *ngx_http_symbolicate_set_source(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_ */
