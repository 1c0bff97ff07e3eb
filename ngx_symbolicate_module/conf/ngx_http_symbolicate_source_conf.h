
/*
 * ngx_http_symbolicate_source_conf.h - the directive symbolicate_source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"


/*
 * Returns the counters of a source named in a directive; NULL: the log has the
 * reason.
 */
ngx_http_symbolicate_metric_t *ngx_http_symbolicate_metrics_source(
    ngx_conf_t *cf, ngx_str_t *name);

char *ngx_http_symbolicate_set_source(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_SOURCE_CONF_H_INCLUDED_ */
