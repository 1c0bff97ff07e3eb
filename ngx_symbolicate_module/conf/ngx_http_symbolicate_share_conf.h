
/*
 * ngx_http_symbolicate_share_conf.h - the directive symbolicate_share.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SHARE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SHARE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


char *ngx_http_symbolicate_set_share(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Call this when the location's settings are complete: its fleet may have a
 * list. */
ngx_int_t ngx_http_symbolicate_share_join(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_SHARE_CONF_H_INCLUDED_ */
