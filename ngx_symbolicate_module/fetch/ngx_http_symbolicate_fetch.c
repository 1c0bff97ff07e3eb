
/*
 * ngx_http_symbolicate_fetch.c - one download: the sources in turn.
 *
 * A source may have several files of a module.  Debug files are asked for at
 * all paths before executables.  The first 200 wins, unless the loader finds
 * the file poor and there are paths left: then the search continues.  After "no
 * such file" or a failure the next path is asked; but once a source failed, the
 * file does not count as absent.  A file of a folder (alias, root) is passed on
 * as it is.  A body from the network is written to a temporary file, whose name
 * is removed before its first byte is written: if the worker dies, the file is
 * gone.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/attempts.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "fetch/ngx_http_symbolicate_background.h"
#include "fetch/ngx_http_symbolicate_fetch.h"
#include "fetch/ngx_http_symbolicate_pending.h"


#define NGX_SYMBOLICATE_URL_MAX   (SYM_RPC_SOURCE_MAX)

/* of a body that is not a file: enough to see S3's error code, the rest is not
 * worth having */
#define NGX_SYMBOLICATE_HINT      1024
#define NGX_SYMBOLICATE_HINT_MAX  (64 * 1024)

#define NGX_SYMBOLICATE_COPY      (64 * 1024)

#define NGX_SYMBOLICATE_X_ACCEL   "it answered with X-Accel-Redirect"

/* bytes of the attempts, but for the line that says that there are more */
#define NGX_SYMBOLICATE_ATTEMPTS  (SYM_RPC_ATTEMPTS_MAX                       \
                                   - (sizeof(SYM_ATTEMPTS_CUT) - 1))

/* how often a download's time is looked at, and how long one may be slow */
#define NGX_SYMBOLICATE_TICK      1000
#define NGX_SYMBOLICATE_SLOW      10000

/* how long one may wait for a larger lease before it gives its place up */
#define NGX_SYMBOLICATE_PAUSE     5000


struct ngx_http_symbolicate_fetch_s {
    ngx_http_symbolicate_pending_t        *pending;
    ngx_http_symbolicate_fetch_policy_t         *policy;
    ngx_http_symbolicate_source_t     **sources;     /* in their order */
    ngx_uint_t                          nsources;
    sym_source_module_t                 module;
    sym_str_t                           canonical;
    ngx_uint_t                          files;
    ngx_http_symbolicate_lease_t        lease;

    ngx_http_symbolicate_background_t  *bg;         /* NULL: cut off */
    ngx_pool_t                         *pool;

    ngx_event_t                         timer;
    ngx_msec_t                          began;
    ngx_msec_t                          window;      /* the rate's, began */
    off_t                               window_from; /* bytes before it */
    off_t                               asked;       /* of a larger lease */

    ngx_uint_t                          next;        /* place to be asked */
    ngx_event_t                         nothing;     /* posted if there is
                                                      * none at all */

    /* the present attempt */
    ngx_http_symbolicate_source_t      *source;
    sym_source_file_t                   file;
    ngx_msec_t                          started;
    ngx_str_t                           uri;         /* decoded */
    ngx_str_t                           encoded;     /* as it goes out */
    ngx_str_t                           path;        /* of it, behind the
                                                      * source's */
    ngx_uint_t                          status;      /* 0: no answer */
    off_t                               announced;   /* -1: nothing */
    off_t                               received;
    ngx_str_t                           url;
    ngx_temp_file_t                    *temp;
    ngx_fd_t                            fd;
    off_t                               offset;
    const char                         *trouble;
    off_t                               need;
    u_char                              hint[NGX_SYMBOLICATE_HINT];
    size_t                              nhint;
    ngx_str_t                           leads;       /* Location of a
                                                      * redirect */
    ngx_uint_t                          hops;
    ngx_msec_t                          paused_at;
    unsigned                            paused:1;    /* for want of a lease */
    unsigned                            impatient:1; /* it was long enough */
    unsigned                            remote:1;
    unsigned                            late:1;

    /* all of them */
    ngx_uint_t                          nfailed;
    ngx_uint_t                          nodd;
    ngx_http_symbolicate_fetch_result_t      outcome;
    u_char                              attempts[SYM_RPC_ATTEMPTS_MAX];
    u_char                              reason[SYM_RPC_REASON_MAX];
};


static void ngx_http_symbolicate_fetch_skipped(
    ngx_http_symbolicate_fetch_t *fetch);
