
/*
 * ngx_http_symbolicate_given_files.h - files in a folder that a request names.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_GIVEN_FILES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_GIVEN_FILES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_fetch.h"


/* Opens the file, which must lie below an allowed root, for the fetch, and sets
 * its status.  Not NULL: why it failed. */
const char *ngx_http_symbolicate_given_open(
    ngx_http_symbolicate_fetch_t *fetch, sym_str_t path);


#endif /* _NGX_HTTP_SYMBOLICATE_GIVEN_FILES_H_INCLUDED_ */
