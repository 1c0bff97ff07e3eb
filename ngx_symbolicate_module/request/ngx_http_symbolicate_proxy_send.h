
/*
 * ngx_http_symbolicate_proxy_send.h - the answer with a symbol file.
 *
 * Sends the headers, and the bytes from a descriptor.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PROXY_SEND_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PROXY_SEND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/file_names.h"
#include "api/file_request.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "request/ngx_http_symbolicate_download.h"
#include "request/ngx_http_symbolicate_made.h"
#include "request/ngx_http_symbolicate_task.h"


typedef struct {
    ngx_http_symbolicate_task_t     task;       /* the first member */
    sym_str_t                       path;
    ngx_msec_t                      started;
    sym_file_request_t              file;
    ngx_uint_t                      step;       /* current step of the
                                                 * request */
    ngx_uint_t                      forwarded;  /* addresses in the client's
                                                 * X-Forwarded-For */
    ngx_uint_t                      is_try;     /* sources of try builds */
    ngx_uint_t                      next;       /* next source to query */
    ngx_http_symbolicate_download_t  *download; /* NULL: no download yet */
    ngx_http_symbolicate_made_t    *made;       /* NULL: the source's file
                                                 * itself is sent */
    sym_file_names_t               *names;      /* of the module, if the client
                                                 * wants them; NULL: not known
                                                 * yet */
    ngx_http_symbolicate_made_t    *symbols;    /* text to which `made` is
                                                 * appended; NULL: none */
    ngx_str_t                       etag;       /* without its last quote */
    time_t                          modified;
    unsigned                        spooled:1;
    unsigned                        gzipped:1;  /* sent in compressed form */
    unsigned                        proved:1;   /* the file has debug
                                                 * information */
    ngx_uint_t                      nreason;    /* length of the first failure's
                                                 * reason */
    u_char                          reason[SYM_RPC_REASON_MAX];
} ngx_http_symbolicate_proxy_t;


/* Returns the form of the source's file that the client gets. */
sym_make_t ngx_http_symbolicate_proxy_form(
    ngx_http_symbolicate_proxy_t *proxy);

/* Stores the properties that identify the bytes. */
ngx_int_t ngx_http_symbolicate_proxy_identify(
    ngx_http_symbolicate_proxy_t *proxy,
    ngx_http_symbolicate_fetch_result_t *result);

/* Adds Cache-Control. */
ngx_int_t ngx_http_symbolicate_proxy_cached(ngx_http_request_t *r,
    const char *value);

/* Adds Debug-Time, if the client asks for it. */
ngx_int_t ngx_http_symbolicate_proxy_debug(
    ngx_http_symbolicate_proxy_t *proxy);

/* Sends the file that was found. */
ngx_int_t ngx_http_symbolicate_proxy_send(ngx_http_symbolicate_task_t *task);


#endif /* _NGX_HTTP_SYMBOLICATE_PROXY_SEND_H_INCLUDED_ */
