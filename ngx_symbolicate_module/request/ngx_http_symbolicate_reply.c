
/*
 * ngx_http_symbolicate_reply.c - methods, preflight, errors.
 *
 * Answers that need no symbols; the texts equal those of Mozilla's service.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_reply.h"


static ngx_int_t ngx_http_symbolicate_options(ngx_http_request_t *r,
    ngx_str_t *names, ngx_uint_t cors);
static ngx_int_t ngx_http_symbolicate_empty(ngx_http_request_t *r);


ngx_table_elt_t *
ngx_http_symbolicate_find_header(ngx_http_request_t *r, const char *name)
{
    size_t            len;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);
    part = &r->headers_in.headers.part;

    for ( ; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len == len
                && ngx_strncasecmp(h[i].key.data, (u_char *) name, len) == 0)
            {
                return &h[i];
            }
        }
    }

    return NULL;
}


sym_str_t
ngx_http_symbolicate_header(void *request, const char *name)
{
    ngx_table_elt_t  *h;

    h = ngx_http_symbolicate_find_header(request, name);

    return h ? sym_str((char *) h->value.data, h->value.len)
             : sym_str(NULL, 0);
}


ngx_int_t
ngx_http_symbolicate_add_header(ngx_http_request_t *r, const char *name,
    const char *value, size_t len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) name;
    h->key.len = ngx_strlen(name);
    h->value.data = (u_char *) value;
    h->value.len = len;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_method(ngx_http_request_t *r, ngx_uint_t methods,
    ngx_uint_t cors)
{
    size_t                            i;
    ngx_str_t                         names;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    static const struct {
        ngx_uint_t   method;
        ngx_str_t    name;
    } served[] = {
        { NGX_HTTP_GET, ngx_string("GET, ") },
        { NGX_HTTP_HEAD, ngx_string("HEAD, ") },
        { NGX_HTTP_POST, ngx_string("POST, ") },
        { NGX_HTTP_PUT, ngx_string("PUT, ") },
        { NGX_HTTP_DELETE, ngx_string("DELETE, ") }
    };

    if (r->method & methods) {
        return NGX_DECLINED;
    }

    names.len = 0;
    names.data = ngx_pnalloc(r->pool,
                             sizeof("GET, HEAD, POST, PUT, DELETE, OPTIONS"));
    if (names.data == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
        if (methods & served[i].method) {
            ngx_memcpy(names.data + names.len, served[i].name.data,
                       served[i].name.len);
            names.len += served[i].name.len;
        }
    }

    names.len -= sizeof(", ") - 1;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->api == NULL || !slcf->api->is_same_site) {

        if (r->method == NGX_HTTP_OPTIONS) {
            return ngx_http_symbolicate_options(r, &names, cors);
        }

        if (r->method == NGX_HTTP_UNKNOWN) {
            return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                                   SYM_STR("Bad request"),
                                                   "Invalid HTTP method");
        }

        ngx_memcpy(names.data + names.len, ", OPTIONS",
                   sizeof(", OPTIONS") - 1);
        names.len += sizeof(", OPTIONS") - 1;
    }

    if (ngx_http_symbolicate_add_header(r, "Allow", (char *) names.data,
                                        names.len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_ALLOWED,
                                           SYM_STR("405 Method Not Allowed"),
                                           NULL);
}


static ngx_int_t
ngx_http_symbolicate_options(ngx_http_request_t *r, ngx_str_t *names,
    ngx_uint_t cors)
{
    ngx_str_t         any, *requested;
    ngx_table_elt_t  *h;

    if (!cors
        || ngx_http_symbolicate_find_header(r, "Origin") == NULL
        || ngx_http_symbolicate_find_header(r, "Access-Control-Request-Method")
           == NULL)
    {
        if (ngx_http_symbolicate_add_header(r, "Allow", (char *) names->data,
                                            names->len)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        return ngx_http_symbolicate_empty(r);
    }

    /* a preflight request; filter.c adds the headers of every answer */

    ngx_str_set(&any, "*");
    h = ngx_http_symbolicate_find_header(r, "Access-Control-Request-Headers");
    requested = h ? &h->value : &any;

    if (ngx_http_symbolicate_add_header(r, "Access-Control-Allow-Methods",
                                        (char *) names->data, names->len)
            != NGX_OK
        || ngx_http_symbolicate_add_header(r, "Access-Control-Allow-Headers",
                                           (char *) requested->data,
                                           requested->len)
            != NGX_OK
        || ngx_http_symbolicate_add_header(r, "Access-Control-Max-Age",
                                           "86400", 5)
            != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_empty(r);
}