static ngx_int_t ngx_http_symbolicate_fetch_try(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_nothing(ngx_event_t *ev);
static void ngx_http_symbolicate_fetch_tick(ngx_event_t *ev);
static void ngx_http_symbolicate_fetch_announce(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_resume(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_more(
    ngx_http_symbolicate_fetch_t *fetch, off_t need);
static ngx_int_t ngx_http_symbolicate_fetch_header(void *data,
    ngx_http_request_t *r);
static ngx_int_t ngx_http_symbolicate_fetch_fail(
    ngx_http_symbolicate_fetch_t *fetch, const char *trouble);
static ngx_int_t ngx_http_symbolicate_fetch_body(void *data,
    ngx_http_request_t *r, ngx_chain_t *in);
static void ngx_http_symbolicate_fetch_ended(void *data,
    ngx_http_request_t *r);
static void ngx_http_symbolicate_fetch_reset(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_absent(
    ngx_http_symbolicate_fetch_t *fetch);
static ngx_int_t ngx_http_symbolicate_fetch_host(ngx_str_t *location,
    ngx_str_t *host, ngx_str_t *path);
static ngx_int_t ngx_http_symbolicate_fetch_follow(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_failed(
    ngx_http_symbolicate_fetch_t *fetch, const char *trouble);
static void ngx_http_symbolicate_fetch_end(ngx_http_symbolicate_fetch_t *fetch,
    sym_module_state_t state);
static void ngx_http_symbolicate_fetch_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_fetch_events = {
    ngx_http_symbolicate_fetch_header,
    ngx_http_symbolicate_fetch_body,
    ngx_http_symbolicate_fetch_ended,
    ngx_http_symbolicate_fetch_done
};

static ngx_str_t  ngx_http_symbolicate_get = ngx_string("GET");


static ngx_int_t
ngx_http_symbolicate_fetch_copy_text(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t *to, sym_str_t from)
{
    u_char  *p;

    p = ngx_pnalloc(fetch->pool, from.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    if (from.len) {
        ngx_memcpy(p, from.data, from.len);
    }

    *to = sym_str((char *) p, from.len);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_fetch_sources(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_object_t *object)
{
    ngx_uint_t                      i, n;
    ngx_http_symbolicate_source_t  *sources;

    sources = fetch->policy->sources->elts;
    n = object->others ? fetch->policy->sources->nelts : 0;

    fetch->sources = ngx_palloc(fetch->pool,
                           (n + 1) * sizeof(ngx_http_symbolicate_source_t *));
    if (fetch->sources == NULL) {
        return NGX_ERROR;
    }

    fetch->sources[fetch->nsources++] = object->first;

    for (i = 0; i < n; i++) {
        if (&sources[i] != object->first) {
            fetch->sources[fetch->nsources++] = &sources[i];
        }
    }

    return NGX_OK;
}


ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_start(ngx_http_symbolicate_pending_t *pending,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease,
    ngx_uint_t next, ngx_str_t *attempts)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_calloc(sizeof(ngx_http_symbolicate_fetch_t), ngx_cycle->log);
    if (fetch == NULL) {
        return NULL;
    }

    fetch->pending = pending;
    fetch->policy = policy;
    fetch->files = object->files;
    fetch->lease = *lease;
    fetch->asked = lease->bytes;
    fetch->next = next;

    fetch->nothing.handler = ngx_http_symbolicate_fetch_nothing;
    fetch->nothing.data = fetch;
    fetch->nothing.log = ngx_cycle->log;

    fetch->timer.handler = ngx_http_symbolicate_fetch_tick;
    fetch->timer.data = fetch;
    fetch->timer.log = ngx_cycle->log;
    fetch->timer.cancelable = 1;
    fetch->began = ngx_current_msec;

    fetch->outcome.fd = -1;
    fetch->outcome.attempts.data = fetch->attempts;
    fetch->outcome.attempts.len = attempts->len;
    fetch->outcome.reason.data = fetch->reason;

    fetch->bg = ngx_http_symbolicate_background_create(policy->server,
                                           &ngx_http_symbolicate_fetch_events,
                                           fetch);
    if (fetch->bg == NULL) {
        ngx_free(fetch);
        return NULL;
    }

    fetch->pool = ngx_http_symbolicate_background_pool(fetch->bg);

    if (ngx_http_symbolicate_fetch_copy_text(fetch, &fetch->module.name,
                                             object->name)
            != NGX_OK
        || ngx_http_symbolicate_fetch_copy_text(fetch, &fetch->module.id,
                                                object->id)
           != NGX_OK
        || ngx_http_symbolicate_fetch_copy_text(fetch, &fetch->canonical,
                                                object->canonical)
           != NGX_OK
        || ngx_http_symbolicate_fetch_sources(fetch, object) != NGX_OK)
    {
        (void) ngx_http_symbolicate_fetch_free(fetch);
        return NULL;
    }

    if (attempts->len) {
        ngx_memcpy(fetch->attempts, attempts->data, attempts->len);

    } else if (fetch->files == NGX_SYMBOLICATE_FILES) {
        ngx_http_symbolicate_fetch_skipped(fetch);
    }

    switch (ngx_http_symbolicate_fetch_try(fetch)) {

    case NGX_OK:
        ngx_add_timer(&fetch->timer,
                      ngx_min(policy->timeout, NGX_SYMBOLICATE_TICK));
        return fetch;

    case NGX_DECLINED:
        ngx_post_event(&fetch->nothing, &ngx_posted_events);
        return fetch;

    default:
        (void) ngx_http_symbolicate_fetch_free(fetch);
        return NULL;
    }
}


static void
ngx_http_symbolicate_fetch_nothing(ngx_event_t *ev)
{
    ngx_http_symbolicate_fetch_end(ev->data, SYM_MODULE_ABSENT);
}


/* Closes the file too. */
ngx_int_t
ngx_http_symbolicate_fetch_free(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->bg
        && ngx_http_symbolicate_background_free(fetch->bg) != NGX_OK)
    {
        return NGX_AGAIN;
    }

    if (fetch->nothing.posted) {
        ngx_delete_posted_event(&fetch->nothing);
    }

    if (fetch->timer.timer_set) {
        ngx_del_timer(&fetch->timer);
    }

    ngx_free(fetch);

    return NGX_OK;
}


void
ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease)
{
    fetch->lease = *lease;
    fetch->asked = lease->bytes;

    /* not to wait until the body has come to where it will not fit */

    ngx_http_symbolicate_fetch_announce(fetch);
    ngx_http_symbolicate_fetch_resume(fetch);
}


static void
ngx_http_symbolicate_fetch_resume(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->paused) {
        fetch->paused = 0;
        fetch->window = ngx_current_msec;
        fetch->window_from = fetch->received;
        ngx_http_symbolicate_background_resume(fetch->bg);
    }
}


/* Whatever the answer's header says is asked for at once. */
static void
ngx_http_symbolicate_fetch_announce(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->remote && fetch->status == NGX_HTTP_OK) {
        ngx_http_symbolicate_fetch_more(fetch, fetch->announced);
    }
}


/* Asks for a larger lease, once. */
static void
ngx_http_symbolicate_fetch_more(ngx_http_symbolicate_fetch_t *fetch,
    off_t need)
{
    if (need > fetch->asked) {
        fetch->asked = need;
        ngx_http_symbolicate_pending_more(fetch->pending, need);
    }
}


/*
 * Whatever nginx waits for, a download ends when its time is over, or when less
 * comes than is worth a place.  How long the first byte may take is the
 * location's to say (proxy_read_timeout).
 */
static const char *
ngx_http_symbolicate_fetch_is_late(ngx_http_symbolicate_fetch_t *fetch)
{
    off_t  bytes;

    if (ngx_current_msec - fetch->began >= fetch->policy->timeout) {
        return "it took too long (symbolicate_fetch_timeout)";
    }

    if (fetch->status == 0 || fetch->paused
        || ngx_current_msec - fetch->window < NGX_SYMBOLICATE_SLOW)
    {
        return NULL;
    }

    bytes = fetch->received - fetch->window_from;

    if (bytes / (NGX_SYMBOLICATE_SLOW / 1000)
        < (off_t) fetch->policy->min_rate)
    {
        return "it was too slow (symbolicate_fetch_timeout)";
    }

    fetch->window = ngx_current_msec;
    fetch->window_from = fetch->received;

    return NULL;
}


static void
ngx_http_symbolicate_fetch_tick(ngx_event_t *ev)
{
    ngx_http_symbolicate_fetch_t *fetch = ev->data;

    const char  *trouble;
    ngx_msec_t   left;

    trouble = ngx_http_symbolicate_fetch_is_late(fetch);

    if (fetch->paused
        && ngx_current_msec - fetch->paused_at >= NGX_SYMBOLICATE_PAUSE)
    {
        fetch->impatient = 1;
        ngx_http_symbolicate_fetch_resume(fetch);
    }

    if (trouble == NULL) {
        left = fetch->policy->timeout - (ngx_current_msec - fetch->began);
        ngx_add_timer(ev, ngx_min(left, NGX_SYMBOLICATE_TICK));

        /* other fetches may wait for this place */

        ngx_http_symbolicate_pending_next();
        return;
    }

    if (fetch->trouble == NULL) {
        fetch->trouble = trouble;
        fetch->late = 1;
    }

    /* the texts of the attempt live as long as bg */

    if (!ngx_http_symbolicate_background_is_idle(fetch->bg)) {
        ngx_add_timer(ev, NGX_SYMBOLICATE_TICK);
        return;
    }

    fetch->need = 0;

    ngx_http_symbolicate_fetch_failed(fetch, fetch->trouble);

    (void) ngx_http_symbolicate_background_free(fetch->bg);
    fetch->bg = NULL;
    fetch->temp = NULL;

    ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_FAILED);
}


ngx_http_symbolicate_fetch_result_t *
ngx_http_symbolicate_fetch_result(ngx_http_symbolicate_fetch_t *fetch)
{
    return &fetch->outcome;
}


/* --- the places to be asked --- */

/* The next place that has a path for the module, from *next on, which then is
 * the one behind it.  False: there is no more. */
static ngx_uint_t
ngx_http_symbolicate_fetch_find(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t *next, ngx_http_symbolicate_source_t **source,
    sym_source_file_t *file)
{
    char         text[SYM_SOURCE_PATH_MAX];
    sym_str_t    path;
    ngx_uint_t   n, i;
    sym_error_t  err;

    n = fetch->nsources;

    while (*next < n * SYM_SOURCE_FILES) {
        i = (*next)++;

        if (i < n * SYM_SOURCE_FIRST_CODE) {
            *source = fetch->sources[i / SYM_SOURCE_FIRST_CODE];
            *file = i % SYM_SOURCE_FIRST_CODE;

        } else {
            i -= n * SYM_SOURCE_FIRST_CODE;
            *source = fetch->sources[i / (SYM_SOURCE_FILES
                                          - SYM_SOURCE_FIRST_CODE)];
            *file = SYM_SOURCE_FIRST_CODE
                    + i % (SYM_SOURCE_FILES - SYM_SOURCE_FIRST_CODE);
        }

        if (!(fetch->files & (1 << *file))
            || (fetch->canonical.len
                && !sym_source_is_respelled(&(*source)->rules, *file,
                                            &fetch->module, fetch->canonical)))
        {
            continue;
        }

        ngx_memzero(&err, sizeof(sym_error_t));

        if (sym_source_path(&(*source)->rules, *file, &fetch->module, text,
                            sizeof(text), &path, &err)
            == SYM_OK)
        {
            return 1;
        }
    }

    return 0;
}


/* Records which sources could not be asked, for "explain". */
static void
ngx_http_symbolicate_fetch_skipped(ngx_http_symbolicate_fetch_t *fetch)
{
    char                            text[SYM_SOURCE_PATH_MAX];
    u_char                         *p, *last;
    sym_str_t                       path;
    ngx_uint_t                      i, file;
    sym_error_t                     err;
    ngx_http_symbolicate_source_t  *source;

    last = fetch->attempts + NGX_SYMBOLICATE_ATTEMPTS;

    for (i = 0; i < fetch->nsources; i++) {
        source = fetch->sources[i];

        for (file = 0; file < SYM_SOURCE_FILES; file++) {
            ngx_memzero(&err, sizeof(sym_error_t));

            if (sym_source_path(&source->rules, file, &fetch->module, text,
                                sizeof(text), &path, &err)
                != SYM_NOT_FOUND)
            {
                break;
            }
        }

        p = fetch->attempts + fetch->outcome.attempts.len;

        if (file < SYM_SOURCE_FILES
            || (size_t) (last - p) < source->name.len + 64)
        {
            continue;
        }

        p = ngx_slprintf(p, last, "%V skipped 0 0 %s\n", &source->name,
                         sym_mozilla_is_code_id(fetch->module.id)
                         ? "has no path for such an id" : "needs a code id");

        fetch->outcome.attempts.len = p - fetch->attempts;
    }
}


/* --- an attempt --- */

static ngx_int_t
ngx_http_symbolicate_fetch_join(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *uri, sym_str_t path)
{
    uri->len = fetch->source->uri.len + path.len;

    uri->data = ngx_pnalloc(fetch->pool, uri->len);
    if (uri->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(uri->data, fetch->source->uri.data,
                          fetch->source->uri.len),
               path.data, path.len);

    return NGX_OK;
}


static void
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
    ngx_str_null(&fetch->leads);
}


