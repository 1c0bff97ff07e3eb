
/*
 * ngx_http_symbolicate_proxy_names.c - names and ids of a module.
 *
 * A client that knows only a code file and a code id is redirected to the path
 * with the debug id, or gets all names and ids.  Records of the store have
 * them; otherwise, the loader reads them from the executable.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "request/ngx_http_symbolicate_proxy_names.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "store/ngx_http_symbolicate_store.h"


ngx_uint_t
ngx_http_symbolicate_proxy_is_try(ngx_array_t *sources, ngx_str_t *name)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *source;

    source = sources->elts;

    for (i = 0; i < sources->nelts; i++) {

        if (source[i].name.len + sizeof(".try") - 1 == name->len
            && ngx_strncmp(name->data, source[i].name.data, source[i].name.len)
               == 0
            && ngx_strncmp(name->data + source[i].name.len, ".try",
                           sizeof(".try") - 1)
               == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* Runs under the guard of the store. */
static sym_status_t
ngx_http_symbolicate_proxy_read(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_proxy_t *proxy = data;

    ngx_uint_t                        i;
    ngx_array_t                      *sources;
    sym_status_t                      rc, found;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(proxy->task.request,
                                        ngx_http_symbolicate_module);

    sources = slcf->policy.sources;
    source = sources->elts;
    found = SYM_NOT_FOUND;

    for (i = 0; i < sources->nelts; i++) {

        if (ngx_http_symbolicate_proxy_is_try(sources, &source[i].name)
            != proxy->is_try)
        {
            continue;
        }

        rc = sym_file_names_find(snapshot,
                                 sym_str((char *) source[i].name.data,
                                         source[i].name.len),
                                 &proxy->file, proxy->names, err);

        if (rc == SYM_OK) {
            found = SYM_OK;

        } else if (rc != SYM_NOT_FOUND) {
            return rc;
        }
    }

    return found;
}


ngx_int_t
ngx_http_symbolicate_proxy_look(ngx_http_symbolicate_proxy_t *proxy)
{
    const char                       *reason;
    sym_error_t                       err;
    ngx_http_request_t               *r;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = proxy->task.request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    proxy->names = ngx_pcalloc(r->pool, sizeof(sym_file_names_t));
    if (proxy->names == NULL) {
        return NGX_ERROR;
    }

    if (ngx_http_symbolicate_store_read(slcf->store,
                                        ngx_http_symbolicate_proxy_read, proxy,
                                        r->connection->log, &err, &reason)
        == SYM_OK)
    {
        return NGX_OK;
    }

    /* without records, sources may still have the executable */

    proxy->names = NULL;

    return NGX_DECLINED;
}


/* Takes the names from the file that the loader has made. */
static ngx_int_t
ngx_http_symbolicate_proxy_made_names(ngx_http_symbolicate_proxy_t *proxy)
{
    ssize_t  n;
    char     text[SYM_NAME_MAX + SYM_ID_TEXT_MAX + 1];

    if (proxy->made->length > (off_t) sizeof(text)) {
        return NGX_ERROR;
    }

    n = pread(proxy->made->fd, text, proxy->made->length, 0);

    proxy->names = ngx_pcalloc(proxy->task.request->pool,
                               sizeof(sym_file_names_t));

    if (n != (ssize_t) proxy->made->length || proxy->names == NULL
        || !sym_file_names_read(sym_str(text, n), &proxy->file, proxy->names))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * Redirects the client from a path with a code id to the one with the debug id.
 */
static ngx_int_t
ngx_http_symbolicate_proxy_lead(ngx_http_symbolicate_proxy_t *proxy)
{
    u_char              *p;
    size_t               i, len;
    ngx_str_t            base;
    sym_str_t            parts[3];
    ngx_table_elt_t     *h;
    ngx_http_request_t  *r;

    r = proxy->task.request;

    base.data = r->uri.data;
    base.len = (u_char *) proxy->path.data - r->uri.data
               + proxy->file.prefix;

    parts[0] = proxy->names->debug_file;
    parts[1] = proxy->names->debug_id;
    parts[2] = proxy->file.file;

    len = 3 * (base.len + parts[0].len + parts[1].len + parts[2].len)
          + r->args.len + 3;

    h = ngx_list_push(&r->headers_out.headers);
    p = ngx_pnalloc(r->pool, len);

    if (h == NULL || p == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
    ngx_str_set(&h->key, "Location");

    h->value.data = p;
    p = (u_char *) ngx_escape_uri(p, base.data, base.len, NGX_ESCAPE_URI);

    for (i = 0; i < 3; i++) {

        if (i) {
            *p++ = '/';
        }

        p = (u_char *) ngx_escape_uri(p, (u_char *) parts[i].data,
                                      parts[i].len, NGX_ESCAPE_URI);
    }

    if (r->args.len) {
        *p++ = '?';
        p = ngx_cpymem(p, r->args.data, r->args.len);
    }

    h->value.len = p - h->value.data;

    r->headers_out.location = h;
    r->headers_out.status = NGX_HTTP_MOVED_TEMPORARILY;
    r->headers_out.content_length_n = 0;
    r->header_only = 1;

    return ngx_http_send_header(r) == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* Sends all names and ids as JSON. */
static ngx_int_t
ngx_http_symbolicate_proxy_show(ngx_http_symbolicate_proxy_t *proxy)
{
    size_t                           len;
    ngx_int_t                        rc;
    ngx_str_t                        base;
    sym_out_t                        out;
    ngx_chain_t                     *body;
    ngx_http_request_t              *r;
    const sym_api_route_t           *route;
    ngx_http_symbolicate_growing_t   growing;

    r = proxy->task.request;
    route = proxy->task.ctx->route;

    len = (u_char *) proxy->path.data - r->uri.data
          - ngx_strlen(route->suffix);

    if (ngx_http_symbolicate_base(r, len, &base) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_growing_begin(&growing, r, 1024, &out);

    route->write_names(proxy->names, sym_str((char *) base.data, base.len),
                       proxy->is_try, &out);

    body = ngx_http_symbolicate_growing_end(&growing, &out);

    if (body == NULL
        || ngx_http_symbolicate_proxy_cached(r, "no-cache") != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = ngx_http_symbolicate_send_body(r, NGX_HTTP_OK, NGX_SYMBOLICATE_JSON,
                                        body);

    return rc == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_proxy_send_names(ngx_http_symbolicate_proxy_t *proxy)
{
    if (proxy->names == NULL
        && ngx_http_symbolicate_proxy_made_names(proxy) != NGX_OK)
    {
        return NGX_ERROR;
    }

    proxy->task.header_sent = 1;

    return proxy->task.ctx->route->write_names
           ? ngx_http_symbolicate_proxy_show(proxy)
           : ngx_http_symbolicate_proxy_lead(proxy);
}
