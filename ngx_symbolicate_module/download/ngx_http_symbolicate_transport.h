
/*
 * ngx_http_symbolicate_transport.h - how files of a source are requested.
 *
 * Configured sources take one subrequest of their location for each file
 * (fetch_location.c).  Request sources first need checks of addresses, tokens
 * and lists (request_sources/).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * All sources of a fetch have the same transport.  Each function concerns the
 * current attempt, unless noted.
 */
struct ngx_http_symbolicate_transport_s {

    /* Begins to request the file of the attempt; the fetch was reset before.
     * encoded, plain: its path below the source, empty if the source has none.
     * NGX_DECLINED: the source has no such file, and need not be queried. */
    ngx_int_t   (*try)(ngx_http_symbolicate_fetch_t *fetch, sym_str_t encoded,
        sym_str_t plain);

    /* Begins to repeat the last request. */
    ngx_int_t   (*again)(ngx_http_symbolicate_fetch_t *fetch);

    /* The end of a subrequest.  NGX_OK: the attempt continues with another one;
     * NGX_DECLINED: it has ended. */
    ngx_int_t   (*tried)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
        ngx_uint_t is_whole);

    /* The current subrequest is not for the file, but prepares the request for
     * it. */
    ngx_uint_t  (*is_prelude)(ngx_http_symbolicate_fetch_t *fetch);

    /* Takes a part of an answer that is not the file.  NGX_DECLINED: it is part
     * of the file. */
    ngx_int_t   (*body)(ngx_http_symbolicate_fetch_t *fetch, ngx_chain_t *in);

    /* Why an answer with this status is an error; NULL: it means that there is
     * no such file. */
    const char *(*error)(ngx_http_symbolicate_fetch_t *fetch);

    /* True: the place has a specific outcome (protocol/outcomes.h). */
    ngx_uint_t  (*outcome)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /* Counts a failed attempt. */
    void        (*failed)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /* Cancels all but subrequests, of all attempts; may run twice. */
    void        (*cancel)(ngx_http_symbolicate_fetch_t *fetch);
};


#endif /* _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_ */
