
/*
 * ngx_http_symbolicate_fetch_known.h - paths of companions that have records in
 * the store.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_KNOWN_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_KNOWN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * Whether the store has a record that a source has no file at this path, or
 * that the source failed: then the fetch has failed, too.
 */
ngx_uint_t ngx_http_symbolicate_fetch_is_known(
    ngx_http_symbolicate_fetch_t *fetch, ngx_http_symbolicate_source_t *source,
    sym_str_t path);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_KNOWN_H_INCLUDED_ */
