
/*
 * ngx_http_symbolicate_fetch_redirect.c - redirects from a source.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/request/sentry_files.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_redirect.h"
#include "download/ngx_http_symbolicate_fetch_state.h"


ngx_int_t
ngx_http_symbolicate_fetch_keep_location(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_table_elt_t  *location;

    /* nginx may not set this if proxy_redirect did not change the header */

    location = r->headers_out.location;

    if (location == NULL && r->upstream) {
        location = r->upstream->headers_in.location;
    }

    if (location == NULL
        || location->value.len > NGX_SYMBOLICATE_LOCATION_MAX)
    {
        return NGX_OK;
    }

    fetch->leads.len = location->value.len;
    fetch->leads.data = ngx_pstrdup(fetch->pool, &location->value);

    return fetch->leads.data ? NGX_OK : NGX_ERROR;
}


/* Returns the next header of this name after `after`, or the first one. */
static ngx_table_elt_t *
ngx_http_symbolicate_fetch_header(ngx_http_request_t *r, ngx_str_t *name,
    ngx_table_elt_t *after)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    part = &r->headers_out.headers.part;
    h = part->elts;

    for (i = 0; /* void */ ; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                return NULL;
            }

            part = part->next;
            h = part->elts;
            i = 0;
        }

        if (after) {
            after = after == &h[i] ? NULL : after;
            continue;
        }

        if (h[i].hash != 0 && h[i].key.len == name->len
            && ngx_strncasecmp(h[i].key.data, name->data, name->len) == 0)
        {
            return &h[i];
        }
    }
}


static ngx_int_t
ngx_http_symbolicate_fetch_keep(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *to, u_char *data, size_t len)
{
    to->data = ngx_pnalloc(fetch->pool, len + 1);

    if (to->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(to->data, data, len);
    to->len = len;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_fetch_keep_next_page(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    sym_str_t         url;
    ngx_table_elt_t  *h;

    static ngx_str_t  name = ngx_string("Link");

    for (h = ngx_http_symbolicate_fetch_header(r, &name, NULL);
         h;
         h = ngx_http_symbolicate_fetch_header(r, &name, h))
    {
        if (sym_sentry_next_page(sym_str((char *) h->value.data, h->value.len),
                                 &url)
            && url.len <= NGX_SYMBOLICATE_LOCATION_MAX
            && ngx_http_symbolicate_fetch_keep(fetch, &fetch->next_page,
                                               (u_char *) url.data, url.len)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_fetch_keep_map(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_table_elt_t  *h;

    static ngx_str_t  names[] = {
        ngx_string("SourceMap"),
        ngx_string("X-SourceMap")
    };

    for (i = 0; i < 2; i++) {
        h = ngx_http_symbolicate_fetch_header(r, &names[i], NULL);

        if (h && h->value.len && h->value.len <= SYM_RPC_REFERENCE_MAX) {
            return ngx_http_symbolicate_fetch_keep(fetch,
                                                   &fetch->outcome.reference,
                                                   h->value.data,
                                                   h->value.len);
        }
    }

    return NGX_OK;
}


void
ngx_http_symbolicate_fetch_keep_age(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    u_char           *p;
    size_t            len;
    ngx_int_t         seconds;
    ngx_table_elt_t  *h;

    static ngx_str_t  name = ngx_string("Cache-Control");
    static ngx_str_t  word = ngx_string("max-age=");

    fetch->max_age = -1;
    h = ngx_http_symbolicate_fetch_header(r, &name, NULL);

    if (h == NULL) {
        return;
    }

    p = ngx_strnstr(h->value.data, (char *) word.data, h->value.len);

    if (p == NULL) {
        return;
    }

    p += word.len;

    for (len = 0; p + len < h->value.data + h->value.len; len++) {
        if (p[len] < '0' || p[len] > '9') {
            break;
        }
    }

    seconds = ngx_atoi(p, len);

    if (seconds != NGX_ERROR) {
        fetch->max_age = seconds;
    }
}


ngx_int_t
ngx_http_symbolicate_fetch_host(ngx_str_t *location, ngx_str_t *host,
    ngx_str_t *path)
{
    u_char  *p, *end;
    size_t   scheme;

    end = location->data + location->len;

    if (location->len > 8
        && ngx_strncasecmp(location->data, (u_char *) "https://", 8) == 0)
    {
        scheme = 8;

    } else if (location->len > 7
               && ngx_strncasecmp(location->data, (u_char *) "http://", 7)
                  == 0)
    {
        scheme = 7;

    } else {
        return NGX_DECLINED;
    }

    host->data = location->data + scheme;

    for (p = host->data; p < end && *p != '/'; p++) {
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z')
            && !(*p >= '0' && *p <= '9') && *p != '-' && *p != '.'
            && *p != '_' && *p != ':' && *p != '[' && *p != ']')
        {
            return NGX_DECLINED;
        }
    }

    host->len = p - host->data;

    if (path) {
        path->data = p;
        path->len = end - p;
    }

    return host->len ? NGX_OK : NGX_DECLINED;
}


/*
 * Redirects within the source's own location are followed, too: nginx maps
 * redirects of the requested host to it (proxy_redirect).
 */
ngx_int_t
ngx_http_symbolicate_fetch_lead(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *uri, ngx_str_t *path)
{
    ngx_str_t                         host, *own;
    ngx_uint_t                        i;
    ngx_http_symbolicate_redirect_t  *redirects;

    own = &fetch->source->uri;

    if (fetch->leads.len > own->len
        && ngx_strncmp(fetch->leads.data, own->data, own->len) == 0)
    {
        *uri = *own;
        path->data = fetch->leads.data + own->len;
        path->len = fetch->leads.len - own->len;

        return NGX_OK;
    }

    if (fetch->source->redirects == NULL
        || ngx_http_symbolicate_fetch_host(&fetch->leads, &host, path)
           != NGX_OK
        || path->len < 2)
    {
        return NGX_DECLINED;
    }

    path->data++;
    path->len--;

    redirects = fetch->source->redirects->elts;

    for (i = 0; i < fetch->source->redirects->nelts; i++) {
        if (redirects[i].host.len == host.len
            && ngx_strncasecmp(redirects[i].host.data, host.data, host.len)
               == 0)
        {
            *uri = redirects[i].uri;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}
