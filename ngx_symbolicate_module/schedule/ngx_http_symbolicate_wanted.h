
/*
 * ngx_http_symbolicate_wanted.h - an artifact that a request waits for.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_WANTED_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_WANTED_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/* An artifact of an object at one source. */
typedef struct {
    ngx_http_symbolicate_source_t *source;
    sym_kind_t                     kind;
    const sym_object_ref_t        *ref;
    unsigned                       without;     /* 1 << sym_source_file_t:
                                                 * files that do not have it */
    unsigned                       thorough:1;  /* all its paths are tried, even
                                                 * if one has a good file */
} ngx_http_symbolicate_wanted_t;


/* A flag of the worker's own NEGATIVE: no loader is running. */
#define NGX_SYMBOLICATE_NO_LOADER  1


#endif /* _NGX_HTTP_SYMBOLICATE_WANTED_H_INCLUDED_ */
