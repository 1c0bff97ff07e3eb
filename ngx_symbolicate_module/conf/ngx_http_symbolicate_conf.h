
/*
 * ngx_http_symbolicate_conf.h - hooks of nginx's configuration.
 *
 * What is configured is not written to once nginx has read it.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


void *ngx_http_symbolicate_create_main_conf(ngx_conf_t *cf);
char *ngx_http_symbolicate_init_main_conf(ngx_conf_t *cf, void *conf);
void *ngx_http_symbolicate_create_loc_conf(ngx_conf_t *cf);
char *ngx_http_symbolicate_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);


#endif /* _NGX_HTTP_SYMBOLICATE_CONF_H_INCLUDED_ */
