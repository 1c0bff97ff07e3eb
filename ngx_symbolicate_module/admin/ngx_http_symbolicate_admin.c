
/*
 * ngx_http_symbolicate_admin.c - paths of symbolicate_admin.
 *
 * nginx controls access to them (allow, auth_basic, ssl_verify_client).
 * Scripts of other sites have no access: there are no CORS headers, and
 * requests from pages of other sites that would change something are refused.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "admin/ngx_http_symbolicate_admin.h"
#include "admin/ngx_http_symbolicate_events.h"
#include "admin/ngx_http_symbolicate_explain.h"
#include "admin/ngx_http_symbolicate_ledger.h"
#include "admin/ngx_http_symbolicate_listing.h"
#include "admin/ngx_http_symbolicate_purge.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_reply.h"


typedef struct {
    ngx_str_t    name;
    ngx_uint_t   method;
    ngx_uint_t   has_key;         /* the path continues with NAME/ID */
    ngx_int_t  (*handler)(ngx_http_request_t *r, sym_module_key_t *key,
                          sym_scopes_t *scopes);
} ngx_http_symbolicate_admin_page_t;


static ngx_http_symbolicate_admin_page_t  ngx_http_symbolicate_admin_pages[] = {

    { ngx_string("/cache"), NGX_HTTP_DELETE, 1,
      ngx_http_symbolicate_purge_one },

    { ngx_string("/events"), NGX_HTTP_POST, 0,
      ngx_http_symbolicate_events },

    { ngx_string("/explain"), NGX_HTTP_GET, 1,
      ngx_http_symbolicate_explain },

    { ngx_string("/missing"), NGX_HTTP_GET, 0,
      ngx_http_symbolicate_ledger },

    { ngx_string("/modules"), NGX_HTTP_GET, 0,
      ngx_http_symbolicate_listing },

    { ngx_null_string, 0, 0, NULL }
};


/* Accepts only "/NAME/ID". */
static ngx_uint_t
ngx_http_symbolicate_admin_split(ngx_str_t *rest, sym_module_key_t *key)
{
    u_char  *name, *slash, *end;

    name = rest->data + 1;
    end = rest->data + rest->len;

    if (rest->len == 0 || rest->data[0] != '/') {
        return 0;
    }

    slash = ngx_strlchr(name, end, '/');

    if (slash == NULL || slash == name || slash + 1 == end
        || ngx_strlchr(slash + 1, end, '/'))
    {
        return 0;
    }

    ngx_memzero(key, sizeof(sym_module_key_t));

    key->scope = SYM_STR("");
    key->name = sym_str((char *) name, slash - name);
    key->id = sym_str((char *) slash + 1, end - slash - 1);

    return 1;
}


/* Finds the page of a request, and the rest of the path. */
static ngx_http_symbolicate_admin_page_t *
ngx_http_symbolicate_admin_page(ngx_http_request_t *r, ngx_str_t *rest)
{
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_admin_page_t  *page;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->admin != 1 || slcf->api == NULL) {
        return NULL;
    }

    for (page = ngx_http_symbolicate_admin_pages; page->name.len; page++) {

        if (r->uri.len < slcf->place.base.len + page->name.len
            || ngx_strncmp(r->uri.data + slcf->place.base.len,
                           page->name.data, page->name.len)
               != 0)
        {
            continue;
        }

        rest->len = r->uri.len - slcf->place.base.len - page->name.len;
        rest->data = r->uri.data + r->uri.len - rest->len;

        if (rest->len == 0 || rest->data[0] == '/') {
            return page;
        }
    }

    return NULL;
}


/* Finds the page of a request, with its key as sent; NULL: none. */
static ngx_http_symbolicate_admin_page_t *
ngx_http_symbolicate_admin_find(ngx_http_request_t *r, sym_module_key_t *key)
{
    ngx_str_t                           rest;
    ngx_http_symbolicate_admin_page_t  *page;

    page = ngx_http_symbolicate_admin_page(r, &rest);

    if (page == NULL
        || !(page->has_key ? ngx_http_symbolicate_admin_split(&rest, key)
                           : rest.len == 0))
    {
        return NULL;
    }

    return page;
}


ngx_uint_t
ngx_http_symbolicate_is_admin(ngx_http_request_t *r)
{
    sym_module_key_t  key;

    return ngx_http_symbolicate_admin_find(r, &key) != NULL;
}


