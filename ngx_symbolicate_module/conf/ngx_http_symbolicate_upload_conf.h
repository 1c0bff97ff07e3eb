
/*
 * ngx_http_symbolicate_upload_conf.h - directives of uploads.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_UPLOAD_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_UPLOAD_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


char *ngx_http_symbolicate_set_upload_target(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_symbolicate_set_upload_tokens(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_symbolicate_set_upload_hosts(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);

/* Finds the source of the target.  Logs errors. */
char *ngx_http_symbolicate_uploads_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf);

/* Limits nginx's buffer of bodies if the location has uploads. */
void ngx_http_symbolicate_upload_buffer(ngx_http_symbolicate_loc_conf_t *conf,
    ngx_http_core_loc_conf_t *clcf);

/* Whether files that are uploaded to the location go to this source. */
ngx_uint_t ngx_http_symbolicate_upload_is_to(
    ngx_http_symbolicate_loc_conf_t *slcf, sym_str_t source);


#endif /* _NGX_HTTP_SYMBOLICATE_UPLOAD_CONF_H_INCLUDED_ */
