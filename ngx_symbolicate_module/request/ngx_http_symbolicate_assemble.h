
/*
 * ngx_http_symbolicate_assemble.h - requests that list files: to assemble them
 * from uploaded chunks, or to send them.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/upload/upload.h"


/*
 * Reads the request; the loader assembles its files, or says which of them it
 * has.  The call must stay in place.
 */
ngx_int_t ngx_http_symbolicate_assemble_handler(ngx_http_request_t *r,
    sym_upload_made_t form, const sym_upload_call_t *call);


#endif /* _NGX_HTTP_SYMBOLICATE_ASSEMBLE_H_INCLUDED_ */
