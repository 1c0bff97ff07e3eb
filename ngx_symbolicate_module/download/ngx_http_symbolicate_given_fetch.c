
/*
 * ngx_http_symbolicate_given_fetch.c - an attempt at a source of a request.
 *
 * A client may name any host, so each address of a host is checked after it was
 * resolved, and the connection is made to the very address that was checked:
 * the internal location passes the request to a literal address.  The host's
 * name stays in the Host header, in the TLS handshake and in the check of the
 * certificate.  A redirect is another such request, checked in the same way,
 * and carries credentials only if it stays at its origin.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/attempts.h"
#include "sources/guard/address.h"
#include "sources/aws/sigv4.h"
#include "sources/request/given.h"
#include "sources/google/google.h"
#include "sources/guard/origins.h"
#include "sources/request/sentry_files.h"
#include "sources/guard/url.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "download/ngx_http_symbolicate_fetch_range.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_given.h"
#include "download/ngx_http_symbolicate_given_fetch.h"
#include "download/ngx_http_symbolicate_given_files.h"


#define NGX_SYMBOLICATE_GIVEN_HOPS    10

/* Of the texts of one fetch, all its attempts and redirects together. */
#define NGX_SYMBOLICATE_GIVEN_TEXTS   (4 * 1024 * 1024)

#define NGX_SYMBOLICATE_USER_AGENT    "ngx_symbolicate/" NGX_SYMBOLICATE_VERSION


/* What the subrequest under way asks for. */
typedef enum {
    ngx_http_symbolicate_given_file = 0,
    ngx_http_symbolicate_given_files,
    ngx_http_symbolicate_given_token
} ngx_http_symbolicate_given_step_e;


struct ngx_http_symbolicate_given_fetch_s {
    ngx_http_symbolicate_fetch_t   *fetch;
    sym_arena_t                     arena;
    sym_url_t                       first;      /* the credentials are for its
                                                 * origin */
    sym_url_t                       url;        /* under way */

    ngx_resolver_ctx_t             *resolving;  /* NULL: nothing is */
    ngx_event_t                     event;      /* the attempt has ended without
                                                 * a subrequest */

    ngx_str_t                       outcome;    /* of an attempt that did not
                                                 * get as far as the file's
                                                 * host; or empty */
    unsigned                        unresolved:1;   /* its host is */

    const sym_given_source_t       *headed;     /* whose headers these are the
                                                 * values of */
    sym_str_t                      *values;

    ngx_http_symbolicate_given_step_e  step;
    u_char                         *text;       /* of an answer that is no
                                                 * file */
    size_t                          ntext;

    /* of a gcs source */
    sym_url_t                       place;      /* of the file, once there is
                                                 * a token */
    sym_sha256_t                    key;        /* of the token */
    sym_str_t                       token;
    sym_str_t                       form;       /* to be posted */
    ngx_queue_t                     queue;      /* of those that wait for a
                                                 * token; next is NULL: in
                                                 * none */

    /* of a sentry source */
    const sym_given_source_t       *listed;     /* its list was asked for */
    sym_sentry_file_t              *files;      /* of it; files 0: was tried */
    uint32_t                        nfiles;

    /* variables of the internal location */
    ngx_str_t                       target;
    ngx_str_t                       host;
    ngx_str_t                       name;
};


/* of this worker; NULL: not used yet */
static sym_google_tokens_t  *ngx_http_symbolicate_given_tokens;


/* Attempts that wait for their turn to sign, and for tokens. */
static ngx_queue_t  ngx_http_symbolicate_given_unsigned;
static ngx_queue_t  ngx_http_symbolicate_given_asking;
static ngx_event_t  ngx_http_symbolicate_given_signing;


static void ngx_http_symbolicate_given_enqueue(
    ngx_http_symbolicate_given_fetch_t *g);
static void ngx_http_symbolicate_given_next(void);
static void ngx_http_symbolicate_given_dequeue(
    ngx_http_symbolicate_given_fetch_t *g);