/* Status 200 without a body. */
static ngx_int_t
ngx_http_symbolicate_empty(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = 0;
    r->header_only = 1;

    return ngx_http_send_header(r);
}


void
ngx_http_symbolicate_name_type(ngx_http_request_t *r, const char *type)
{
    size_t       len;
    const char  *end;

    len = ngx_strlen(type);
    end = memchr(type, ';', len);

    r->headers_out.content_type.data = (u_char *) type;
    r->headers_out.content_type.len = len;
    r->headers_out.content_type_len = end ? (size_t) (end - type) : len;
}


void
ngx_http_symbolicate_set_type(ngx_http_request_t *r, const char *type,
    off_t length)
{
    ngx_http_clear_content_length(r);

    ngx_http_symbolicate_name_type(r, type);

    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.charset.len = 0;
    r->headers_out.content_length_n = length;
}


ngx_chain_t *
ngx_http_symbolicate_body_begin(ngx_http_request_t *r, size_t size,
    sym_out_t *out)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    b = ngx_create_temp_buf(r->pool, size);
    cl = ngx_alloc_chain_link(r->pool);

    if (b == NULL || cl == NULL) {
        return NULL;
    }

    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    cl->buf = b;
    cl->next = NULL;

    *out = sym_out_fixed((char *) b->pos, size);

    return cl;
}


