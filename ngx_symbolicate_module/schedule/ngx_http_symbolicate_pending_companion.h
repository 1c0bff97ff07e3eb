
/*
 * ngx_http_symbolicate_pending_companion.h - a companion file of a module.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_COMPANION_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_COMPANION_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* False: no path at a source can have the companion's kind, name or id. */
ngx_uint_t ngx_http_symbolicate_pending_read_also(
    ngx_http_symbolicate_also_t *also, ngx_http_symbolicate_pending_t *pending,
    sym_rpc_companion_t *want);

ngx_uint_t ngx_http_symbolicate_pending_is_same(ngx_http_symbolicate_also_t *a,
    ngx_http_symbolicate_also_t *b);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_COMPANION_H_INCLUDED_ */
