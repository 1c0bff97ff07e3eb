
/*
 * ngx_http_symbolicate_fetch_range.c - the rest of a file whose connection was
 * cut.
 *
 * The received bytes are kept, and the rest is requested (RFC 9110, 13.1.5 and
 * 14).  Two versions of a file must not be mixed, and not all servers respect
 * If-Range.  So the answer must also belong to the same file, and have the same
 * size.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/guard/range.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_range.h"
#include "download/ngx_http_symbolicate_fetch_state.h"


/*
 * Maximum number of times that an attempt continues after its connection was
 * cut.
 */
#define NGX_SYMBOLICATE_CONTINUES      4

/* Maximum length of an ETag or date. */
#define NGX_SYMBOLICATE_VALIDATOR_MAX  256

/*
 * A file that changed shortly before it was sent may have changed twice within
 * the second of its date.  Both times are from the server's clock (RFC 9110,
 * 8.8.2.2; 60 seconds as in RFC 7232).
 */
#define NGX_SYMBOLICATE_DATE_AGE       60


static ngx_uint_t
ngx_http_symbolicate_fetch_is_dated(ngx_http_upstream_headers_in_t *in)
{
    time_t  now, then;

    if (in->date == NULL || in->last_modified == NULL) {
        return 0;
    }

    now = ngx_parse_http_time(in->date->value.data, in->date->value.len);
    then = ngx_parse_http_time(in->last_modified->value.data,
                               in->last_modified->value.len);

    return now != (time_t) NGX_ERROR && then != (time_t) NGX_ERROR
           && now - then >= NGX_SYMBOLICATE_DATE_AGE;
}


static ngx_uint_t
ngx_http_symbolicate_fetch_is_encoded(ngx_http_request_t *r)
{
    return r->headers_out.content_encoding
           && r->headers_out.content_encoding->value.len;
}


/* Returns the validator that identifies exactly these bytes; NULL: none. */
static ngx_str_t *
ngx_http_symbolicate_fetch_validator(ngx_http_request_t *r)
{
    ngx_str_t                       *etag;
    ngx_http_upstream_headers_in_t  *in;

    in = &r->upstream->headers_in;

    if (in->etag) {
        etag = &in->etag->value;

        return sym_etag_is_strong(sym_str((char *) etag->data, etag->len))
               ? etag : NULL;
    }

    /* a date identifies the file, but not its encoding in transit */

    return !ngx_http_symbolicate_fetch_is_encoded(r)
           && ngx_http_symbolicate_fetch_is_dated(in)
           ? &in->last_modified->value : NULL;
}


static ngx_uint_t
ngx_http_symbolicate_fetch_has_ranges(ngx_http_request_t *r)
{
    ngx_table_elt_t  *h;

    h = r->headers_out.accept_ranges;

    return h && h->value.len == sizeof("bytes") - 1
           && ngx_strncasecmp(h->value.data, (u_char *) "bytes",
                              sizeof("bytes") - 1)
              == 0;
}


ngx_int_t
ngx_http_symbolicate_fetch_identify(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_str_t  *validator;

    ngx_str_null(&fetch->validator);

    if (!fetch->remote || r->upstream == NULL
        || fetch->status != NGX_HTTP_OK
        || !ngx_http_symbolicate_fetch_has_ranges(r))
    {
        return NGX_OK;
    }

    fetch->encoded_body = ngx_http_symbolicate_fetch_is_encoded(r);

    /*
     * the length of a body that is compressed in transit is unknown, and its
     * parts need not fit together
     */

    if (fetch->encoded_body && fetch->announced == -1) {
        return NGX_OK;
    }

    validator = ngx_http_symbolicate_fetch_validator(r);

    if (validator == NULL || validator->len > NGX_SYMBOLICATE_VALIDATOR_MAX) {
        return NGX_OK;
    }

    fetch->validator.data = ngx_pstrdup(fetch->pool, validator);
    if (fetch->validator.data == NULL) {
        return NGX_ERROR;
    }

    fetch->validator.len = validator->len;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_fetch_continue(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->trouble || fetch->status != NGX_HTTP_OK
        || fetch->validator.len == 0 || fetch->received == 0
        || (fetch->announced != -1 && fetch->received >= fetch->announced)
        || fetch->continuing
        || fetch->continues == NGX_SYMBOLICATE_CONTINUES)
    {
        return NGX_DECLINED;
    }

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "symbol source \"%V\": the body was cut short after %O "
                  "bytes, requesting the rest: %V",
                  &fetch->source->name, fetch->received, &fetch->url);

    fetch->continues++;
    fetch->continuing = 1;
    fetch->paused = 0;
    fetch->window = ngx_current_msec;
    fetch->window_from = fetch->received;

    return fetch->transport->again(fetch);
}


ngx_int_t
ngx_http_symbolicate_fetch_add_range(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char     *p;
    ngx_str_t   range;

    if (!fetch->continuing) {
        return NGX_OK;
    }

    p = ngx_pnalloc(fetch->pool, sizeof("bytes=-") - 1 + NGX_OFF_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    range.data = p;
    range.len = ngx_sprintf(p, "bytes=%O-", fetch->received) - p;

    if (ngx_http_symbolicate_background_add_header(fetch->bg, "Range", &range)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_add_header(fetch->bg, "If-Range",
                                                      &fetch->validator);
}


/* Whether the answer belongs to the file whose beginning was received.  It must
 * repeat the ETag (RFC 9110, 15.3.7), but not the date. */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_same(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_table_elt_t                 *h;
    ngx_http_upstream_headers_in_t  *in;

    in = &r->upstream->headers_in;

    if (fetch->encoded_body != ngx_http_symbolicate_fetch_is_encoded(r)) {
        return 0;
    }

    if (fetch->validator.data[0] == '"') {
        h = in->etag;

        if (h == NULL) {
            return 0;
        }

    } else {
        h = in->last_modified;

        if (h == NULL) {
            return 1;
        }
    }

    return h->value.len == fetch->validator.len
           && ngx_strncmp(h->value.data, fetch->validator.data, h->value.len)
              == 0;
}


/* Whether the range is exactly the missing part. */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_rest(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, sym_range_t *range)
{
    off_t       left;
    ngx_str_t  *text;

    if (r->upstream == NULL
        || r->headers_out.status != NGX_HTTP_PARTIAL_CONTENT
        || r->headers_out.content_range == NULL)
    {
        return 0;
    }

    text = &r->headers_out.content_range->value;

    if (!sym_range_read(sym_str((char *) text->data, text->len), range)
        || range->first != (uint64_t) fetch->received
        || range->last + 1 != range->size
        || (fetch->announced != -1
            && range->size != (uint64_t) fetch->announced))
    {
        return 0;
    }

    left = r->headers_out.content_length_n;

    return (left == -1 || left == (off_t) range->size - fetch->received)
           && ngx_http_symbolicate_fetch_is_same(fetch, r);
}


ngx_int_t
ngx_http_symbolicate_fetch_continued(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    sym_range_t  range;

    if (ngx_http_symbolicate_fetch_is_rest(fetch, r, &range)) {
        fetch->continuing = 0;
        fetch->announced = (off_t) range.size;
        return NGX_OK;
    }

    if (r->headers_out.status != NGX_HTTP_OK) {
        return NGX_ERROR;
    }

    fetch->continuing = 0;
    fetch->received = 0;

    if (fetch->temp && ftruncate(fetch->temp->file.fd, 0) == -1) {
        return NGX_ERROR;
    }

    return NGX_DECLINED;
}
