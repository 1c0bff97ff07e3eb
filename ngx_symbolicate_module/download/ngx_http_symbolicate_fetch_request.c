
/*
 * ngx_http_symbolicate_fetch_request.c - the subrequest of an attempt, and
 * the header of its answer.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "share/key.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_range.h"
#include "download/ngx_http_symbolicate_fetch_redirect.h"
#include "download/ngx_http_symbolicate_fetch_report.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_spool.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"


#define NGX_SYMBOLICATE_URL_MAX  (SYM_RPC_SOURCE_MAX)

/*
 * Maximum length of "SymbolChecksum"; a digest with its algorithm is shorter.
 */
#define NGX_SYMBOLICATE_CHECKSUM_MAX  256


static ngx_int_t ngx_http_symbolicate_fetch_header(void *data,
    ngx_http_request_t *r);
static void ngx_http_symbolicate_fetch_ended(void *data,
    ngx_http_request_t *r);
static void ngx_http_symbolicate_fetch_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_fetch_events = {
    ngx_http_symbolicate_fetch_header,
    ngx_http_symbolicate_fetch_body,
    ngx_http_symbolicate_fetch_ended,
    ngx_http_symbolicate_fetch_done
};

static ngx_str_t  ngx_http_symbolicate_get = ngx_string("GET");


ngx_int_t
ngx_http_symbolicate_fetch_open(ngx_http_symbolicate_fetch_t *fetch,
    void (*done)(ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc,
    ngx_uint_t is_whole))
{
    fetch->done = done;

    fetch->bg = ngx_http_symbolicate_background_create(fetch->policy->server,
                                           &ngx_http_symbolicate_fetch_events,
                                           fetch);
    if (fetch->bg == NULL) {
        return NGX_ERROR;
    }

    fetch->pool = ngx_http_symbolicate_background_pool(fetch->bg);

    return NGX_OK;
}


static void
ngx_http_symbolicate_fetch_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    fetch->done(fetch, rc, is_whole);
}


void
ngx_http_symbolicate_fetch_reset(ngx_http_symbolicate_fetch_t *fetch)
{
    fetch->started = ngx_current_msec;
    fetch->status = 0;
    fetch->announced = -1;
    fetch->received = 0;
    fetch->temp = NULL;
    fetch->fd = -1;
    fetch->offset = 0;
    fetch->trouble = NULL;
    fetch->need = 0;
    fetch->nhint = 0;
    fetch->paused = 0;
    fetch->impatient = 0;
    fetch->remote = 0;
    fetch->late = 0;
    fetch->continues = 0;
    fetch->continuing = 0;
    fetch->of_peer = 0;
    ngx_str_null(&fetch->leads);
    ngx_str_null(&fetch->next_page);
    ngx_str_null(&fetch->outcome.reference);
    ngx_str_null(&fetch->validator);
}


ngx_int_t
ngx_http_symbolicate_fetch_add_checksum(ngx_http_symbolicate_fetch_t *fetch)
{
    size_t      i;
    ngx_str_t   value;

    value.data = (u_char *) fetch->ref.checksum.data;
    value.len = fetch->ref.checksum.len;

    if (value.len == 0 || value.len > NGX_SYMBOLICATE_CHECKSUM_MAX) {
        return NGX_OK;
    }

    /* a client's text must not add another header */

    for (i = 0; i < value.len; i++) {
        if (value.data[i] <= ' ' || value.data[i] >= 0x7f) {
            return NGX_OK;
        }
    }

    return ngx_http_symbolicate_background_add_header(fetch->bg,
                                                      "SymbolChecksum",
                                                      &value);
}


/* Adds the name of this server, which a peer compares with its own. */
static ngx_int_t
ngx_http_symbolicate_fetch_add_node(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_str_t  node;

    if (!fetch->shared) {
        return NGX_OK;
    }

    node = ngx_http_symbolicate_node();

    return ngx_http_symbolicate_background_add_header(fetch->bg,
                                                      "X-Symbolicate-Node",
                                                      &node);
}


/*
 * Adds an address for each server that the request has passed, so that servers
 * which ask each other stop.  The source only counts them, so clients stay
 * unknown to it (RFC 7239, 6.2).
 */
