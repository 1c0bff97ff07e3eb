
/*
 * ngx_http_symbolicate_uses.h - adds what this node uses to the list of its
 * fleet.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_USES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_USES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"


/* Starts to do that from time to time, for a location with a list.  NGX_ERROR:
 * no memory. */
ngx_int_t ngx_http_symbolicate_uses_start(
    ngx_http_symbolicate_loc_conf_t *slcf);


#endif /* _NGX_HTTP_SYMBOLICATE_USES_H_INCLUDED_ */
