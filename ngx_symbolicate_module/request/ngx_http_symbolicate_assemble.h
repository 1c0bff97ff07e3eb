
/*
 * ngx_http_symbolicate_assemble.h - assembles files from uploaded chunks.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


/*
 * Reads a request to assemble files, or a bundle of scripts; the loader
 * assembles them.
 */
ngx_int_t ngx_http_symbolicate_assemble_handler(ngx_http_request_t *r,
    ngx_uint_t is_bundle);


#endif /* _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_ */