static ngx_int_t
ngx_http_symbolicate_fetch_add_forwarded(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_str_t  value;

    static const char  unknown[] = "unknown, unknown, unknown, unknown, "
                                   "unknown, unknown, unknown, unknown, "
                                   "unknown, ";

    if (fetch->forwarded == 0) {
        return NGX_OK;
    }

    value.data = (u_char *) unknown;
    value.len = ngx_min(fetch->forwarded * (sizeof("unknown, ") - 1),
                        sizeof(unknown) - 1)
                - (sizeof(", ") - 1);

    return ngx_http_symbolicate_background_add_header(fetch->bg,
                                                      "X-Forwarded-For",
                                                      &value);
}


ngx_int_t
ngx_http_symbolicate_fetch_ask(ngx_http_symbolicate_fetch_t *fetch)
{
    if (ngx_http_symbolicate_background_reset(fetch->bg) != NGX_OK
        || ngx_http_symbolicate_fetch_add_checksum(fetch) != NGX_OK
        || ngx_http_symbolicate_fetch_add_range(fetch) != NGX_OK
        || ngx_http_symbolicate_fetch_add_node(fetch) != NGX_OK
        || ngx_http_symbolicate_fetch_add_forwarded(fetch) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_GET,
                                                 &ngx_http_symbolicate_get,
                                                 &fetch->uri, &fetch->args);
}


ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_of(ngx_http_request_t *r)
{
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_symbolicate_background_of(r);

    return bg ? ngx_http_symbolicate_background_data(bg,
                                            &ngx_http_symbolicate_fetch_events)
              : NULL;
}


/*
 * Whether a source's answer redirected the request to another location with
 * X-Accel-Redirect, which nginx follows to any location.  Otherwise a source
 * could make the server read and compile files there.  r->upstream belongs to
 * that answer until another upstream request starts.  Handlers that start an
 * upstream request run after fetch_encode(); other handlers reach the header
 * filter, or end without a header.
 */
ngx_uint_t
ngx_http_symbolicate_fetch_is_led(ngx_http_request_t *r)
{
    ngx_http_upstream_t  *u;

    u = r->upstream;

    return u && u->headers_in.x_accel_redirect
           && !(u->conf->ignore_headers & NGX_HTTP_UPSTREAM_IGN_XA_REDIRECT);
}


/* Ends an attempt; done() is called when r has ended. */
static void
ngx_http_symbolicate_fetch_ended(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, NGX_SYMBOLICATE_X_ACCEL);
    }
}


/*
 * A phase handler.  For an upstream, nginx escapes the path of a subrequest by
 * its own rules.  These leave a plus unchanged, but S3 reads it as a space.  So
 * the path is sent in our encoding, unless the location changed it, or serves
 * files, which have plain names.
 */
ngx_int_t
ngx_http_symbolicate_fetch_encode(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t      *clcf;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_of(r);
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (fetch == NULL) {
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, NGX_SYMBOLICATE_X_ACCEL);
        return NGX_HTTP_BAD_GATEWAY;
    }

    /*
     * a mistyped name would match the site's pages, and their 404 would count
     * as the source's
     */

    if (!clcf->internal) {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                           "its location is not internal");
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (clcf->handler == NULL || r->uri.len != fetch->uri.len
        || ngx_strncmp(r->uri.data, fetch->uri.data, r->uri.len) != 0)
    {
        return NGX_DECLINED;
    }

    r->uri = fetch->encoded;
    r->internal = 0;
    r->quoted_uri = 0;

    return NGX_DECLINED;
}


/*
 * Returns the encoded path of the module that r fetches, for $symbolicate_path.
 */
ngx_str_t *
ngx_http_symbolicate_fetch_path(ngx_http_request_t *r)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_of(r);

    return fetch ? &fetch->path : NULL;
}


void
ngx_http_symbolicate_fetch_refuse(ngx_http_request_t *r, const char *trouble)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_of(r);

    if (fetch) {
        fetch->trouble = trouble;
    }
}