/*
 * A page of another site may send a POST of a simple content type without a
 * preflight (Fetch, 2.2.2), from the address and with the password of the
 * operator whose browser shows the page.  Browsers report where such a request
 * comes from: in Sec-Fetch-Site, older ones in Origin.  Other clients send
 * neither header.
 */
static ngx_uint_t
ngx_http_symbolicate_admin_is_cross_site(ngx_http_request_t *r)
{
    u_char           *host;
    size_t            len;
    ngx_str_t         site;
    ngx_table_elt_t  *h;

    h = ngx_http_symbolicate_find_header(r, "Sec-Fetch-Site");

    if (h) {
        site = h->value;

        return !(site.len == 11 && ngx_strncmp(site.data, "same-origin", 11)
                                   == 0)
               && !(site.len == 4 && ngx_strncmp(site.data, "none", 4) == 0);
    }

    h = ngx_http_symbolicate_find_header(r, "Origin");

    if (h == NULL) {
        return 0;
    }

    host = ngx_strlcasestrn(h->value.data, h->value.data + h->value.len,
                            (u_char *) "://", 3 - 1);

    if (host == NULL || r->headers_in.host == NULL) {
        return 1;
    }

    host += 3;
    len = h->value.data + h->value.len - host;

    return len != r->headers_in.host->value.len
           || ngx_strncasecmp(host, r->headers_in.host->value.data, len) != 0;
}


/*
 * "?source=NAME" selects one of the location's visible sources; without it, all
 * are used.
 */
static ngx_int_t
ngx_http_symbolicate_admin_scopes(ngx_http_request_t *r, sym_scopes_t *scopes)
{
    u_char                           *dst, *src;
    uint32_t                          i;
    ngx_str_t                         value;
    sym_str_t                         scope;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    *scopes = slcf->scopes;

    if (ngx_http_arg(r, (u_char *) "source", 6, &value) != NGX_OK) {
        return NGX_OK;
    }

    dst = ngx_pnalloc(r->pool, value.len);
    if (dst == NULL) {
        return NGX_ERROR;
    }

    src = value.data;
    value.data = dst;
    ngx_unescape_uri(&dst, &src, value.len, 0);

    scope = sym_scope_of_word(sym_str((char *) value.data, dst - value.data));

    for (i = 0; i < slcf->scopes.n; i++) {
        if (sym_str_eq(slcf->scopes.names[i], scope)) {
            scopes->names = &slcf->scopes.names[i];
            scopes->rules = &slcf->scopes.rules[i];
            scopes->n = 1;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


ngx_int_t
ngx_http_symbolicate_admin(ngx_http_request_t *r)
{
    char                                id[SYM_ID_MAX];
    ngx_int_t                           rc;
    ngx_str_t                           rest;
    sym_scopes_t                        scopes;
    sym_code_id_t                       code_id;
    sym_module_key_t                    key;
    ngx_http_symbolicate_admin_page_t  *page;

    page = ngx_http_symbolicate_admin_find(r, &key);

    if (page == NULL) {
        page = ngx_http_symbolicate_admin_page(r, &rest);

        if (page == NULL || !page->has_key) {
            return NGX_DECLINED;
        }

        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                   SYM_STR("404 Not Found"),
                                   "the path must end in /NAME/ID: the name of "
                                   "a debug file and its debug id");
    }

    rc = ngx_http_symbolicate_method(r, page->method, 0);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (page->method != NGX_HTTP_GET
        && ngx_http_symbolicate_admin_is_cross_site(r))
    {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_FORBIDDEN,
                                   SYM_STR("403 Forbidden"),
                                   "a page of another site sent this request");
    }

    if (ngx_http_symbolicate_admin_scopes(r, &scopes) != NGX_OK) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                   SYM_STR("400 Bad Request"),
                                   "this location has no such source");
    }

    if (!page->has_key) {
        return page->handler(r, NULL, &scopes);
    }

    (void) sym_mozilla_code_id(key.name, key.id, &code_id);

    key.code_id = sym_str(code_id.text, code_id.len);
    key.id = sym_str(id, sym_debug_id_canonical(key.id, id));

    if (key.id.len == 0 || !sym_module_name_ok(key.name)) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                   SYM_STR("400 Bad Request"),
                                   "the path must end in the name of a debug "
                                   "file and its debug id");
    }

    return page->handler(r, &key, &scopes);
}
