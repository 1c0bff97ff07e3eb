
/*
 * ngx_http_symbolicate_fetch_location.h - the transport of configured sources.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_LOCATION_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_LOCATION_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_transport.h"


extern const ngx_http_symbolicate_transport_t
    ngx_http_symbolicate_fetch_location;


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_LOCATION_H_INCLUDED_ */