static void ngx_http_symbolicate_given_turn(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_given_exchange(
    ngx_http_symbolicate_given_fetch_t *g);
static void ngx_http_symbolicate_given_refuse(
    ngx_http_symbolicate_given_fetch_t *g, const char *why);
static ngx_int_t ngx_http_symbolicate_given_ask(
    ngx_http_symbolicate_given_fetch_t *g);
static void ngx_http_symbolicate_given_resolved(ngx_resolver_ctx_t *ctx);
static ngx_int_t ngx_http_symbolicate_given_connect(
    ngx_http_symbolicate_given_fetch_t *g, sym_address_t *address);
static void ngx_http_symbolicate_given_end(ngx_event_t *ev);


static ngx_str_t
ngx_http_symbolicate_given_str(sym_str_t s)
{
    ngx_str_t  text;

    text.data = (u_char *) s.data;
    text.len = s.len;

    return text;
}


static ngx_http_symbolicate_given_fetch_t *
ngx_http_symbolicate_given_of(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    if (fetch->given) {
        return fetch->given;
    }

    g = ngx_pcalloc(fetch->pool, sizeof(ngx_http_symbolicate_given_fetch_t));
    if (g == NULL) {
        return NULL;
    }

    g->fetch = fetch;
    g->event.handler = ngx_http_symbolicate_given_end;
    g->event.data = g;
    g->event.log = ngx_cycle->log;
    sym_arena_init(&g->arena, NGX_SYMBOLICATE_GIVEN_TEXTS);

    fetch->given = g;

    return g;
}


/* The token and its grant, but for what nginx has sent. */
static void
ngx_http_symbolicate_given_wipe(ngx_http_symbolicate_given_fetch_t *g)
{
    if (g->token.len) {
        sym_wipe((void *) (uintptr_t) g->token.data, g->token.len);
    }

    if (g->form.len) {
        sym_wipe((void *) (uintptr_t) g->form.data, g->form.len);
    }

    g->token = SYM_STR("");
    g->form = SYM_STR("");
}


void
ngx_http_symbolicate_given_cancel(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (g == NULL) {
        return;
    }

    if (g->resolving) {
        ngx_resolve_name_done(g->resolving);
        g->resolving = NULL;
    }

    if (g->event.posted) {
        ngx_delete_posted_event(&g->event);
    }

    ngx_http_symbolicate_given_dequeue(g);
    ngx_http_symbolicate_given_wipe(g);
    sym_arena_drop(&g->arena);

    fetch->given = NULL;
}


/* Ends the attempt, never at once.  trouble: static; NULL: fetch->status is
 * set. */
static ngx_int_t
ngx_http_symbolicate_given_stop(ngx_http_symbolicate_given_fetch_t *g,
    const char *trouble)
{
    if (trouble) {
        g->fetch->trouble = trouble;
    }

    ngx_post_event(&g->event, &ngx_posted_events);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_given_restricted(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_str_set(&g->outcome, SYM_ATTEMPT_RESTRICTED);

    return ngx_http_symbolicate_given_stop(g, "destination is restricted");
}


static void
ngx_http_symbolicate_given_end(ngx_event_t *ev)
{
    ngx_http_symbolicate_given_fetch_t *g = ev->data;

    g->fetch->done(g->fetch, NGX_OK, 1);
}


/* --- hosts that keep failing --- */

/*
 * The host of the source, wherever it leads to: as in Symbolicator.
 * NGX_DECLINED: it is not blocked.
 */
static ngx_int_t
ngx_http_symbolicate_given_check_host(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_str_t                      outcome;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    outcome.data = ngx_pnalloc(fetch->pool, NGX_SYMBOLICATE_BLOCKED_MAX);
    if (outcome.data == NULL) {
        return NGX_ERROR;
    }

    if (!ngx_http_symbolicate_denied_is(fetch->policy->given_conf,
                                        fetch->source->given, &g->first,
                                        &outcome))
    {
        return NGX_DECLINED;
    }

    g->outcome = outcome;

    return ngx_http_symbolicate_given_stop(g,
                          "its host is blocked: too many downloads failed");
}


ngx_uint_t
ngx_http_symbolicate_given_outcome(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    if (fetch->given == NULL || fetch->given->outcome.len == 0) {
        return 0;
    }

    *outcome = fetch->given->outcome;

    return 1;
}


/*
 * A refusal is an answer, and what this server refuses or has no room for is
 * not the host's fault.
 */
void
ngx_http_symbolicate_given_failed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *outcome)
{
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (g == NULL || fetch->source->given == NULL) {
        return;
    }

    if (g->token.len && fetch->source->given->token.len == 0
        && fetch->status == NGX_HTTP_UNAUTHORIZED)
    {

        /* it was revoked */

        sym_google_token_forget(ngx_http_symbolicate_given_tokens, &g->key);
    }

    if (g->first.host.len == 0 || g->outcome.len
        || (fetch->trouble && !fetch->late && !g->unresolved)
        || fetch->status == NGX_HTTP_UNAUTHORIZED
        || fetch->status == NGX_HTTP_FORBIDDEN
        || fetch->status == NGX_HTTP_MOVED_TEMPORARILY)
    {
        return;
    }

    ngx_http_symbolicate_denied_count(fetch->policy->given_conf,
                                      fetch->source->given, &g->first, outcome,
                                      ngx_current_msec - fetch->started);
}


/* What is shown in logs, answers and the store is a line of words. */
static ngx_int_t
ngx_http_symbolicate_given_show(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t shown)
{
    size_t   i;
    u_char  *p, *last;

    p = ngx_pnalloc(fetch->pool, shown.len * 3 + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    fetch->url.data = p;
    last = p + SYM_RPC_SOURCE_MAX - 3;

    for (i = 0; i < shown.len && p < fetch->url.data + shown.len * 3
                && p < last; i++)
    {
        if ((u_char) shown.data[i] <= ' ' || shown.data[i] == 0x7f) {
            p = ngx_sprintf(p, "%%%02Xd", (ngx_uint_t) (u_char) shown.data[i]);

        } else {
            *p++ = shown.data[i];
        }
    }

    fetch->url.len = p - fetch->url.data;

    return NGX_OK;
}


/* Answers that are no files are kept in memory. */
static ngx_int_t
ngx_http_symbolicate_given_read(ngx_http_symbolicate_given_fetch_t *g,
    ngx_http_symbolicate_given_step_e step)
{
    if (g->text == NULL) {
        g->text = ngx_palloc(g->fetch->pool, SYM_SENTRY_FILES_BYTES);
        if (g->text == NULL) {
            return NGX_ERROR;
        }
    }

    g->ntext = 0;
    g->step = step;

    return NGX_OK;
}


/* --- tokens of Google --- */

/* Ends the attempt, which did not get as far as the file. */
static ngx_int_t
ngx_http_symbolicate_given_no_token(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_str_set(&g->outcome, SYM_ATTEMPT_NO_TOKEN);

    return ngx_http_symbolicate_given_stop(g, "no token for its key");
}


static ngx_int_t
ngx_http_symbolicate_given_ask_with(ngx_http_symbolicate_given_fetch_t *g,
    sym_str_t token)
{
    g->token = sym_arena_copy(&g->arena, token);
    if (g->token.data == NULL) {
        return NGX_ERROR;
    }

    g->first = g->place;
    g->url = g->place;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


/* Asks for the file at g->place, or first for a token. */
static ngx_int_t
ngx_http_symbolicate_given_try_google(ngx_http_symbolicate_given_fetch_t *g,
    const sym_given_source_t *source)
{
    sym_str_t                           audience;
    ngx_http_symbolicate_given_conf_t  *conf;

    ngx_http_symbolicate_given_wipe(g);

    if (source->token.len) {
        return ngx_http_symbolicate_given_ask_with(g, source->token);
    }

    conf = g->fetch->policy->given_conf;
    audience = sym_str((char *) conf->audience.data, conf->audience.len);

    if (ngx_http_symbolicate_given_tokens == NULL) {
        ngx_http_symbolicate_given_tokens =
                       ngx_calloc(sizeof(sym_google_tokens_t), ngx_cycle->log);
        if (ngx_http_symbolicate_given_tokens == NULL) {
            return NGX_ERROR;
        }
    }

    if (!sym_google_key(&g->arena, source, audience, &g->key)
        || ngx_http_symbolicate_given_read(g, ngx_http_symbolicate_given_token)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_given_enqueue(g);

    return NGX_OK;
}


/* --- signatures, one in a turn of the event loop --- */

/* The attempt waits for its turn to sign, and for the answer to another attempt
 * with the same key. */
static void
ngx_http_symbolicate_given_enqueue(ngx_http_symbolicate_given_fetch_t *g)
{
    if (ngx_http_symbolicate_given_signing.handler == NULL) {
        ngx_queue_init(&ngx_http_symbolicate_given_unsigned);
        ngx_queue_init(&ngx_http_symbolicate_given_asking);
        ngx_http_symbolicate_given_signing.handler =
                                            ngx_http_symbolicate_given_turn;
    }

    ngx_queue_insert_tail(&ngx_http_symbolicate_given_unsigned, &g->queue);
    ngx_http_symbolicate_given_next();
}


static void
ngx_http_symbolicate_given_next(void)
{
    ngx_http_symbolicate_given_signing.log = ngx_cycle->log;
    ngx_post_event(&ngx_http_symbolicate_given_signing,
                   &ngx_posted_next_events);
}


/* The attempt has ended, or its token has come. */
static void
ngx_http_symbolicate_given_dequeue(ngx_http_symbolicate_given_fetch_t *g)
{
    if (g->queue.next) {
        ngx_queue_remove(&g->queue);
        g->queue.next = NULL;

        if (!ngx_queue_empty(&ngx_http_symbolicate_given_unsigned)) {
            ngx_http_symbolicate_given_next();
        }
    }
}


static ngx_uint_t
ngx_http_symbolicate_given_is_asking(sym_sha256_t *key)
{
    ngx_queue_t                         *q;
    ngx_http_symbolicate_given_fetch_t  *g;

    for (q = ngx_queue_head(&ngx_http_symbolicate_given_asking);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_given_asking);
         q = ngx_queue_next(q))
    {
        g = ngx_queue_data(q, ngx_http_symbolicate_given_fetch_t, queue);

        if (ngx_memcmp(g->key.bytes, key->bytes, SYM_SHA256_LEN) == 0) {
            return 1;
        }
    }

    return 0;
}


/* The attempts that wait are downloads, of which there are few. */
static void
ngx_http_symbolicate_given_turn(ngx_event_t *ev)
{
    ngx_queue_t                         *q;
    ngx_http_symbolicate_given_fetch_t  *g;

    for (q = ngx_queue_head(&ngx_http_symbolicate_given_unsigned);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_given_unsigned);
         q = ngx_queue_next(q))
    {
        g = ngx_queue_data(q, ngx_http_symbolicate_given_fetch_t, queue);

        if (!ngx_http_symbolicate_given_is_asking(&g->key)) {

            if (ngx_http_symbolicate_given_exchange(g) != NGX_OK) {
                ngx_http_symbolicate_given_dequeue(g);
                (void) ngx_http_symbolicate_given_stop(g, "out of memory");
            }

            if (!ngx_queue_empty(&ngx_http_symbolicate_given_unsigned)) {
                ngx_http_symbolicate_given_next();
            }

            return;
        }
    }
}


/* The key cannot be used: now, or at all. */
static ngx_int_t
ngx_http_symbolicate_given_refused(ngx_http_symbolicate_given_fetch_t *g,
    const char *why)
{
    g->step = ngx_http_symbolicate_given_file;

    if (why == NULL) {
        return ngx_http_symbolicate_given_no_token(g);
    }

    ngx_str_set(&g->outcome, SYM_ATTEMPT_BAD_KEY);

    return ngx_http_symbolicate_given_stop(g, why);
}


/* Asks for a token, unless another attempt has got one, or none. */
static ngx_int_t
ngx_http_symbolicate_given_exchange(ngx_http_symbolicate_given_fetch_t *g)
{
    sym_str_t                           token, audience;
    const char                         *why;
    sym_error_t                         err;
    sym_status_t                        status;
    ngx_http_symbolicate_given_conf_t  *conf;

    conf = g->fetch->policy->given_conf;
    audience = sym_str((char *) conf->audience.data, conf->audience.len);

    token = sym_google_token_find(ngx_http_symbolicate_given_tokens, &g->key,
                                  ngx_time());
    if (token.len) {
        ngx_http_symbolicate_given_dequeue(g);
        g->step = ngx_http_symbolicate_given_file;
        return ngx_http_symbolicate_given_ask_with(g, token);
    }

    if (sym_google_is_refused(ngx_http_symbolicate_given_tokens, &g->key,
                              ngx_time(), &why))
    {
        ngx_http_symbolicate_given_dequeue(g);
        return ngx_http_symbolicate_given_refused(g, why);
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    status = sym_google_grant(&g->arena, g->fetch->source->given, audience,
                              ngx_time(), &g->form, &err);

    if (status == SYM_NOMEM) {
        return NGX_ERROR;
    }

    if (status != SYM_OK) {
        ngx_http_symbolicate_given_dequeue(g);
        ngx_http_symbolicate_given_refuse(g, err.what);
        return ngx_http_symbolicate_given_refused(g, err.what);
    }

    ngx_queue_remove(&g->queue);
    ngx_queue_insert_tail(&ngx_http_symbolicate_given_asking, &g->queue);

    g->first = conf->token;
    g->url = conf->token;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


/* For as long as a failed module is not looked for again. */
static void
ngx_http_symbolicate_given_refuse(ngx_http_symbolicate_given_fetch_t *g,
    const char *why)
{
    sym_google_refuse(ngx_http_symbolicate_given_tokens, &g->key, why,
                      ngx_time() + ngx_max(g->fetch->policy->ttl.failed, 1));
}


/* The token has come; NGX_DECLINED: the attempt ends. */
static ngx_int_t
ngx_http_symbolicate_given_answered(ngx_http_symbolicate_given_fetch_t *g,
    ngx_uint_t is_whole)
{
    uint32_t                       life;
    sym_str_t                      token;
    sym_error_t                    err;
    sym_status_t                   status;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    g->step = ngx_http_symbolicate_given_file;
    ngx_http_symbolicate_given_dequeue(g);

    if (fetch->trouble || fetch->status != NGX_HTTP_OK || !is_whole) {
        ngx_http_symbolicate_given_refuse(g, NULL);
        ngx_str_set(&g->outcome, SYM_ATTEMPT_NO_TOKEN);

        if (fetch->trouble == NULL) {
            fetch->trouble = "no token for its key";
        }

        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    status = sym_google_token_read(&g->arena,
                                   sym_str((char *) g->text, g->ntext), &token,
                                   &life, &err);

    sym_wipe(g->text, g->ntext);

    ngx_http_symbolicate_fetch_reset(fetch);

    if (status != SYM_OK) {
        ngx_http_symbolicate_given_refuse(g, NULL);
        return ngx_http_symbolicate_given_no_token(g);
    }

    if (life) {
        sym_google_token_keep(ngx_http_symbolicate_given_tokens, &g->key,
                              token, ngx_time() + life);
    }

    status = ngx_http_symbolicate_given_ask_with(g, token) == NGX_OK
             ? SYM_OK : SYM_NOMEM;

    sym_wipe((void *) (uintptr_t) token.data, token.len);

    if (status != SYM_OK) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


/* --- Sentry's own files --- */

ngx_uint_t
ngx_http_symbolicate_given_is_list(ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->given
           && fetch->given->step != ngx_http_symbolicate_given_file;
}


/* Asks for the file of the list that is of the attempt's type.  NGX_DECLINED:
 * the list has no such file. */
static ngx_int_t
ngx_http_symbolicate_given_pick(ngx_http_symbolicate_given_fetch_t *g)
{
    uint32_t            i;
    sym_str_t           shown;
    sym_sentry_file_t  *file;

    for (i = 0; i < g->nfiles; i++) {
        file = &g->files[i];

        if (!(file->files & (1u << g->fetch->file))) {
            continue;
        }

        file->files = 0;

        if (sym_sentry_file_url(&g->arena, &g->listed->url, file->id, &g->url,
                                &shown)
                != SYM_OK
            || ngx_http_symbolicate_given_show(g->fetch, shown) != NGX_OK)
        {
            return NGX_ERROR;
        }

        g->first = g->url;
        g->fetch->remote = 1;

        return ngx_http_symbolicate_given_ask(g);
    }

    return NGX_DECLINED;
}


/* The list is asked for once in a fetch, before the first file. */
static ngx_int_t
ngx_http_symbolicate_given_try_sentry(ngx_http_symbolicate_given_fetch_t *g,
    const sym_given_source_t *source)
{
    sym_status_t  status;

    if (g->listed == source) {
        return ngx_http_symbolicate_given_pick(g);
    }

    g->listed = source;
    g->nfiles = 0;

    if (g->fetch->module.object == NULL) {
        return NGX_DECLINED;
    }

    status = sym_sentry_list_url(&g->arena, &source->url,
                                 g->fetch->module.object, &g->url);

    if (status == SYM_NOT_FOUND) {
        return NGX_DECLINED;
    }

    if (g->files == NULL) {
        g->files = ngx_palloc(g->fetch->pool, SYM_SENTRY_FILES_MAX
                                              * sizeof(sym_sentry_file_t));
    }

    if (status != SYM_OK || g->files == NULL
        || ngx_http_symbolicate_given_read(g, ngx_http_symbolicate_given_files)
           != NGX_OK
        || ngx_http_symbolicate_given_show(g->fetch,
                                       sym_url_shown(&g->arena, &source->url))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    g->first = g->url;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


/* The list has come; NGX_DECLINED: the attempt ends. */
static ngx_int_t
ngx_http_symbolicate_given_list(ngx_http_symbolicate_given_fetch_t *g,
    ngx_uint_t is_whole)
{
    ngx_int_t                      rc;
    sym_error_t                    err;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    g->step = ngx_http_symbolicate_given_file;

    if (fetch->trouble || fetch->status != NGX_HTTP_OK) {
        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (!is_whole
        || sym_sentry_files_read(&g->arena, sym_str((char *) g->text, g->ntext),
                                 g->files, &g->nfiles, &err)
           != SYM_OK)
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                          "its list of files is not readable");
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_fetch_reset(fetch);

    rc = ngx_http_symbolicate_given_pick(g);

    if (rc == NGX_ERROR) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
        return NGX_DECLINED;
    }

    if (rc == NGX_DECLINED) {
        fetch->status = NGX_HTTP_NOT_FOUND;
    }

    return rc;
}


/* The text of a source link: the object has its URL. */
static ngx_int_t
ngx_http_symbolicate_given_try_link(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_int_t    rc;
    sym_error_t  err;

    ngx_memzero(&err, sizeof(sym_error_t));

    switch (sym_url_read(&g->arena, g->fetch->object.url, &g->url,
                         &err))
    {

    case SYM_OK:
        break;

    case SYM_NOMEM:
        return NGX_ERROR;

    default:
        return ngx_http_symbolicate_given_stop(g, "its address is not valid");
    }

    if (ngx_http_symbolicate_given_show(g->fetch,
                                        sym_url_shown(&g->arena, &g->url))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    g->first = g->url;

    rc = ngx_http_symbolicate_given_check_host(g);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    g->fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


ngx_int_t
ngx_http_symbolicate_given_try(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t encoded, sym_str_t key)
{
    ngx_int_t                            rc;
    sym_error_t                          err;
    sym_given_place_t                    place;
    const sym_given_source_t            *source;
    ngx_http_symbolicate_given_fetch_t  *g;

    g = ngx_http_symbolicate_given_of(fetch);
    if (g == NULL) {
        return NGX_ERROR;
    }

    g->unresolved = 0;
    ngx_str_null(&g->outcome);
    g->step = ngx_http_symbolicate_given_file;
    ngx_memzero(&g->first, sizeof(sym_url_t));

    source = fetch->source->given;

    if (source->is_links) {
        return ngx_http_symbolicate_given_try_link(g);
    }

    if (source->type == SYM_GIVEN_SENTRY) {
        return ngx_http_symbolicate_given_try_sentry(g, source);
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_given_place(&g->arena, source, &fetch->policy->given_conf->storage,
                        encoded, key, &place, &err)
            != SYM_OK
        || ngx_http_symbolicate_given_show(fetch, place.shown) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (source->type == SYM_GIVEN_FILESYSTEM) {
        return ngx_http_symbolicate_given_stop(g,
                          ngx_http_symbolicate_given_open(fetch, place.file));
    }

    if (source->wants_role) {
        return ngx_http_symbolicate_given_stop(g,
                           "a request may not use the keys of this server");
    }

    if (source->type == SYM_GIVEN_GCS) {
        g->place = place.url;
        return ngx_http_symbolicate_given_try_google(g, source);
    }

    g->first = place.url;
    g->url = place.url;

    rc = ngx_http_symbolicate_given_check_host(g);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


/* --- addresses --- */

static ngx_uint_t
ngx_http_symbolicate_given_is_allowed(ngx_http_symbolicate_given_fetch_t *g,
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

    allow = g->fetch->policy->given_conf->allow;

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


/* Begins to ask for g->url. */
static ngx_int_t
ngx_http_symbolicate_given_ask(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_msec_t           timeout;
    sym_address_t        address;
    ngx_resolver_t      *resolver;
    ngx_resolver_ctx_t  *ctx, temp;

    switch (sym_address_read(g->url.host, &address)) {

    case SYM_OK:
        if (!ngx_http_symbolicate_given_is_allowed(g, &address)) {
            return ngx_http_symbolicate_given_restricted(g);
        }

        return ngx_http_symbolicate_given_connect(g, &address);

    case SYM_NOT_FOUND:
        break;

    default:
        return ngx_http_symbolicate_given_stop(g, "its host is not valid");
    }

    resolver = ngx_http_symbolicate_given_resolver(g->fetch->policy->given,
                                                   &timeout);
    if (resolver == NULL) {
        return ngx_http_symbolicate_given_stop(g, "no resolver is configured");
    }

    temp.name = ngx_http_symbolicate_given_str(g->url.host);

    ctx = ngx_resolve_start(resolver, &temp);

    if (ctx == NGX_NO_RESOLVER) {
        return ngx_http_symbolicate_given_stop(g, "no resolver is configured");
    }

    if (ctx == NULL) {
        return NGX_ERROR;
    }

    ctx->name = temp.name;
    ctx->handler = ngx_http_symbolicate_given_resolved;
    ctx->data = g;
    ctx->timeout = timeout;

    /* the handler may run before this returns */

    g->resolving = ctx;

    if (ngx_resolve_name(ctx) != NGX_OK) {
        g->resolving = NULL;
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_given_address(ngx_resolver_addr_t *from,
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
ngx_http_symbolicate_given_resolved(ngx_resolver_ctx_t *ctx)
{
    ngx_http_symbolicate_given_fetch_t *g = ctx->data;

    ngx_uint_t      i, n;
    const char     *trouble;
    sym_address_t   address;

    n = ctx->state ? 0 : ctx->naddrs;

    for (i = 0; i < n; i++) {

        if (ngx_http_symbolicate_given_address(&ctx->addrs[i], &address)
                == NGX_OK
            && ngx_http_symbolicate_given_is_allowed(g, &address))
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
        (void) ngx_http_symbolicate_given_stop(g, trouble);

    } else if (i == n) {
        (void) ngx_http_symbolicate_given_restricted(g);

    } else if (ngx_http_symbolicate_given_connect(g, &address) != NGX_OK) {
        (void) ngx_http_symbolicate_given_stop(g, "out of memory");
    }
}


/* --- requests --- */

static ngx_int_t
ngx_http_symbolicate_given_add(ngx_http_symbolicate_given_fetch_t *g,
    const char *name, sym_str_t value)
{
    ngx_str_t  text;

    text = ngx_http_symbolicate_given_str(value);

    return ngx_http_symbolicate_background_add_header(g->fetch->bg, name,
                                                      &text);
}


/* "Basic ..." of the userinfo of the URL. */
static ngx_int_t
ngx_http_symbolicate_given_add_basic(ngx_http_symbolicate_given_fetch_t *g)
{
    u_char     *p;
    ngx_str_t   from, to;

    from = ngx_http_symbolicate_given_str(g->first.userinfo);

    p = ngx_pnalloc(g->fetch->pool,
                    sizeof("Basic ") + from.len + ngx_base64_encoded_length(
                                                                   from.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    to.data = ngx_cpymem(p, "Basic ", sizeof("Basic ") - 1);
    ngx_encode_base64(&to, &from);

    return ngx_http_symbolicate_given_add(g, "Authorization",
                       sym_str((char *) p, sizeof("Basic ") - 1 + to.len));
}


/* "Bearer ..." */
static ngx_int_t
ngx_http_symbolicate_given_add_bearer(ngx_http_symbolicate_given_fetch_t *g,
    sym_str_t token)
{
    u_char  *p;

    p = ngx_pnalloc(g->fetch->pool, sizeof("Bearer ") + token.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_given_add(g, "Authorization",
                       sym_str((char *) p,
                               ngx_sprintf(p, "Bearer %*s", token.len,
                                           token.data)
                               - p));
}


/* AWS's signature, version 4. */
static ngx_int_t
ngx_http_symbolicate_given_sign(ngx_http_symbolicate_given_fetch_t *g,
    const sym_given_source_t *source)
{
    sym_error_t              err;
    sym_sigv4_t              signature;
    sym_status_t             status;
    sym_sigv4_key_t          key;
    sym_sigv4_header_t       host;
    sym_sigv4_request_t      request;
    sym_aws_credentials_t    keys;

    ngx_memzero(&err, sizeof(sym_error_t));
    ngx_memzero(&key, sizeof(sym_sigv4_key_t));
    ngx_memzero(&keys, sizeof(sym_aws_credentials_t));
    ngx_memzero(&request, sizeof(sym_sigv4_request_t));

    keys.access_key = source->access_key;
    keys.secret_key = source->secret_key;
    keys.token = source->session_token;

    host.name = SYM_STR("Host");
    host.value = sym_str((char *) g->host.data, g->host.len);

    request.method = SYM_STR("GET");
    request.path = g->url.path;
    request.query = g->url.query;
    request.headers = &host;
    request.n_headers = 1;
    request.payload_hash = SYM_SIGV4_EMPTY;
    request.credentials = &keys;
    request.region = source->region;
    request.time_s = ngx_time();

    status = sym_sigv4_sign(&g->arena, &key, &request, &signature, &err);

    sym_wipe(&key, sizeof(sym_sigv4_key_t));

    if (status != SYM_OK
        || ngx_http_symbolicate_given_add(g, "Authorization",
                                          signature.authorization) != NGX_OK
        || ngx_http_symbolicate_given_add(g, "X-Amz-Date",
                                          signature.amz_date) != NGX_OK
        || ngx_http_symbolicate_given_add(g, "X-Amz-Content-Sha256",
                                          signature.content_sha256) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return signature.security_token.len
           ? ngx_http_symbolicate_given_add(g, "X-Amz-Security-Token",
                                            signature.security_token)
           : NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_given_add_keys(ngx_http_symbolicate_given_fetch_t *g,
    const sym_given_source_t *source)
{
    switch (source->type) {

    case SYM_GIVEN_S3:
        return source->access_key.len
               ? ngx_http_symbolicate_given_sign(g, source) : NGX_OK;

    case SYM_GIVEN_GCS:
        return ngx_http_symbolicate_given_add_bearer(g, g->token);

    case SYM_GIVEN_SENTRY:
        return source->token.len
               ? ngx_http_symbolicate_given_add_bearer(g, source->token)
               : ngx_http_symbolicate_given_add(g, "Cookie", source->cookies);

    default:
        return NGX_OK;
    }
}


/* Copies that live as long as the requests that have them: one, however many
 * attempts and redirects there are. */
static ngx_int_t
ngx_http_symbolicate_given_copy_values(ngx_http_symbolicate_given_fetch_t *g,
    const sym_given_source_t *source)
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


/* What only the source's own origin may see. */
static ngx_int_t
ngx_http_symbolicate_given_add_own(ngx_http_symbolicate_given_fetch_t *g,
    ngx_uint_t *has_agent)
{
    u_char                    *name;
    ngx_uint_t                 i;
    const sym_given_source_t  *source;

    source = g->fetch->source->given;

    if (ngx_http_symbolicate_given_copy_values(g, source) != NGX_OK) {
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

        if (ngx_http_symbolicate_given_add(g, (char *) name, g->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (g->first.userinfo.len
        && ngx_http_symbolicate_given_add_basic(g) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (source->type == SYM_GIVEN_HTTP
        && ngx_http_symbolicate_fetch_add_checksum(g->fetch) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_given_add_keys(g, source);
}


/* Headers for source links are for some places only, as the request says. */
static ngx_uint_t
ngx_http_symbolicate_given_is_trusted(ngx_http_symbolicate_given_fetch_t *g)
{
    const sym_given_source_t  *source;

    source = g->fetch->source->given;

    return !source->is_links
           || sym_origins_have(source->patterns, source->n_patterns, &g->first,
                               g->fetch->object.url);
}


static ngx_int_t
ngx_http_symbolicate_given_headers(ngx_http_symbolicate_given_fetch_t *g)
{
    ngx_uint_t  has_agent;

    has_agent = 0;

    if (ngx_http_symbolicate_background_reset(g->fetch->bg) != NGX_OK) {
        return NGX_ERROR;
    }

    if (g->step == ngx_http_symbolicate_given_token) {
        if (ngx_http_symbolicate_given_add(g, "Content-Type",
                               SYM_STR("application/x-www-form-urlencoded"))
            != NGX_OK)
        {
            return NGX_ERROR;
        }

    } else if (sym_url_is_same_origin(&g->first, &g->url)
        && ngx_http_symbolicate_given_is_trusted(g)
        && ngx_http_symbolicate_given_add_own(g, &has_agent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* the loader unpacks one layer, which is the file's own */

    if (ngx_http_symbolicate_given_add(g, "Accept-Encoding",
                                       SYM_STR("identity"))
            != NGX_OK
        || ngx_http_symbolicate_fetch_add_range(g->fetch) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return has_agent ? NGX_OK
                     : ngx_http_symbolicate_given_add(g, "User-Agent",
                                         SYM_STR(NGX_SYMBOLICATE_USER_AGENT));
}


static ngx_int_t
ngx_http_symbolicate_given_connect(ngx_http_symbolicate_given_fetch_t *g,
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
    g->host = ngx_http_symbolicate_given_str(authority);
    g->name = ngx_http_symbolicate_given_str(g->url.host);

    if (ngx_http_symbolicate_given_headers(g) != NGX_OK) {
        return NGX_ERROR;
    }

    fetch->uri = fetch->source->uri;
    fetch->encoded = fetch->uri;
    fetch->path = none;

    if (g->step != ngx_http_symbolicate_given_token) {
        return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_GET,
                                                     &get, &fetch->uri, &none);
    }

    form = ngx_http_symbolicate_given_str(g->form);

    ngx_http_symbolicate_background_set_body(fetch->bg, &form);

    return ngx_http_symbolicate_background_start(fetch->bg, NGX_HTTP_POST,
                                                 &post, &fetch->uri, &none);
}


void
ngx_http_symbolicate_given_target(ngx_http_symbolicate_fetch_t *fetch,
    ngx_str_t *url, ngx_str_t *host, ngx_str_t *name)
{
    ngx_str_null(url);
    ngx_str_null(host);
    ngx_str_null(name);

    if (fetch->given) {
        *url = fetch->given->target;
        *host = fetch->given->host;
        *name = fetch->given->name;
    }
}


ngx_int_t
ngx_http_symbolicate_given_again(ngx_http_symbolicate_fetch_t *fetch)
{
    return ngx_http_symbolicate_given_ask(fetch->given);
}


/* --- answers --- */

ngx_int_t
ngx_http_symbolicate_given_body(ngx_http_symbolicate_fetch_t *fetch,
    ngx_chain_t *in)
{
    size_t                               len, max;
    ngx_buf_t                           *b;
    ngx_http_symbolicate_given_fetch_t  *g;

    g = fetch->given;

    if (!ngx_http_symbolicate_given_is_list(fetch)
        || fetch->status != NGX_HTTP_OK)
    {
        return NGX_DECLINED;
    }

    max = g->step == ngx_http_symbolicate_given_token
          ? SYM_GOOGLE_ANSWER_MAX : SYM_SENTRY_FILES_BYTES;

    for ( ; in; in = in->next) {
        b = in->buf;

        if (!ngx_buf_in_memory(b)) {
            continue;
        }

        len = b->last - b->pos;

        if (len > max - g->ntext) {
            return ngx_http_symbolicate_fetch_fail(fetch,
                                  g->step == ngx_http_symbolicate_given_files
                                  ? "its list of files is too long"
                                  : "the answer about a token is too long");
        }

        ngx_memcpy(g->text + g->ntext, b->pos, len);
        g->ntext += len;
        fetch->received += len;
        b->pos = b->last;
    }

    return NGX_OK;
}


const char *
ngx_http_symbolicate_given_trouble(ngx_http_symbolicate_fetch_t *fetch)
{
    switch (fetch->status) {

    case NGX_HTTP_UNAUTHORIZED:
    case NGX_HTTP_FORBIDDEN:
        return "403 Forbidden";

    case NGX_HTTP_MOVED_TEMPORARILY:
        return "Potential login page detected";

    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_TOO_MANY_REQUESTS:
        return "it answered with an error";

    default:
        break;
    }

    if (fetch->status >= 400 && fetch->status < 500) {
        return NULL;
    }

    return "it answered with an error";
}


/* Azure answers a request without credentials with a redirect to its page for
 * them, which would be taken for a file. */
static ngx_uint_t
ngx_http_symbolicate_given_is_login(ngx_http_symbolicate_given_fetch_t *g)
{
    return g->fetch->status == NGX_HTTP_MOVED_TEMPORARILY
           && sym_str_eq(g->url.host, SYM_STR("dev.azure.com"));
}


/* Follows a redirect.  NGX_DECLINED: the answer leads nowhere. */
static ngx_int_t
ngx_http_symbolicate_given_follow(ngx_http_symbolicate_given_fetch_t *g)
{
    sym_url_t                      url;
    sym_error_t                    err;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    if (fetch->trouble || g->step == ngx_http_symbolicate_given_token
        || !ngx_http_symbolicate_fetch_is_redirect(fetch)
        || fetch->leads.len == 0 || ngx_http_symbolicate_given_is_login(g))
    {
        return NGX_DECLINED;
    }

    if (fetch->hops == NGX_SYMBOLICATE_GIVEN_HOPS) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "too many redirects");
        return NGX_DECLINED;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_url_resolve(&g->arena, &g->url,
                        sym_str((char *) fetch->leads.data, fetch->leads.len),
                        &url, &err)
        != SYM_OK)
    {
        (void) ngx_http_symbolicate_fetch_fail(fetch,
                                       "it redirected to an invalid address");
        return NGX_DECLINED;
    }

    g->url = url;
    g->url.userinfo = SYM_STR("");

    fetch->hops++;
    ngx_http_symbolicate_fetch_reset(fetch);
    fetch->remote = 1;

    return ngx_http_symbolicate_given_ask(g);
}


ngx_int_t
ngx_http_symbolicate_given_tried(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    if (fetch->given == NULL
        || ngx_http_symbolicate_given_follow(fetch->given) == NGX_OK)
    {
        return fetch->given ? NGX_OK : NGX_DECLINED;
    }

    switch (fetch->given->step) {

    case ngx_http_symbolicate_given_files:
        return ngx_http_symbolicate_given_list(fetch->given, is_whole);

    case ngx_http_symbolicate_given_token:
        return ngx_http_symbolicate_given_answered(fetch->given, is_whole);

    default:
        return NGX_DECLINED;
    }
}
