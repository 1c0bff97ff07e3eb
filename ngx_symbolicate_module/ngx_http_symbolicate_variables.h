
/*
 * ngx_http_symbolicate_variables.h - nginx variables of the module.
 *
 * docs/use/directives.md lists them.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_VARIABLES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_VARIABLES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/* A preconfiguration hook. */
ngx_int_t ngx_http_symbolicate_add_variables(ngx_conf_t *cf);


#endif /* _NGX_HTTP_SYMBOLICATE_VARIABLES_H_INCLUDED_ */