ngx_int_t
ngx_http_symbolicate_body_end(ngx_http_request_t *r, ngx_chain_t *body,
    sym_out_t *out)
{
    if (out->failed) {
        ngx_log_error(NGX_LOG_ALERT, r->connection->log, 0,
                      "symbolicate: an answer is larger than it can be");
        return NGX_ERROR;
    }

    body->buf->last = (u_char *) out->pos;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_base(ngx_http_request_t *r, size_t len, ngx_str_t *base)
{
    ngx_str_t  host, scheme;

    host = r->headers_in.host ? r->headers_in.host->value
                              : r->headers_in.server;

    ngx_str_set(&scheme, "http");

#if (NGX_HTTP_SSL)
    if (r->connection->ssl) {
        ngx_str_set(&scheme, "https");
    }
#endif

    base->data = ngx_pnalloc(r->pool, scheme.len + sizeof("://") - 1 + host.len
                                      + len);
    if (base->data == NULL) {
        return NGX_ERROR;
    }

    base->len = ngx_sprintf(base->data, "%V://%V%*s", &scheme, &host, len,
                            r->uri.data)
                - base->data;

    return NGX_OK;
}


static bool
ngx_http_symbolicate_growing_more(sym_out_t *out, size_t need)
{
    ngx_buf_t                       *b;
    ngx_chain_t                     *cl;
    ngx_http_symbolicate_growing_t  *growing;

    growing = out->ctx;

    b = ngx_create_temp_buf(growing->request->pool,
                            ngx_max(need, growing->size));
    cl = ngx_alloc_chain_link(growing->request->pool);

    if (b == NULL || cl == NULL) {
        return false;
    }

    cl->buf = b;
    cl->next = NULL;

    if (growing->last) {
        growing->last->buf->last = (u_char *) out->pos;
        out->before += growing->last->buf->last - growing->last->buf->pos;
        growing->last->next = cl;

    } else {
        growing->first = cl;
    }

    growing->last = cl;

    out->pos = (char *) b->pos;
    out->end = (char *) b->end;

    return true;
}


void
ngx_http_symbolicate_growing_begin(ngx_http_symbolicate_growing_t *growing,
    ngx_http_request_t *r, size_t size, sym_out_t *out)
{
    ngx_memzero(growing, sizeof(ngx_http_symbolicate_growing_t));
    ngx_memzero(out, sizeof(sym_out_t));

    growing->request = r;
    growing->size = size;

    out->more = ngx_http_symbolicate_growing_more;
    out->ctx = growing;
}


ngx_chain_t *
ngx_http_symbolicate_growing_end(ngx_http_symbolicate_growing_t *growing,
    sym_out_t *out)
{
    ngx_buf_t  *b;

    if (out->failed || growing->last == NULL) {
        return NULL;
    }

    b = growing->last->buf;
    b->last = (u_char *) out->pos;
    b->last_buf = (growing->request == growing->request->main) ? 1 : 0;
    b->last_in_chain = 1;

    return growing->first;
}


ngx_chain_t *
ngx_http_symbolicate_error_body(ngx_http_request_t *r, ngx_uint_t status,
    sym_str_t title, const char *description, const char **type)
{
    sym_str_t                         text;
    sym_out_t                         out;
    ngx_chain_t                      *body;
    sym_api_error_t                   error;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    text = description ? sym_cstr(description) : SYM_STR("");

    /* a byte may become \u0000; the braces and keys take less than 64 */

    body = ngx_http_symbolicate_body_begin(r, (title.len + text.len
                                               + r->method_name.len
                                               + r->uri.len) * 6 + 64,
                                           &out);
    if (body == NULL) {
        return NULL;
    }

    *type = NULL;

    if (slcf->api && slcf->api->write_error) {
        error.status = (unsigned) status;
        error.title = title;
        error.description = text;
        error.method = sym_str((char *) r->method_name.data,
                               r->method_name.len);
        error.path = sym_str((char *) r->uri.data, r->uri.len);

        *type = slcf->api->write_error(&error, &out);
    }

    if (*type) {
        return ngx_http_symbolicate_body_end(r, body, &out) == NGX_OK
               ? body : NULL;
    }

    *type = NGX_SYMBOLICATE_JSON;

    sym_out_raw(&out, SYM_STR("{\"title\": "));
    sym_out_string(&out, title);

    if (text.len) {
        sym_out_raw(&out, SYM_STR(", \"description\": "));
        sym_out_string(&out, text);
    }

    sym_out_raw(&out, SYM_STR("}"));

    return ngx_http_symbolicate_body_end(r, body, &out) == NGX_OK ? body : NULL;
}


ngx_int_t
ngx_http_symbolicate_send_error(ngx_http_request_t *r, ngx_uint_t status,
    sym_str_t title, const char *description)
{
    const char   *type;
    ngx_chain_t  *body;

    body = ngx_http_symbolicate_error_body(r, status, title, description,
                                           &type);

    if (body == NULL
        || (status == NGX_HTTP_SERVICE_UNAVAILABLE
            && ngx_http_symbolicate_add_header(r, "Retry-After", "5", 1)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, status, type, body);
}


ngx_int_t
ngx_http_symbolicate_send_plain(ngx_http_request_t *r, ngx_uint_t status,
    const char *text)
{
    size_t        len;
    sym_out_t     out;
    ngx_chain_t  *body;

    len = ngx_strlen(text);
    body = ngx_http_symbolicate_body_begin(r, len, &out);

    if (body == NULL) {
        return NGX_ERROR;
    }

    sym_out_raw(&out, sym_str(text, len));

    if (ngx_http_symbolicate_body_end(r, body, &out) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, status,
                                          "text/plain; charset=utf-8", body);
}


ngx_int_t
ngx_http_symbolicate_send_body(ngx_http_request_t *r, ngx_uint_t status,
    const char *type, ngx_chain_t *body)
{
    off_t         len;
    ngx_int_t     rc;
    ngx_chain_t  *cl;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_symbolicate_add_header(r, "Vary", "Accept", 6) != NGX_OK) {
        return NGX_ERROR;
    }

    len = 0;

    for (cl = body; cl; cl = cl->next) {
        len += cl->buf->last - cl->buf->pos;
    }

    r->headers_out.status = status;
    ngx_http_symbolicate_set_type(r, type, len);

    if (len == 0) {
        ngx_str_null(&r->headers_out.content_type);
        r->header_only = 1;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, body);
}


ngx_int_t
ngx_http_symbolicate_send_bytes(ngx_http_request_t *r, ngx_str_t *bytes)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t   out;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = bytes->data;
    b->last = bytes->data + bytes->len;
    b->memory = 1;
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