/* Asks for the next path; NGX_DECLINED: no path is left. */
static ngx_int_t
ngx_http_symbolicate_fetch_try(ngx_http_symbolicate_fetch_t *fetch)
{
    char                            text[SYM_SOURCE_PATH_MAX];
    sym_str_t                       path;
    sym_error_t                     err;
    ngx_http_symbolicate_source_t  *source;

    static ngx_str_t  none = ngx_null_string;

    if (!ngx_http_symbolicate_fetch_find(fetch, &fetch->next, &fetch->source,
                                         &fetch->file))
    {
        return NGX_DECLINED;
    }

    source = fetch->source;

    fetch->hops = 0;

    ngx_http_symbolicate_fetch_reset(fetch);

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_source_key(&source->rules, fetch->file, &fetch->module, text,
                       sizeof(text), &path, &err)
            != SYM_OK
        || ngx_http_symbolicate_fetch_join(fetch, &fetch->uri, path) != NGX_OK
        || sym_source_path(&source->rules, fetch->file, &fetch->module, text,
                           sizeof(text), &path, &err)
            != SYM_OK
        || ngx_http_symbolicate_fetch_join(fetch, &fetch->encoded, path)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    fetch->path.data = fetch->encoded.data + source->uri.len;
    fetch->path.len = path.len;
    fetch->url = fetch->encoded;

    return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_GET,
                                                 &ngx_http_symbolicate_get,
                                                 &fetch->uri, &none);
}


