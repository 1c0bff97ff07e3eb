
/*
 * ngx_http_symbolicate_request_source_headers.c - the headers of a request to a
 * request source.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_range.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_headers.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


#define NGX_SYMBOLICATE_USER_AGENT    "ngx_symbolicate/" NGX_SYMBOLICATE_VERSION


ngx_int_t
ngx_http_symbolicate_request_source_add(
    ngx_http_symbolicate_request_attempt_t *g,
    const char *name, sym_str_t value)
{
    ngx_str_t  text;

    text = ngx_http_symbolicate_request_source_str(value);

    return ngx_http_symbolicate_background_add_header(g->fetch->bg, name,
                                                      &text);
}


/* Makes "Basic ..." from the userinfo of the URL. */
static ngx_int_t
ngx_http_symbolicate_request_source_add_basic(
    ngx_http_symbolicate_request_attempt_t *g)
{
    u_char     *p;
    ngx_str_t   from, to;

    from = ngx_http_symbolicate_request_source_str(g->first.userinfo);

    p = ngx_pnalloc(g->fetch->pool,
                    sizeof("Basic ") + from.len + ngx_base64_encoded_length(
                                                                   from.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    to.data = ngx_cpymem(p, "Basic ", sizeof("Basic ") - 1);
    ngx_encode_base64(&to, &from);

    return ngx_http_symbolicate_request_source_add(g, "Authorization",
                       sym_str((char *) p, sizeof("Basic ") - 1 + to.len));
}


/* Makes "Bearer ..." */
ngx_int_t
ngx_http_symbolicate_request_source_add_bearer(
    ngx_http_symbolicate_request_attempt_t *g,
    sym_str_t token)
{
    u_char  *p;

    p = ngx_pnalloc(g->fetch->pool, sizeof("Bearer ") + token.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_request_source_add(g, "Authorization",
                       sym_str((char *) p,
                               ngx_sprintf(p, "Bearer %*s", token.len,
                                           token.data)
                               - p));
}


/* Copies the header values once for all attempts and redirects; they live as
 * long as the requests that use them. */
static ngx_int_t
ngx_http_symbolicate_request_source_copy_values(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    ngx_uint_t  i;

    if (g->headed == source) {
        return NGX_OK;
    }

    g->headed = NULL;
    g->values = sym_arena_calloc(&g->arena, source->n_headers + 1,
                                 sizeof(sym_str_t));
    if (g->values == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < source->n_headers; i++) {
        g->values[i] = sym_arena_copy(&g->arena, source->headers[i].value);
        if (g->values[i].data == NULL) {
            return NGX_ERROR;
        }
    }

    g->headed = source;

    return NGX_OK;
}


/* Adds headers that only the source's own origin may get. */
static ngx_int_t
ngx_http_symbolicate_request_source_add_own(
    ngx_http_symbolicate_request_attempt_t *g,
    ngx_uint_t *has_agent)
{
    u_char                    *name;
    ngx_uint_t                 i;
    const sym_request_source_t  *source;

    source = g->fetch->source->request_source;

    if (ngx_http_symbolicate_request_source_copy_values(g, source) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < source->n_headers; i++) {
        name = ngx_pnalloc(g->fetch->pool, source->headers[i].name.len + 1);
        if (name == NULL) {
            return NGX_ERROR;
        }

        (void) ngx_cpystrn(name, (u_char *) source->headers[i].name.data,
                           source->headers[i].name.len + 1);

        if (ngx_strcasecmp(name, (u_char *) "User-Agent") == 0) {
            *has_agent = 1;
        }

        if (ngx_http_symbolicate_request_source_add(g, (char *) name,
                                                    g->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (g->first.userinfo.len
        && ngx_http_symbolicate_request_source_add_basic(g) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return g->kind->add_keys ? g->kind->add_keys(g, source) : NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_request_source_headers(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_uint_t  has_agent;

    has_agent = 0;

    if (ngx_http_symbolicate_background_reset(g->fetch->bg) != NGX_OK) {
        return NGX_ERROR;
    }

    if (g->step == ngx_http_symbolicate_request_source_token) {
        if (ngx_http_symbolicate_request_source_add(g, "Content-Type",
                               SYM_STR("application/x-www-form-urlencoded"))
            != NGX_OK)
        {
            return NGX_ERROR;
        }

    } else if (sym_url_is_same_origin(&g->first, &g->url)
        && (g->kind->is_trusted == NULL
            || g->kind->is_trusted(g, g->fetch->source->request_source))
        && ngx_http_symbolicate_request_source_add_own(g, &has_agent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    /*
     * the loader unpacks only one layer of compression: that of the file itself
     */

    if (ngx_http_symbolicate_request_source_add(g, "Accept-Encoding",
                                                SYM_STR("identity"))
            != NGX_OK
        || ngx_http_symbolicate_fetch_add_range(g->fetch) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return has_agent ? NGX_OK
                     : ngx_http_symbolicate_request_source_add(g, "User-Agent",
                                         SYM_STR(NGX_SYMBOLICATE_USER_AGENT));
}
