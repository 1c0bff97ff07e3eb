
/*
 * ngx_http_symbolicate_transport.h - ways to request files from a source.
 *
 * For configured sources, a file takes one subrequest to their location
 * (fetch_location.c).  Request sources need checks of addresses, tokens and
 * lists before that (request_sources/).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * All sources of a fetch have the same transport.  Unless noted, each function
 * applies to the current attempt.
 */
struct ngx_http_symbolicate_transport_s {

    /*
     * Begins to request the file of the attempt; the fetch must have been
     * reset.  encoded, plain: path relative to the source, empty if the source
     * has no paths.  NGX_DECLINED: the source does not have the file, and need
     * not be asked.
     */
    ngx_int_t   (*try)(ngx_http_symbolicate_fetch_t *fetch, sym_str_t encoded,
        sym_str_t plain);

    /* Begins to repeat the last request. */
    ngx_int_t   (*again)(ngx_http_symbolicate_fetch_t *fetch);

    /*
     * Handles the end of a subrequest.  NGX_OK: the attempt continues with
     * another one; NGX_DECLINED: it has ended.
     */
    ngx_int_t   (*tried)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
        ngx_uint_t is_whole);

    /* Whether the current subrequest only prepares the request for the file. */
    ngx_uint_t  (*is_prelude)(ngx_http_symbolicate_fetch_t *fetch);

    /*
     * Takes a part of a body that is not the file.  NGX_DECLINED: the body is
     * the file.
     */
    ngx_int_t   (*body)(ngx_http_symbolicate_fetch_t *fetch, ngx_chain_t *in);

    /*
     * Returns why this status is an error; NULL: it means that there is no such
     * file.
     */
    const char *(*error)(ngx_http_symbolicate_fetch_t *fetch);

    /* Whether the place has a specific outcome (protocol/outcomes.h). */
    ngx_uint_t  (*outcome)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /* Counts a failed attempt. */
    void        (*failed)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /*
     * Cancels everything except subrequests, for all attempts; may run twice.
     */
    void        (*cancel)(ngx_http_symbolicate_fetch_t *fetch);
};


#endif /* _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_ */
