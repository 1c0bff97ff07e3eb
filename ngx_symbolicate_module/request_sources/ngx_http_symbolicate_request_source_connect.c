
/*
 * ngx_http_symbolicate_request_source_connect.c - checks the address of a
 * request source.
 *
 * A client may name any host, so each address of a host is checked after the
 * lookup.  The connection is made to exactly the checked address, because the
 * internal location passes the request to a literal address.  The host's name
 * is still used in the Host header, in the TLS handshake and in the check of
 * the certificate.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/guard/address.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_headers.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


static ngx_uint_t
ngx_http_symbolicate_request_source_is_allowed(
    ngx_http_symbolicate_request_attempt_t *g,
    sym_address_t *address)
{
    ngx_array_t          *allow;
    struct sockaddr_in    sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6   sin6;
#endif

    if (!sym_address_is_reserved(address)) {
        return 1;
    }

    allow = g->fetch->policy->request_sources_conf->allow;

    if (allow == NULL) {
        return 0;
    }

    if (address->is_v6) {
#if (NGX_HAVE_INET6)
        ngx_memzero(&sin6, sizeof(struct sockaddr_in6));
        sin6.sin6_family = AF_INET6;
        ngx_memcpy(&sin6.sin6_addr, address->bytes, 16);

        return ngx_cidr_match((struct sockaddr *) &sin6, allow) == NGX_OK;
#else
        return 0;
#endif
    }

    ngx_memzero(&sin, sizeof(struct sockaddr_in));
    sin.sin_family = AF_INET;
    ngx_memcpy(&sin.sin_addr, address->bytes, 4);

    return ngx_cidr_match((struct sockaddr *) &sin, allow) == NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_request_source_connect(
    ngx_http_symbolicate_request_attempt_t *g,
    sym_address_t *address)
{
    char                           text[SYM_ADDRESS_TEXT_MAX];
    size_t                         len;
    u_char                        *p;
    ngx_str_t                      form;
    sym_str_t                      authority;
    ngx_http_symbolicate_fetch_t  *fetch;

    static ngx_str_t  none = ngx_null_string;
    static ngx_str_t  get = ngx_string("GET");
    static ngx_str_t  post = ngx_string("POST");

    fetch = g->fetch;

    len = sizeof("https://") + SYM_ADDRESS_TEXT_MAX + sizeof(":65535")
          + g->url.path.len + g->url.query.len + 1;

    p = ngx_pnalloc(fetch->pool, len);
    authority = sym_url_authority(&g->arena, &g->url);

    if (p == NULL || authority.data == NULL) {
        return NGX_ERROR;
    }

    g->target.data = p;
    len = sym_address_write(address, text);

    p = ngx_sprintf(p, "%s%*s:%ud%*s", g->url.is_https ? "https://" : "http://",
                    len, text, (unsigned) g->url.port,
                    g->url.path.len, g->url.path.data);

    if (g->url.query.len) {
        p = ngx_sprintf(p, "?%*s", g->url.query.len, g->url.query.data);
    }

    g->target.len = p - g->target.data;
    g->host = ngx_http_symbolicate_request_source_str(authority);
    g->name = ngx_http_symbolicate_request_source_str(g->url.host);

    if (ngx_http_symbolicate_request_source_headers(g) != NGX_OK) {
        return NGX_ERROR;
    }

    fetch->uri = fetch->source->uri;
    fetch->encoded = fetch->uri;
    fetch->path = none;

    if (g->step != ngx_http_symbolicate_request_source_token) {
        return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_GET,
                                                     &get, &fetch->uri, &none);
    }

    form = ngx_http_symbolicate_request_source_str(g->form);

    if (ngx_http_symbolicate_background_set_body(fetch->bg, &form) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_POST,
                                                 &post, &fetch->uri, &none);
}


static ngx_int_t
ngx_http_symbolicate_request_source_address(ngx_resolver_addr_t *from,
    sym_address_t *address)
{
    ngx_memzero(address, sizeof(sym_address_t));

    switch (from->sockaddr->sa_family) {

    case AF_INET:
        ngx_memcpy(address->bytes,
                   &((struct sockaddr_in *) from->sockaddr)->sin_addr, 4);
        return NGX_OK;

#if (NGX_HAVE_INET6)
    case AF_INET6:
        address->is_v6 = 1;
        ngx_memcpy(address->bytes,
                   &((struct sockaddr_in6 *) from->sockaddr)->sin6_addr, 16);
        return NGX_OK;
#endif

    default:
        return NGX_DECLINED;
    }
}


static void
ngx_http_symbolicate_request_source_resolved(ngx_resolver_ctx_t *ctx)
{
    ngx_http_symbolicate_request_attempt_t *g = ctx->data;

    ngx_uint_t      i, n;
    const char     *trouble;
    sym_address_t   address;

    n = ctx->state ? 0 : ctx->naddrs;

    for (i = 0; i < n; i++) {

        if (ngx_http_symbolicate_request_source_address(&ctx->addrs[i],
                                                        &address)
                == NGX_OK
            && ngx_http_symbolicate_request_source_is_allowed(g, &address))
        {
            break;
        }
    }

    trouble = ctx->state == NGX_RESOLVE_NXDOMAIN ? "its host does not exist"
                                            : "its host could not be resolved";

    g->resolving = NULL;
    g->unresolved = (n == 0);
    ngx_resolve_name_done(ctx);

    if (g->unresolved) {
        (void) ngx_http_symbolicate_request_source_stop(g, trouble);

    } else if (i == n) {
        (void) ngx_http_symbolicate_request_source_restricted(g);

    } else if (ngx_http_symbolicate_request_source_connect(g,
            &address) != NGX_OK)
    {
        (void) ngx_http_symbolicate_request_source_stop(g, "out of memory");
    }
}


/* Begins the request for g->url. */
ngx_int_t
ngx_http_symbolicate_request_source_ask(
    ngx_http_symbolicate_request_attempt_t *g)
{
    sym_address_t        address;
    ngx_resolver_t      *resolver;
    ngx_resolver_ctx_t  *ctx, temp;

    switch (sym_address_read(g->url.host, &address)) {

    case SYM_OK:
        if (!ngx_http_symbolicate_request_source_is_allowed(g, &address)) {
            return ngx_http_symbolicate_request_source_restricted(g);
        }

        return ngx_http_symbolicate_request_source_connect(g, &address);

    case SYM_NOT_FOUND:
        break;

    default:
        return ngx_http_symbolicate_request_source_stop(g,
                "its host is not valid");
    }

    resolver = g->fetch->policy->resolver;

    if (resolver == NULL) {
        return ngx_http_symbolicate_request_source_stop(g,
                "no resolver is configured");
    }

    temp.name = ngx_http_symbolicate_request_source_str(g->url.host);

    ctx = ngx_resolve_start(resolver, &temp);

    if (ctx == NGX_NO_RESOLVER) {
        return ngx_http_symbolicate_request_source_stop(g,
                "no resolver is configured");
    }

    if (ctx == NULL) {
        return NGX_ERROR;
    }

    ctx->name = temp.name;
    ctx->handler = ngx_http_symbolicate_request_source_resolved;
    ctx->data = g;
    ctx->timeout = g->fetch->policy->resolver_timeout;

    /* the handler may run before this call returns */

    g->resolving = ctx;

    if (ngx_resolve_name(ctx) != NGX_OK) {
        g->resolving = NULL;
        return NGX_ERROR;
    }

    return NGX_OK;
}
