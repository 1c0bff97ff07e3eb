
/*
 * ngx_http_symbolicate_source_names.h - the sources visible to a location.
 *
 * These functions run while nginx reads its configuration.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SOURCE_NAMES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SOURCE_NAMES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


ngx_int_t ngx_http_symbolicate_sources_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

/*
 * Makes the list of a location: modules loaded by hand, then its sources.
 * Equal lists have the same number.
 */
ngx_int_t ngx_http_symbolicate_scopes_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf);

/*
 * NGX_ERROR: an earlier location uses the name for another source on the same
 * store; the log shows it.
 */
ngx_int_t ngx_http_symbolicate_uses_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf);


#endif /* _NGX_HTTP_SYMBOLICATE_SOURCE_NAMES_H_INCLUDED_ */