/* The fetch that r is of; NULL: of none. */
static ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_of(ngx_http_request_t *r)
{
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_symbolicate_background_of(r);

    return bg ? ngx_http_symbolicate_background_data(bg,
                                            &ngx_http_symbolicate_fetch_events)
              : NULL;
}


/*
 * True if a source's answer has led the request to another location: with
 * X-Accel-Redirect, which nginx follows wherever it leads.  A source must not
 * have what lies there read and compiled.  Until something else is asked
 * r->upstream is that of the answer; whatever would ask runs later than
 * fetch_encode(), whatever answers by itself comes to the header filter, or
 * ends without a header.
 */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_led(ngx_http_request_t *r)
{
    ngx_http_upstream_t  *u;

    u = r->upstream;

    return u && u->headers_in.x_accel_redirect
           && !(u->conf->ignore_headers & NGX_HTTP_UPSTREAM_IGN_XA_REDIRECT);
}


/* The end of an attempt; done() follows when r is gone. */
static void
ngx_http_symbolicate_fetch_ended(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, NGX_SYMBOLICATE_X_ACCEL);
    }
}


/*
 * A phase handler.  nginx escapes the path of a subrequest for an upstream by
 * rules of its own, which leave a plus as it is, and S3 takes that for a space.
 * So the path goes out as we encoded it; unless the location changed it, or
 * serves files, which have plain names.
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

    /* a name that is mistyped would lead to the site's pages, and their 404
     * would count as the source's */

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


/* The encoded path of the module that r fetches, for $symbolicate_path. */
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


/* The URL without its arguments, which may hold a signature. */
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

    /* that of a block of servers has none; 0, or the scheme's, is not said */

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


