
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


/* An artifact for an object from one source. */
typedef struct {
    ngx_http_symbolicate_source_t *source;
    sym_kind_t                     kind;
    const sym_object_ref_t        *ref;
    unsigned                       without;     /* bits 1 << sym_source_file_t:
                                                 * files without such an
                                                 * artifact */
    unsigned                       thorough:1;  /* try all paths, even if one
                                                 * has a good file */
    unsigned                       shared:1;    /* only what other nodes have
                                                 * made: no source is asked */
} ngx_http_symbolicate_wanted_t;


/* A flag in a NEGATIVE from the worker itself: no loader is running. */
#define NGX_SYMBOLICATE_NO_LOADER  1


#endif /* _NGX_HTTP_SYMBOLICATE_WANTED_H_INCLUDED_ */
