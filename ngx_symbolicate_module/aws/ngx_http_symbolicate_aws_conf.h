
/*
 * ngx_http_symbolicate_aws_conf.h - the directive symbolicate_aws_sigv4.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_AWS_CONF_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_AWS_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/aws/sigv4.h"

#include "aws/ngx_http_symbolicate_aws_keys.h"


/* Settings of a location with "symbolicate_aws_sigv4". */
struct ngx_http_symbolicate_sigv4_s {
    ngx_str_t                      region;
    ngx_http_symbolicate_keys_t   *keys;
    sym_sigv4_key_t               *key;         /* this worker's key for the
                                                 * day */
};


char *ngx_http_symbolicate_set_aws(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_AWS_CONF_H_INCLUDED_ */