static ngx_uint_t
ngx_http_symbolicate_fetch_is_redirect(ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->status == NGX_HTTP_MOVED_PERMANENTLY
           || fetch->status == NGX_HTTP_MOVED_TEMPORARILY
           || fetch->status == NGX_HTTP_SEE_OTHER
           || fetch->status == NGX_HTTP_TEMPORARY_REDIRECT
           || fetch->status == NGX_HTTP_PERMANENT_REDIRECT;
}


static ngx_int_t
ngx_http_symbolicate_fetch_keep_location(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_table_elt_t  *location;

    /* nginx keeps one that proxy_redirect has not changed out of here */

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


static ngx_int_t
ngx_http_symbolicate_fetch_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    if (ngx_http_symbolicate_fetch_is_led(r)) {
        return ngx_http_symbolicate_fetch_fail(fetch, NGX_SYMBOLICATE_X_ACCEL);
    }

    fetch->status = r->headers_out.status;
    fetch->announced = r->headers_out.content_length_n;

    ngx_http_symbolicate_fetch_url(fetch, r);

    if (ngx_http_symbolicate_fetch_is_redirect(fetch)
        && ngx_http_symbolicate_fetch_keep_location(fetch, r) != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    fetch->window = ngx_current_msec;
    fetch->window_from = 0;

    ngx_http_symbolicate_fetch_announce(fetch);

    /* a file is passed on as it is: nginx need not read it */

    if (!fetch->remote && fetch->status == NGX_HTTP_OK) {
        r->connection->sendfile = 1;
        r->allow_ranges = 0;

    } else {
        r->filter_need_in_memory = 1;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_fetch_fail(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    fetch->trouble = trouble;

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_fetch_temp(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r)
{
    ngx_temp_file_t           *tf;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    tf = ngx_pcalloc(fetch->pool, sizeof(ngx_temp_file_t));
    if (tf == NULL) {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    tf->file.fd = NGX_INVALID_FILE;
    tf->file.log = r->connection->log;
    tf->path = clcf->client_body_temp_path;
    tf->pool = fetch->pool;
    tf->clean = 1;
    tf->access = 0600;

    if (ngx_create_temp_file(&tf->file, tf->path, tf->pool, 0, tf->clean,
                             tf->access)
        != NGX_OK)
    {
        return ngx_http_symbolicate_fetch_fail(fetch,
                                        "no temporary file could be made");
    }

    (void) ngx_delete_file(tf->file.name.data);

    fetch->temp = tf;

    return NGX_OK;
}


/* Appends bytes to the temporary file, as far as the lease allows it.
 * NGX_AGAIN: a larger lease is being asked for. */
static ngx_int_t
ngx_http_symbolicate_fetch_put(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, u_char *data, size_t len)
{
    off_t  size;

    size = fetch->received + (off_t) len;

    if (fetch->announced == -1 && !fetch->lease.whole
        && size > fetch->lease.bytes / 2)
    {
        ngx_http_symbolicate_fetch_more(fetch, fetch->lease.bytes * 2);
    }

    if (size > fetch->lease.bytes && fetch->asked > fetch->lease.bytes
        && !fetch->impatient)
    {
        fetch->paused = 1;
        fetch->paused_at = ngx_current_msec;
        return NGX_AGAIN;
    }

    if (size > fetch->lease.bytes) {
        fetch->need = ngx_max(fetch->announced, size);
        return ngx_http_symbolicate_fetch_fail(fetch, "lease");
    }

    if (fetch->temp == NULL
        && ngx_http_symbolicate_fetch_temp(fetch, r) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_write_file(&fetch->temp->file, data, len, fetch->received)
        != (ssize_t) len)
    {
        return ngx_http_symbolicate_fetch_fail(fetch,
                                  "the temporary file could not be written");
    }

    fetch->received += len;

    return NGX_OK;
}


/* A part of a file, of which only a part is wanted or more comes from
 * elsewhere: a cache's. */
static ngx_int_t
ngx_http_symbolicate_fetch_copy(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, ngx_buf_t *b)
{
    u_char     *data;
    ssize_t     n;
    ngx_int_t   rc;

    data = ngx_alloc(NGX_SYMBOLICATE_COPY, r->connection->log);
    if (data == NULL) {
        return ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
    }

    rc = NGX_OK;

    while (rc == NGX_OK && b->file_pos < b->file_last) {
        n = ngx_read_file(b->file, data,
                          ngx_min(b->file_last - b->file_pos,
                                  NGX_SYMBOLICATE_COPY),
                          b->file_pos);

        if (n <= 0) {
            rc = ngx_http_symbolicate_fetch_fail(fetch,
                                                 "a file ended too early");
            break;
        }

        rc = ngx_http_symbolicate_fetch_put(fetch, r, data, n);

        if (rc == NGX_OK) {
            b->file_pos += n;
        }
    }

    ngx_free(data);

    return rc;
}


/*
 * The descriptor that goes to the loader, which moves the position in the file.
 * One of open_file_cache is an open file that others may have handed over, too:
 * then it is opened once more.  NGX_DECLINED: that is not possible here.
 */
static ngx_int_t
ngx_http_symbolicate_fetch_own(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_request_t *r, ngx_buf_t *b)
{
    u_char                     name[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    ngx_fd_t                   fd;
    ngx_pool_cleanup_t        *cln;
    ngx_pool_cleanup_file_t   *file;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    fd = b->file->fd;

    if (clcf->open_file_cache) {
        cln = ngx_pool_cleanup_add(fetch->pool,
                                   sizeof(ngx_pool_cleanup_file_t));
        if (cln == NULL) {
            return NGX_DECLINED;
        }

        (void) ngx_sprintf(name, "/proc/self/fd/%d%Z", fd);

        fd = open((char *) name, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

        if (fd == NGX_INVALID_FILE) {
            return NGX_DECLINED;
        }

        file = cln->data;
        file->fd = fd;
        file->name = b->file->name.data;
        file->log = ngx_cycle->log;

        cln->handler = ngx_pool_cleanup_file;
    }

    fetch->fd = fd;
    fetch->offset = b->file_pos;
    fetch->received = fetch->announced;

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_fetch_body(void *data, ngx_http_request_t *r,
    ngx_chain_t *in)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    size_t      len;
    ngx_int_t   rc;
    ngx_buf_t  *b;

    for ( ; in; in = in->next) {
        b = in->buf;

        if (ngx_buf_special(b)) {
            continue;
        }

        if (fetch->status != NGX_HTTP_OK) {

            if (!ngx_buf_in_memory(b)) {
                continue;
            }

            len = ngx_min((size_t) (b->last - b->pos),
                          NGX_SYMBOLICATE_HINT - fetch->nhint);

            ngx_memcpy(fetch->hint + fetch->nhint, b->pos, len);
            fetch->nhint += len;
            fetch->received += b->last - b->pos;

            if (fetch->received > NGX_SYMBOLICATE_HINT_MAX) {
                return NGX_ERROR;
            }

            continue;
        }

        if (ngx_buf_in_memory(b)) {
            rc = ngx_http_symbolicate_fetch_put(fetch, r, b->pos,
                                                b->last - b->pos);

        } else if (!fetch->remote && fetch->received == 0 && fetch->fd == -1
                   && b->file_last - b->file_pos == fetch->announced
                   && ngx_http_symbolicate_fetch_own(fetch, r, b) == NGX_OK)
        {
            rc = NGX_OK;

        } else {
            rc = ngx_http_symbolicate_fetch_copy(fetch, r, b);
        }

        if (rc != NGX_OK) {
            return rc;
        }

        b->pos = b->last;
        b->file_pos = b->file_last;
    }

    return NGX_OK;
}


/* --- what came of it --- */

/*
 * S3 answers 403 for a missing key if the client may not list the bucket, and
 * also for an invalid request.  The code in its answer tells them apart.
 */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_denied(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char  *code, *end;

    static ngx_str_t  denied = ngx_string("AccessDenied</Code>");

    code = ngx_strnstr(fetch->hint, "<Code>", fetch->nhint);

    if (code == NULL) {
        return 0;
    }

    code += sizeof("<Code>") - 1;
    end = fetch->hint + fetch->nhint;

    return (size_t) (end - code) < denied.len
           || ngx_strncmp(code, denied.data, denied.len) != 0;
}


static ngx_uint_t
ngx_http_symbolicate_fetch_is_absent(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_uint_t                      i;
    ngx_http_symbolicate_source_t  *source;

    source = fetch->source;

    for (i = 0; i < source->nabsent; i++) {
        if (source->absent[i] == fetch->status) {
            return 1;
        }
    }

    return 0;
}


/*
 * The source does not work, or does not work for us: it says nothing about the
 * module.  All other statuses are an answer to what was asked, if an odd one,
 * and would be the same the next time.
 */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_error(ngx_http_symbolicate_fetch_t *fetch)
{
    switch (fetch->status) {

    case NGX_HTTP_FORBIDDEN:

        /* a file that may not be read is there */

        return !fetch->remote || ngx_http_symbolicate_fetch_is_denied(fetch)
               || !ngx_http_symbolicate_fetch_is_absent(fetch);

    case NGX_HTTP_UNAUTHORIZED:
    case 407:
        return !ngx_http_symbolicate_fetch_is_absent(fetch);

    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_TOO_MANY_REQUESTS:
        return 1;

    default:
        return fetch->status >= NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* Why the attempt failed; NULL: it gave a file, or the source has none. */
static const char *
ngx_http_symbolicate_fetch_trouble(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    if (fetch->trouble) {
        return fetch->trouble;
    }

    if (fetch->status == 0) {

        switch (rc) {

        case NGX_HTTP_BAD_GATEWAY:
            return "no connection, or no answer in HTTP";

        case NGX_HTTP_GATEWAY_TIME_OUT:
            return "timeout";

        default:
            break;
        }

        if (rc < NGX_HTTP_SPECIAL_RESPONSE) {
            return rc == NGX_OK ? "no answer in HTTP" : "it could not be asked";
        }

        fetch->status = rc;
    }

    if (fetch->status == NGX_HTTP_OK) {

        if (!is_whole
            || (fetch->announced != -1 && fetch->announced != fetch->received))
        {
            return "the body was cut short";
        }

        return NULL;
    }

    return ngx_http_symbolicate_fetch_is_error(fetch)
           ? "it answered with an error" : NULL;
}


/* A line of the attempts: docs/formats/store.md, section 2. */
static void
ngx_http_symbolicate_fetch_note(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    u_char     *p, *last;
    ngx_str_t   word;
    u_char      number[NGX_INT_T_LEN];

    ngx_str_set(&word, "unreachable");

    if (fetch->need) {
        ngx_str_set(&word, "large");

    } else if (fetch->late) {
        ngx_str_set(&word, "timeout");

    } else if (fetch->status == NGX_HTTP_OK && trouble) {
        ngx_str_set(&word, "truncated");

        if (fetch->trouble) {
            ngx_str_set(&word, "error");
        }

    } else if (fetch->status) {
        word.data = number;
        word.len = ngx_sprintf(number, "%ui", fetch->status) - number;

    } else if (trouble && ngx_strcmp(trouble, "timeout") == 0) {
        ngx_str_set(&word, "timeout");
    }

    if (sym_attempts_is_cut(sym_str((char *) fetch->attempts,
                                    fetch->outcome.attempts.len)))
    {
        return;
    }

    p = fetch->attempts + fetch->outcome.attempts.len;
    last = fetch->attempts + NGX_SYMBOLICATE_ATTEMPTS;

    /* whole lines only */

    if ((size_t) (last - p) < fetch->source->name.len + word.len
                              + 2 * NGX_OFF_T_LEN + fetch->url.len + 5)
    {
        ngx_memcpy(p, SYM_ATTEMPTS_CUT, sizeof(SYM_ATTEMPTS_CUT) - 1);
        fetch->outcome.attempts.len += sizeof(SYM_ATTEMPTS_CUT) - 1;
        return;
    }

    p = ngx_slprintf(p, last, "%V %V %O %M %V\n", &fetch->source->name, &word,
                     fetch->received, ngx_current_msec - fetch->started,
                     &fetch->url);

    fetch->outcome.attempts.len = p - fetch->attempts;
}


/* The reason for the answer and the log: that of the first failure. */
static void
ngx_http_symbolicate_fetch_reason(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    u_char  *p, *last;

    last = fetch->reason + SYM_RPC_REASON_MAX;

    if (fetch->status && fetch->status != NGX_HTTP_OK) {
        p = ngx_slprintf(fetch->reason, last, "source \"%V\": %s: %ui",
                         &fetch->source->name, trouble, fetch->status);

    } else {
        p = ngx_slprintf(fetch->reason, last, "source \"%V\": %s",
                         &fetch->source->name, trouble);
    }

    fetch->outcome.reason.len = p - fetch->reason;
}


static void
ngx_http_symbolicate_fetch_count(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t outcome)
{
    ngx_http_symbolicate_count_fetch(fetch->source->metric->slot, outcome,
                                     fetch->received,
                                     ngx_current_msec - fetch->started);
}


/* The source could not be asked, or did not give what it has. */
static void
ngx_http_symbolicate_fetch_failed(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    ngx_http_symbolicate_fetch_note(fetch, trouble);
    ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_FAILED);

    if (fetch->nfailed++ == 0) {
        ngx_http_symbolicate_fetch_reason(fetch, trouble);
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "symbol source \"%V\": %s, status %ui: %V",
                  &fetch->source->name, trouble, fetch->status, &fetch->url);
}


/* The source has no such file; what it said instead may need an explanation. */
static void
ngx_http_symbolicate_fetch_absent(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char     *p, *last;
    ngx_str_t   host;

    ngx_http_symbolicate_fetch_note(fetch, NULL);
    ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_ABSENT);

    if (ngx_http_symbolicate_fetch_is_absent(fetch)) {
        return;
    }

    /* the first one's counts, unless something failed */

    if (fetch->nodd++ || fetch->nfailed) {
        return;
    }

    p = fetch->reason;
    last = fetch->reason + SYM_RPC_REASON_MAX;

    if (fetch->status == NGX_HTTP_OK) {
        p = ngx_slprintf(p, last, "source \"%V\": the object is empty",
                         &fetch->source->name);

    } else if (fetch->leads.len) {
        host = fetch->leads;

        if (ngx_http_symbolicate_fetch_host(&fetch->leads, &host, NULL)
            == NGX_OK)
        {
            p = ngx_slprintf(p, last, "source \"%V\": it answered %ui to %V; "
                             "%s", &fetch->source->name, fetch->status, &host,
                             fetch->hops == NGX_SYMBOLICATE_HOPS
                             ? "too many redirects"
                             : "name it with redirect=");
        } else {
            p = ngx_slprintf(p, last, "source \"%V\": it answered %ui, to "
                             "nowhere that can be asked",
                             &fetch->source->name, fetch->status);
        }

    } else {
        p = ngx_slprintf(p, last, "source \"%V\": it answered %ui",
                         &fetch->source->name, fetch->status);
    }

    fetch->outcome.reason.len = p - fetch->reason;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0, "symbol %V: %V",
                  &fetch->outcome.reason, &fetch->url);
}


/* --- redirects --- */

/* "https://HOST/PATH": the host, with a port if there is one, and the rest.
 * Whatever else may stand there is nothing to be asked. */
static ngx_int_t
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
 * Where a redirect leads: the location for its host, and what is behind the
 * host's first slash.  Also one within the source's own location is followed:
 * nginx writes those of the host that was asked so (proxy_redirect).
 */
static ngx_int_t
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


/* NGX_DECLINED: it is no redirect, or one that is not followed. */
static ngx_int_t
ngx_http_symbolicate_fetch_follow(ngx_http_symbolicate_fetch_t *fetch)
{
    u_char     *p, *src, *dst;
    ngx_str_t   uri, path, args, decoded;

    if (fetch->leads.len == 0 || fetch->hops == NGX_SYMBOLICATE_HOPS
        || ngx_http_symbolicate_fetch_lead(fetch, &uri, &path) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    for (p = path.data; p < path.data + path.len; p++) {
        if (*p <= ' ' || *p >= 0x7f) {
            return NGX_DECLINED;
        }
    }

    p = ngx_strlchr(path.data, path.data + path.len, '#');
    if (p) {
        path.len = p - path.data;
    }

    ngx_str_null(&args);

    p = ngx_strlchr(path.data, path.data + path.len, '?');
    if (p) {
        args.data = p + 1;
        args.len = path.data + path.len - args.data;
        path.len = p - path.data;
    }

    fetch->encoded.len = uri.len + path.len;
    fetch->encoded.data = ngx_pnalloc(fetch->pool, fetch->encoded.len);
    decoded.data = ngx_pnalloc(fetch->pool, fetch->encoded.len);

    if (fetch->encoded.data == NULL || decoded.data == NULL) {
        return NGX_DECLINED;
    }

    ngx_memcpy(ngx_cpymem(fetch->encoded.data, uri.data, uri.len), path.data,
               path.len);

    dst = ngx_cpymem(decoded.data, uri.data, uri.len);
    src = path.data;
    ngx_unescape_uri(&dst, &src, path.len, 0);
    decoded.len = dst - decoded.data;

    /* the location may serve a folder */

    if (ngx_strnstr(decoded.data, "/../", decoded.len)
        || (decoded.len > 3
            && ngx_strncmp(dst - 3, "/..", 3) == 0)
        || memchr(decoded.data, '\0', decoded.len))
    {
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_fetch_note(fetch, NULL);

    fetch->hops++;
    fetch->uri = decoded;
    fetch->path.data = fetch->encoded.data + uri.len;
    fetch->path.len = path.len;
    fetch->url = fetch->encoded;

    ngx_http_symbolicate_fetch_reset(fetch);

    return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_GET,
                                                 &ngx_http_symbolicate_get,
                                                 &fetch->uri, &args);
}


static void
ngx_http_symbolicate_fetch_end(ngx_http_symbolicate_fetch_t *fetch,
    sym_module_state_t state)
{
    u_char  *p;

    if (fetch->timer.timer_set) {
        ngx_del_timer(&fetch->timer);
    }

    fetch->outcome.state = state;

    if (state == SYM_MODULE_ABSENT && fetch->nodd == 0) {
        p = ngx_slprintf(fetch->reason, fetch->reason + SYM_RPC_REASON_MAX,
                         "no source has it");
        fetch->outcome.reason.len = p - fetch->reason;
    }

    ngx_http_symbolicate_pending_fetched(fetch->pending, fetch);
}


/* A .sym file was uploaded on purpose, so it counts.  Any other file is an
 * offer: better ones may lie at the remaining paths. */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_offer(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_uint_t                      next;
    sym_source_file_t               file;
    ngx_http_symbolicate_source_t  *source;

    next = fetch->next;

    return fetch->file != SYM_SOURCE_BREAKPAD
           && ngx_http_symbolicate_fetch_find(fetch, &next, &source, &file);
}


static void
ngx_http_symbolicate_fetch_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_fetch_t *fetch = data;

    ngx_int_t                        again;
    const char                      *trouble;
    ngx_http_symbolicate_fetch_result_t  *out;

    out = &fetch->outcome;

    trouble = ngx_http_symbolicate_fetch_trouble(fetch, rc, is_whole);

    if (fetch->need) {
        ngx_http_symbolicate_fetch_note(fetch, trouble);
        out->need = fetch->need;
        out->unsized = fetch->announced == -1;
        ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_FAILED);
        return;
    }

    if (trouble == NULL && fetch->status == NGX_HTTP_OK && fetch->received) {
        ngx_http_symbolicate_fetch_note(fetch, NULL);
        ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_FOUND);
        out->fd = fetch->temp ? fetch->temp->file.fd : fetch->fd;
        out->offset = fetch->offset;
        out->length = fetch->received;
        out->source = fetch->url;
        out->next = fetch->next;
        out->offer = ngx_http_symbolicate_fetch_is_offer(fetch);
        ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_READY);
        return;
    }

    if (trouble) {
        ngx_http_symbolicate_fetch_failed(fetch, trouble);

    } else if (ngx_http_symbolicate_fetch_follow(fetch) == NGX_OK) {
        return;

    } else {
        ngx_http_symbolicate_fetch_absent(fetch);
    }

    again = ngx_http_symbolicate_fetch_try(fetch);

    if (again == NGX_OK) {
        return;
    }

    if (again == NGX_ERROR && fetch->nfailed++ == 0) {
        ngx_http_symbolicate_fetch_reason(fetch, "out of memory");
    }

    ngx_http_symbolicate_fetch_end(fetch, fetch->nfailed ? SYM_MODULE_FAILED
                                                         : SYM_MODULE_ABSENT);
}
