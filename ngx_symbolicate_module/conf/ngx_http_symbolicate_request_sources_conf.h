
/*
 * ngx_http_symbolicate_request_sources_conf.h - the directive
 * symbolicate_request_sources.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


char *ngx_http_symbolicate_set_request_sources(ngx_conf_t *cf,
    ngx_command_t *cmd,
    void *conf);

/* Call this when the complete location is known. */
char *ngx_http_symbolicate_request_source_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *prev,
    ngx_http_symbolicate_loc_conf_t *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_REQUEST_SOURCE_CONF_H_INCLUDED_ */
