
/*
 * ngx_http_symbolicate_page_conf.c - the directive "symbolicate_page": paths of
 * the APIs that the page uses.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <ngx_md5.h>

#include "json/out.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_directives.h"
#include "conf/ngx_http_symbolicate_page_conf.h"


#define NGX_SYMBOLICATE_PAGE_URI_MAX  1024


typedef struct {
    const char  *option;          /* "api=" */
    const char  *value;           /* default; NULL: the page omits that part */
} ngx_http_symbolicate_page_place_t;

static ngx_http_symbolicate_page_place_t  ngx_http_symbolicate_page_places[] = {
    { "api=", "/symbolicate/v5" },
    { "sentry=", NULL },
    { "admin=", NULL },
    { "metrics=", NULL }
};

#define NGX_SYMBOLICATE_PAGE_PLACES                                           \
    (sizeof(ngx_http_symbolicate_page_places)                                 \
     / sizeof(ngx_http_symbolicate_page_places[0]))


static ngx_uint_t ngx_http_symbolicate_page_uri_ok(ngx_str_t *uri);
static ngx_int_t ngx_http_symbolicate_page_settings(ngx_conf_t *cf,
    ngx_http_symbolicate_page_conf_t *page, ngx_str_t *uris);


char *
ngx_http_symbolicate_set_web_page(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_symbolicate_loc_conf_t  *slcf = conf;

    char                              *rv;
    size_t                             len;
    ngx_str_t                         *value, *uri;
    ngx_str_t                          uris[NGX_SYMBOLICATE_PAGE_PLACES];
    ngx_uint_t                         i, n;
    ngx_http_core_loc_conf_t          *clcf;
    ngx_http_symbolicate_page_conf_t  *page;

    rv = ngx_http_symbolicate_claim(cf, slcf, slcf->page != NULL, cmd->post);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (!ngx_http_symbolicate_set_base(slcf, clcf) || clcf->exact_match) {
        return "needs a location that is given by the beginning of a path: "
               "the page consists of several files";
    }

    for (i = 0; i < NGX_SYMBOLICATE_PAGE_PLACES; i++) {
        uris[i].data = (u_char *) ngx_http_symbolicate_page_places[i].value;
        uris[i].len = uris[i].data ? ngx_strlen(uris[i].data) : 0;
    }

    value = cf->args->elts;

    for (n = 1; n < cf->args->nelts; n++) {

        for (i = 0; i < NGX_SYMBOLICATE_PAGE_PLACES; i++) {
            len = ngx_strlen(ngx_http_symbolicate_page_places[i].option);

            if (value[n].len >= len
                && ngx_strncmp(value[n].data,
                               ngx_http_symbolicate_page_places[i].option, len)
                   == 0)
            {
                break;
            }
        }

        if (i == NGX_SYMBOLICATE_PAGE_PLACES) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "unknown parameter \"%V\" in "
                               "\"symbolicate_page\": it knows \"api=URI\", "
                               "\"sentry=URI\", \"admin=URI\" and "
                               "\"metrics=URI\"", &value[n]);
            return NGX_CONF_ERROR;
        }

        uri = &uris[i];
        uri->data = value[n].data + len;
        uri->len = value[n].len - len;

        if (!ngx_http_symbolicate_page_uri_ok(uri)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" in \"symbolicate_page\" must be a path "
                               "of this server, such as \"/admin\", or "
                               "relative to the page, such as \"../admin\"",
                               &value[n]);
            return NGX_CONF_ERROR;
        }
    }

    page = ngx_pcalloc(cf->pool, sizeof(ngx_http_symbolicate_page_conf_t));

    if (page == NULL
        || ngx_http_symbolicate_page_settings(cf, page, uris) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    slcf->page = page;

    return NGX_CONF_OK;
}


/*
   Accepts an absolute path, or one that begins with "./" or "../"; two slashes
   at the start would begin a host.
 */
static ngx_uint_t
ngx_http_symbolicate_page_uri_ok(ngx_str_t *uri)
{
    ngx_uint_t  i;

    if (uri->len == 0 || uri->len > NGX_SYMBOLICATE_PAGE_URI_MAX) {
        return 0;
    }

    for (i = 0; i < uri->len; i++) {
        if (uri->data[i] <= ' ' || uri->data[i] == '\\'
            || uri->data[i] == '?' || uri->data[i] == '#'
            || uri->data[i] >= 0x7f)
        {
            return 0;
        }
    }

    /* must be terminated by NUL */

    if (uri->data[0] == '/') {
        return uri->data[1] != '/';
    }

    return ngx_strncmp(uri->data, "./", 2) == 0
           || ngx_strncmp(uri->data, "../", 3) == 0;
}


/* {"version": "0.1.0", "api": "/symbolicate/v5", "sentry": null, ...} */
static ngx_int_t
ngx_http_symbolicate_page_settings(ngx_conf_t *cf,
    ngx_http_symbolicate_page_conf_t *page, ngx_str_t *uris)
{
    size_t       size;
    u_char       digest[16], *p;
    ngx_md5_t    md5;
    sym_out_t    out;
    ngx_uint_t   i;
    const char  *option;

    /* an escaped byte may take six */

    size = 64 + NGX_SYMBOLICATE_PAGE_PLACES * 32;

    for (i = 0; i < NGX_SYMBOLICATE_PAGE_PLACES; i++) {
        size += 6 * uris[i].len;
    }

    page->settings.data = ngx_pnalloc(cf->pool, size);
    page->etag.data = ngx_pnalloc(cf->pool, 2 * sizeof(digest) + 2);

    if (page->settings.data == NULL || page->etag.data == NULL) {
        return NGX_ERROR;
    }

    out = sym_out_fixed((char *) page->settings.data, size);

    sym_out_raw(&out, SYM_STR("{\"version\": \"" NGX_SYMBOLICATE_VERSION "\""));

    for (i = 0; i < NGX_SYMBOLICATE_PAGE_PLACES; i++) {
        option = ngx_http_symbolicate_page_places[i].option;

        sym_out_raw(&out, SYM_STR(", "));
        sym_out_string(&out, sym_str(option, ngx_strlen(option) - 1));
        sym_out_raw(&out, SYM_STR(": "));

        if (uris[i].len) {
            sym_out_string(&out, sym_str((char *) uris[i].data, uris[i].len));

        } else {
            sym_out_raw(&out, SYM_STR("null"));
        }
    }

    sym_out_raw(&out, SYM_STR("}"));

    if (out.failed) {
        return NGX_ERROR;
    }

    page->settings.len = (u_char *) out.pos - page->settings.data;

    ngx_md5_init(&md5);
    ngx_md5_update(&md5, page->settings.data, page->settings.len);
    ngx_md5_final(digest, &md5);

    p = page->etag.data;
    *p++ = '"';
    p = ngx_hex_dump(p, digest, sizeof(digest));
    *p++ = '"';

    page->etag.len = p - page->etag.data;
    ngx_str_set(&page->name, "settings.json");

    return NGX_OK;
}
