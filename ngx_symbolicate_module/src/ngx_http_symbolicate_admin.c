
/*
 * ngx_http_symbolicate_admin.c - paths of symbolicate_admin.
 *
 * Who may use them is nginx's business (allow, auth_basic, ssl_verify_client).
 * A browser's script may not: they have no CORS headers.
 */


#include "ngx_http_symbolicate_module.h"


typedef struct {
    ngx_str_t    name;
    ngx_uint_t   method;
    const char  *method_name;
    ngx_uint_t   has_key;         /* NAME/ID stands behind it */
    ngx_int_t  (*handler)(ngx_http_request_t *r, sym_module_key_t *key);
} ngx_http_symbolicate_admin_page_t;


static ngx_http_symbolicate_admin_page_t  ngx_http_symbolicate_admin_pages[] = {

    { ngx_string("/cache"), NGX_HTTP_DELETE, "DELETE", 1,
      ngx_http_symbolicate_purge_one },

    { ngx_string("/events"), NGX_HTTP_POST, "POST", 0,
      ngx_http_symbolicate_events },

    { ngx_string("/explain"), NGX_HTTP_GET, "GET", 1,
      ngx_http_symbolicate_explain },

    { ngx_null_string, 0, NULL, 0, NULL }
};


/* "/NAME/ID" and nothing else. */
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

    key->scope = SYM_STR("");
    key->name = sym_str((char *) name, slash - name);
    key->id = sym_str((char *) slash + 1, end - slash - 1);

    return 1;
}


/* The page of a request, with its key as sent; NULL: none. */
static ngx_http_symbolicate_admin_page_t *
ngx_http_symbolicate_admin_find(ngx_http_request_t *r, sym_module_key_t *key)
{
    ngx_str_t                           rest;
    ngx_http_symbolicate_loc_conf_t    *slcf;
    ngx_http_symbolicate_admin_page_t  *page;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (slcf->admin != 1 || slcf->dialect == NGX_CONF_UNSET) {
        return NULL;
    }

    for (page = ngx_http_symbolicate_admin_pages; page->name.len; page++) {

        if (r->uri.len < slcf->base.len + page->name.len
            || ngx_strncmp(r->uri.data + slcf->base.len, page->name.data,
                           page->name.len)
               != 0)
        {
            continue;
        }

        rest.len = r->uri.len - slcf->base.len - page->name.len;
        rest.data = r->uri.data + r->uri.len - rest.len;

        if (page->has_key ? ngx_http_symbolicate_admin_split(&rest, key)
                          : rest.len == 0)
        {
            return page;
        }
    }

    return NULL;
}


ngx_uint_t
ngx_http_symbolicate_is_admin(ngx_http_request_t *r)
{
    sym_module_key_t  key;

    return ngx_http_symbolicate_admin_find(r, &key) != NULL;
}


ngx_int_t
ngx_http_symbolicate_admin(ngx_http_request_t *r)
{
    char                                id[SYM_ID_MAX];
    ngx_int_t                           rc;
    sym_module_key_t                    key;
    ngx_http_symbolicate_admin_page_t  *page;

    page = ngx_http_symbolicate_admin_find(r, &key);

    if (page == NULL) {
        return NGX_DECLINED;
    }

    rc = ngx_http_symbolicate_method(r, page->method, page->method_name);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (!page->has_key) {
        return page->handler(r, NULL);
    }

    key.id = sym_str(id, sym_debug_id_canonical(key.id, id));

    if (key.id.len == 0 || !sym_module_name_ok(key.name)) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                   SYM_STR("400 Bad Request"),
                                   "the path must end in the name of a debug "
                                   "file and its debug id");
    }

    return page->handler(r, &key);
}
