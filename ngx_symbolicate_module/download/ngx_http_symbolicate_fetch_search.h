
/*
 * ngx_http_symbolicate_fetch_search.h - finds the next file to request, and its
 * source.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_SEARCH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_SEARCH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch_types.h"


/* Makes the list of sources to query, in order; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_fetch_sources(
    ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_object_t *object);

/* Finds the next place of the object, starting at *next, and sets *next after
 * it.  NGX_DECLINED: no place is left; NGX_ERROR: no memory. */
ngx_int_t ngx_http_symbolicate_fetch_find(
    ngx_http_symbolicate_fetch_t *fetch, ngx_uint_t *next,
    ngx_http_symbolicate_source_t **source, sym_source_place_t *place);

/* Requests the file of the current place from its source. */
ngx_int_t ngx_http_symbolicate_fetch_try_place(
    ngx_http_symbolicate_fetch_t *fetch);

/* Requests the next place; NGX_DECLINED: no place is left. */
ngx_int_t ngx_http_symbolicate_fetch_try(ngx_http_symbolicate_fetch_t *fetch);


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_SEARCH_H_INCLUDED_ */
