
/*
 * ngx_http_symbolicate_page_conf.h - the directive "symbolicate_page".
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PAGE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PAGE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* Settings of a location with the page. */
typedef struct {
    ngx_str_t    name;            /* name of the settings file */
    ngx_str_t    settings;        /* JSON */
    ngx_str_t    etag;            /* digest of the file, in quotes */
} ngx_http_symbolicate_page_conf_t;


/* cmd->post is the content handler of the location. */
char *ngx_http_symbolicate_set_web_page(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_PAGE_CONF_H_INCLUDED_ */