/* Returns the URL without its arguments, which may contain a signature. */
static void
ngx_http_symbolicate_fetch_url(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    u_char               *p, *end;
    size_t                len;
    in_port_t             port;
    ngx_str_t            *host, uri;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    if (u == NULL || u->schema.len == 0) {
        return;
    }

    fetch->remote = 1;

    host = u->resolved && u->resolved->host.len ? &u->resolved->host
           : u->upstream ? &u->upstream->host
           : u->peer.name;

    if (host == NULL) {
        return;
    }

    /* an upstream block has no port; 0 and the scheme's default are omitted */

    port = 0;

    if (host != u->peer.name) {
        port = u->resolved && u->resolved->host.len ? u->resolved->port
                                                    : u->upstream->port;
    }

    if (port == (u->schema.len == sizeof("https://") - 1 ? 443 : 80)) {
        port = 0;
    }

    uri = u->uri;
    p = ngx_strlchr(uri.data, uri.data + uri.len, '?');

    if (p) {
        uri.len = p - uri.data;
    }

    len = ngx_min(u->schema.len + host->len + sizeof(":65535") - 1 + uri.len,
                  NGX_SYMBOLICATE_URL_MAX);

    p = ngx_pnalloc(fetch->pool, len);
    if (p == NULL) {
        return;
    }

    fetch->url.data = p;

    end = port ? ngx_snprintf(p, len, "%V%V:%ui%V", &u->schema, host,
                              (ngx_uint_t) port, &uri)
               : ngx_snprintf(p, len, "%V%V%V", &u->schema, host, &uri);

    fetch->url.len = end - p;

    for ( ; p < end; p++) {
        if (*p <= ' ' || *p == 0x7f) {
            *p = '?';
        }
    }
}


static ngx_int_t
ngx_http_symbolicate_fetch_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    ngx_int_t  rc;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        return ngx_http_symbolicate_fetch_fail(fetch, NGX_SYMBOLICATE_X_ACCEL);
    }

    if (fetch->continuing) {
        rc = ngx_http_symbolicate_fetch_continued(fetch, r);

        if (rc == NGX_OK) {
            ngx_http_symbolicate_fetch_announce(fetch);
            r->filter_need_in_memory = 1;
        }

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    fetch->status = r->headers_out.status;
    fetch->announced = r->headers_out.content_length_n;

    if (fetch->source->request_source == NULL) {
        ngx_http_symbolicate_fetch_url(fetch, r);
    }

    fetch->of_peer = r->headers_out.content_type.len
                     == sizeof(SYM_PEER_TYPE) - 1
                     && ngx_strncmp(r->headers_out.content_type.data,
                                    SYM_PEER_TYPE, sizeof(SYM_PEER_TYPE) - 1)
                        == 0;

    if (fetch->of_peer) {
        ngx_http_symbolicate_fetch_keep_age(fetch, r);
    }

    if (ngx_http_symbolicate_fetch_is_redirect(fetch)
        && ngx_http_symbolicate_fetch_keep_location(fetch, r) != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    if (fetch->ref.role == SYM_TEXT_LIST
        && ngx_http_symbolicate_fetch_keep_next_page(fetch, r) != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    /* as in Symbolicator, headers of scripts from the web do not count */

    if (fetch->ref.role == SYM_TEXT_SCRIPT
        && fetch->source->request_source == NULL
        && ngx_http_symbolicate_fetch_keep_map(fetch, r) != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    fetch->outcome.modified = r->headers_out.last_modified_time;
    ngx_str_null(&fetch->outcome.etag);

    if (r->headers_out.etag) {
        fetch->outcome.etag.len = r->headers_out.etag->value.len;
        fetch->outcome.etag.data = ngx_pstrdup(fetch->pool,
                                               &r->headers_out.etag->value);
        if (fetch->outcome.etag.data == NULL) {
            return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
        }
    }

    if (ngx_http_symbolicate_fetch_identify(fetch, r) != NGX_OK) {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    fetch->window = ngx_current_msec;
    fetch->window_from = 0;

    ngx_http_symbolicate_fetch_announce(fetch);

    /* nginx need not read the file, because the file itself is passed on */

    if (!fetch->remote && fetch->status == NGX_HTTP_OK) {
        r->connection->sendfile = 1;
        r->allow_ranges = 0;

    } else {
        r->filter_need_in_memory = 1;
    }

    return NGX_OK;
}
