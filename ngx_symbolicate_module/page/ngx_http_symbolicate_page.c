
/*
 * ngx_http_symbolicate_page.c - the web page that is built into the module.
 *
 * Its files are in page/; page/pack.sh converts them to arrays, plain and
 * compressed by gzip.  All links between them are relative, so the page works
 * below any prefix.  settings.json contains the paths of the APIs; it is made
 * when nginx reads its configuration.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "page/ngx_http_symbolicate_page.h"
#include "request/ngx_http_symbolicate_reply.h"


typedef struct {
    ngx_str_t    name;
    ngx_str_t    type;
    ngx_str_t    etag;
    ngx_str_t    body;
} ngx_http_symbolicate_page_file_t;


#include "ngx_symbolicate_page.h"


typedef struct {
    const char  *name;
    const char  *value;
} ngx_http_symbolicate_page_header_t;

/*
 * Even if a symbol's name injects a script, it cannot run: the page may load
 * only its own files, and connect only to its own server.
 */
static ngx_http_symbolicate_page_header_t  ngx_http_symbolicate_page_headers[] =
{
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; "
      "img-src 'self'; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'; "
      "require-trusted-types-for 'script'" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cache-Control", "no-cache" },
    { "Vary", "Accept-Encoding" },
    { NULL, NULL }
};


static ngx_int_t ngx_http_symbolicate_page_redirect(ngx_http_request_t *r,
    ngx_str_t *base);
static ngx_http_symbolicate_page_file_t *ngx_http_symbolicate_page_find(
    ngx_http_symbolicate_page_file_t *files, ngx_str_t *name);
static ngx_uint_t ngx_http_symbolicate_page_packs(ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_page_send(ngx_http_request_t *r,
    ngx_str_t *type, ngx_str_t *etag, ngx_str_t *body, ngx_uint_t packed);


ngx_int_t
ngx_http_symbolicate_page_handler(ngx_http_request_t *r)
{
    static ngx_str_t  index = ngx_string("index.html");
    static ngx_str_t  json = ngx_string("application/json");

    ngx_int_t                            rc;
    ngx_str_t                            base, name;
    ngx_uint_t                           packed;
    ngx_http_symbolicate_loc_conf_t     *slcf;
    ngx_http_symbolicate_page_file_t    *file;
    ngx_http_symbolicate_page_header_t  *h;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    for (h = ngx_http_symbolicate_page_headers; h->name; h++) {

        if (ngx_http_symbolicate_add_header(r, h->name, h->value,
                                            ngx_strlen(h->value))
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    rc = ngx_http_symbolicate_method(r, NGX_HTTP_GET|NGX_HTTP_HEAD, 0);
    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    base.data = (u_char *) slcf->place.base.data;
    base.len = slcf->place.base.len;

    if (r->uri.len == base.len) {
        return ngx_http_symbolicate_page_redirect(r, &base);
    }

    name.data = r->uri.data + base.len + 1;
    name.len = r->uri.len - base.len - 1;

    if (r->uri.data[base.len] == '/') {

        if (name.len == 0) {
            name = index;
        }

        if (name.len == slcf->page->name.len
            && ngx_strncmp(name.data, slcf->page->name.data, name.len) == 0)
        {
            return ngx_http_symbolicate_page_send(r, &json, &slcf->page->etag,
                                                  &slcf->page->settings, 0);
        }

        packed = ngx_http_symbolicate_page_packs(r);

        file = ngx_http_symbolicate_page_find(
                                     packed ? ngx_http_symbolicate_page_packed
                                            : ngx_http_symbolicate_page_plain,
                                     &name);
        if (file) {
            return ngx_http_symbolicate_page_send(r, &file->type, &file->etag,
                                                  &file->body, packed);
        }
    }

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                           SYM_STR("404 Not Found"), NULL);
}


/*
 * Links are relative to the folder, so its path must end in a slash.  The
 * redirect is relative, too, because a proxy may serve it under another prefix.
 */
static ngx_int_t
ngx_http_symbolicate_page_redirect(ngx_http_request_t *r, ngx_str_t *base)
{
    u_char           *p, *last;
    size_t            len;
    uintptr_t         escape;
    ngx_table_elt_t  *location;

    last = base->data + base->len;

    for (p = last; p > base->data && p[-1] != '/'; p--) { /* void */ }

    len = last - p;
    escape = 2 * ngx_escape_uri(NULL, p, len, NGX_ESCAPE_URI_COMPONENT);

    location = ngx_list_push(&r->headers_out.headers);
    if (location == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(location, sizeof(ngx_table_elt_t));

    location->value.data = ngx_pnalloc(r->pool, len + escape + 3);
    if (location->value.data == NULL) {
        return NGX_ERROR;
    }

    location->hash = 1;
    ngx_str_set(&location->key, "Location");

    last = ngx_cpymem(location->value.data, "./", 2);
    last = (u_char *) ngx_escape_uri(last, p, len, NGX_ESCAPE_URI_COMPONENT);
    *last++ = '/';

    location->value.len = last - location->value.data;

    r->headers_out.location = location;

    return NGX_HTTP_MOVED_PERMANENTLY;
}


static ngx_http_symbolicate_page_file_t *
ngx_http_symbolicate_page_find(ngx_http_symbolicate_page_file_t *files,
    ngx_str_t *name)
{
    for ( ; files->name.len; files++) {

        if (files->name.len == name->len
            && ngx_strncmp(files->name.data, name->data, name->len) == 0)
        {
            return files;
        }
    }

    return NULL;
}


/* Whether the client accepts gzip, and the gzip_* directives allow it. */
static ngx_uint_t
ngx_http_symbolicate_page_packs(ngx_http_request_t *r)
{
#if (NGX_HTTP_GZIP)
    return ngx_http_gzip_ok(r) == NGX_OK;
#else
    return 0;
#endif
}


/* nginx's own filter changes it to 304 if the client has this ETag. */
static ngx_int_t
ngx_http_symbolicate_page_send(ngx_http_request_t *r, ngx_str_t *type,
    ngx_str_t *etag, ngx_str_t *body, ngx_uint_t packed)
{
    ngx_table_elt_t  *h;

    if (ngx_http_symbolicate_add_header(r, "ETag", (char *) etag->data,
                                        etag->len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    h = r->headers_out.headers.last->elts;
    r->headers_out.etag = &h[r->headers_out.headers.last->nelts - 1];

    if (packed) {
        if (ngx_http_symbolicate_add_header(r, "Content-Encoding", "gzip", 4)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        h = r->headers_out.headers.last->elts;
        r->headers_out.content_encoding =
                               &h[r->headers_out.headers.last->nelts - 1];
    }

    r->headers_out.status = NGX_HTTP_OK;
    ngx_http_symbolicate_set_type(r, (char *) type->data, body->len);

    return ngx_http_symbolicate_send_bytes(r, body);
}
