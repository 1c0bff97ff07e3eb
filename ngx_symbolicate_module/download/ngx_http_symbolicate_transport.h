
/*
 * ngx_http_symbolicate_transport.h - how the files of a source are asked for.
 *
 * A location asks its configured sources by one subrequest for each file
 * (fetch_location.c).  Sources of requests have addresses to check, tokens to
 * get and lists to read before that (request_sources/).
 */

#ifndef _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/*
 * All sources of a fetch have the same transport.  Each function is about the
 * current attempt, unless it says otherwise.
 */
struct ngx_http_symbolicate_transport_s {

    /* Begins to ask for the file of the attempt; the fetch was reset before.
     * encoded, plain: its path below the source, empty if the source has none.
     * NGX_DECLINED: the source has no such file, and need not be asked. */
    ngx_int_t   (*try)(ngx_http_symbolicate_fetch_t *fetch, sym_str_t encoded,
        sym_str_t plain);

    /* Begins to ask once more for what was asked last. */
    ngx_int_t   (*again)(ngx_http_symbolicate_fetch_t *fetch);

    /* The end of a subrequest.  NGX_OK: the attempt goes on, with another one;
     * NGX_DECLINED: it has ended. */
    ngx_int_t   (*tried)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
        ngx_uint_t is_whole);

    /* The subrequest under way asks for no file, but for what it takes to ask
     * for one. */
    ngx_uint_t  (*is_prelude)(ngx_http_symbolicate_fetch_t *fetch);

    /* A part of an answer that is not the file.  NGX_DECLINED: it is the
     * file's. */
    ngx_int_t   (*body)(ngx_http_symbolicate_fetch_t *fetch, ngx_chain_t *in);

    /* Why an answer with this status is an error; NULL: it says that there is
     * no such file. */
    const char *(*error)(ngx_http_symbolicate_fetch_t *fetch);

    /* The attempt has an outcome of its own (protocol/attempts.h). */
    ngx_uint_t  (*outcome)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /* Counts a failed attempt. */
    void        (*failed)(ngx_http_symbolicate_fetch_t *fetch,
        ngx_str_t *outcome);

    /* Ends what runs besides subrequests, of all attempts; may run twice. */
    void        (*cancel)(ngx_http_symbolicate_fetch_t *fetch);
};


#endif /* _NGX_HTTP_SYMBOLICATE_TRANSPORT_H_INCLUDED_ */
