
/*
 * ngx_http_symbolicate_events.h - removes records of paths on events of S3.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_EVENTS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_EVENTS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "object/module_key.h"


/* A page of admin.c: POST .../events. */
ngx_int_t ngx_http_symbolicate_events(ngx_http_request_t *r,
    sym_module_key_t *key, sym_scopes_t *scopes);


#endif /* _NGX_HTTP_SYMBOLICATE_EVENTS_H_INCLUDED_ */
