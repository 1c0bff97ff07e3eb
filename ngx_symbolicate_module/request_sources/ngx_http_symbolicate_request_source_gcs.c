
/*
 * ngx_http_symbolicate_request_source_gcs.c - buckets of Google's storage,
 * defined by a request.
 *
 * The key of a service account is exchanged for a token.  Each turn of the
 * event loop makes one signature.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/outcomes.h"
#include "sources/google/google.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_connect.h"
#include "request_sources/ngx_http_symbolicate_request_source_gcs.h"
#include "request_sources/ngx_http_symbolicate_request_source_headers.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


/* caches of this worker; NULL: not used yet */
static sym_google_tokens_t  *ngx_http_symbolicate_request_source_tokens;


/*
 * Attempts that wait for their turn to sign, and attempts that wait for tokens.
 */
static ngx_queue_t  ngx_http_symbolicate_request_source_unsigned;
static ngx_queue_t  ngx_http_symbolicate_request_source_asking;
static ngx_event_t  ngx_http_symbolicate_request_source_signing;


static void ngx_http_symbolicate_request_source_turn(ngx_event_t *ev);
static ngx_int_t ngx_http_symbolicate_request_source_exchange(
    ngx_http_symbolicate_request_attempt_t *g);


/* Wipes the token and its grant; copies in nginx's buffers remain. */
static void
ngx_http_symbolicate_request_source_wipe(
    ngx_http_symbolicate_request_attempt_t *g)
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


/* Ends the attempt before its request for the file. */
static ngx_int_t
ngx_http_symbolicate_request_source_no_token(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_str_set(&g->outcome, SYM_PLACE_NO_TOKEN);

    return ngx_http_symbolicate_request_source_stop(g, "no token for its key");
}


static ngx_int_t
ngx_http_symbolicate_request_source_ask_with(
    ngx_http_symbolicate_request_attempt_t *g,
    sym_str_t token)
{
    g->token = sym_arena_copy(&g->arena, token);
    if (g->token.data == NULL) {
        return NGX_ERROR;
    }

    g->first = g->place;
    g->url = g->place;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


static void
ngx_http_symbolicate_request_source_next(void)
{
    ngx_http_symbolicate_request_source_signing.log = ngx_cycle->log;
    ngx_post_event(&ngx_http_symbolicate_request_source_signing,
                   &ngx_posted_next_events);
}


/* Queues the attempt until its turn to sign, and until another attempt with the
 * same key has its answer. */
static void
ngx_http_symbolicate_request_source_enqueue(
    ngx_http_symbolicate_request_attempt_t *g)
{
    if (ngx_http_symbolicate_request_source_signing.handler == NULL) {
        ngx_queue_init(&ngx_http_symbolicate_request_source_unsigned);
        ngx_queue_init(&ngx_http_symbolicate_request_source_asking);
        ngx_http_symbolicate_request_source_signing.handler =
                                   ngx_http_symbolicate_request_source_turn;
    }

    ngx_queue_insert_tail(&ngx_http_symbolicate_request_source_unsigned,
                          &g->queue);
    ngx_http_symbolicate_request_source_next();
}


/* Dequeues an attempt that has ended, or has its token. */
static void
ngx_http_symbolicate_request_source_dequeue(
    ngx_http_symbolicate_request_attempt_t *g)
{
    if (g->queue.next) {
        ngx_queue_remove(&g->queue);
        g->queue.next = NULL;

        if (!ngx_queue_empty(&ngx_http_symbolicate_request_source_unsigned)) {
            ngx_http_symbolicate_request_source_next();
        }
    }
}


/* Requests the file at the place, or a token first. */
static ngx_int_t
ngx_http_symbolicate_request_source_try_google(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    sym_str_t                           audience;
    ngx_http_symbolicate_request_sources_conf_t  *conf;

    ngx_http_symbolicate_request_source_wipe(g);
    g->place = place->url;

    if (source->token.len) {
        return ngx_http_symbolicate_request_source_ask_with(g, source->token);
    }

    conf = g->fetch->policy->request_sources_conf;
    audience = sym_str((char *) conf->audience.data, conf->audience.len);

    if (ngx_http_symbolicate_request_source_tokens == NULL) {
        ngx_http_symbolicate_request_source_tokens =
                       ngx_calloc(sizeof(sym_google_tokens_t), ngx_cycle->log);
        if (ngx_http_symbolicate_request_source_tokens == NULL) {
            return NGX_ERROR;
        }
    }

    if (!sym_google_key(&g->arena, source, audience, &g->key)
        || ngx_http_symbolicate_request_source_read(g,
                ngx_http_symbolicate_request_source_token)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_request_source_enqueue(g);

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_request_source_is_asking(sym_sha256_t *key)
{
    ngx_queue_t                         *q;
    ngx_http_symbolicate_request_attempt_t  *g;

    for (q = ngx_queue_head(&ngx_http_symbolicate_request_source_asking);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_request_source_asking);
         q = ngx_queue_next(q))
    {
        g = ngx_queue_data(q, ngx_http_symbolicate_request_attempt_t, queue);

        if (ngx_memcmp(g->key.bytes, key->bytes, SYM_SHA256_LEN) == 0) {
            return 1;
        }
    }

    return 0;
}


/* Signs for one attempt.  Only few can wait, because each is a download. */
static void
ngx_http_symbolicate_request_source_turn(ngx_event_t *ev)
{
    ngx_queue_t                         *q;
    ngx_http_symbolicate_request_attempt_t  *g;

    for (q = ngx_queue_head(&ngx_http_symbolicate_request_source_unsigned);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_request_source_unsigned);
         q = ngx_queue_next(q))
    {
        g = ngx_queue_data(q, ngx_http_symbolicate_request_attempt_t, queue);

        if (!ngx_http_symbolicate_request_source_is_asking(&g->key)) {

            if (ngx_http_symbolicate_request_source_exchange(g) != NGX_OK) {
                ngx_http_symbolicate_request_source_dequeue(g);
                (void) ngx_http_symbolicate_request_source_stop(g,
                        "out of memory");
            }

            if (!ngx_queue_empty(
                    &ngx_http_symbolicate_request_source_unsigned))
            {
                ngx_http_symbolicate_request_source_next();
            }

            return;
        }
    }
}


/* Ends the attempt: its key cannot be used now (why is NULL), or never. */
static ngx_int_t
ngx_http_symbolicate_request_source_refused(
    ngx_http_symbolicate_request_attempt_t *g,
    const char *why)
{
    g->step = ngx_http_symbolicate_request_source_file;

    if (why == NULL) {
        return ngx_http_symbolicate_request_source_no_token(g);
    }

    ngx_str_set(&g->outcome, SYM_PLACE_BAD_KEY);

    return ngx_http_symbolicate_request_source_stop(g, why);
}


/* Refuses the key for the time in which a failed module is not retried. */
static void
ngx_http_symbolicate_request_source_refuse(
    ngx_http_symbolicate_request_attempt_t *g,
    const char *why)
{
    sym_google_refuse(ngx_http_symbolicate_request_source_tokens, &g->key, why,
                      ngx_time() + ngx_max(g->fetch->policy->ttl.failed, 1));
}


/* Requests a token, unless another attempt has one, or has failed. */
static ngx_int_t
ngx_http_symbolicate_request_source_exchange(
    ngx_http_symbolicate_request_attempt_t *g)
{
    sym_str_t                           token, audience;
    const char                         *why;
    sym_error_t                         err;
    sym_status_t                        status;
    ngx_http_symbolicate_request_sources_conf_t  *conf;

    conf = g->fetch->policy->request_sources_conf;
    audience = sym_str((char *) conf->audience.data, conf->audience.len);

    token = sym_google_token_find(ngx_http_symbolicate_request_source_tokens,
                                  &g->key,
                                  ngx_time());
    if (token.len) {
        ngx_http_symbolicate_request_source_dequeue(g);
        g->step = ngx_http_symbolicate_request_source_file;
        return ngx_http_symbolicate_request_source_ask_with(g, token);
    }

    if (sym_google_is_refused(ngx_http_symbolicate_request_source_tokens,
                              &g->key,
                              ngx_time(), &why))
    {
        ngx_http_symbolicate_request_source_dequeue(g);
        return ngx_http_symbolicate_request_source_refused(g, why);
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    status = sym_google_grant(&g->arena, g->fetch->source->request_source,
                              audience,
                              ngx_time(), &g->form, &err);

    if (status == SYM_NOMEM) {
        return NGX_ERROR;
    }

    if (status != SYM_OK) {
        ngx_http_symbolicate_request_source_dequeue(g);
        ngx_http_symbolicate_request_source_refuse(g, err.what);
        return ngx_http_symbolicate_request_source_refused(g, err.what);
    }

    ngx_queue_remove(&g->queue);
    ngx_queue_insert_tail(&ngx_http_symbolicate_request_source_asking,
                          &g->queue);

    g->first = conf->token;
    g->url = conf->token;
    g->fetch->remote = 1;

    return ngx_http_symbolicate_request_source_ask(g);
}


/* Handles the response with the token; NGX_DECLINED: the attempt ends. */
static ngx_int_t
ngx_http_symbolicate_request_source_answered(
    ngx_http_symbolicate_request_attempt_t *g,
    ngx_uint_t is_whole)
{
    uint32_t                       life;
    sym_str_t                      token;
    sym_error_t                    err;
    sym_status_t                   status;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    g->step = ngx_http_symbolicate_request_source_file;
    ngx_http_symbolicate_request_source_dequeue(g);

    if (fetch->trouble || fetch->status != NGX_HTTP_OK || !is_whole) {
        ngx_http_symbolicate_request_source_refuse(g, NULL);
        ngx_str_set(&g->outcome, SYM_PLACE_NO_TOKEN);

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
        ngx_http_symbolicate_request_source_refuse(g, NULL);
        return ngx_http_symbolicate_request_source_no_token(g);
    }

    if (life) {
        sym_google_token_keep(ngx_http_symbolicate_request_source_tokens,
                              &g->key,
                              token, ngx_time() + life);
    }

    status = ngx_http_symbolicate_request_source_ask_with(g, token) == NGX_OK
             ? SYM_OK : SYM_NOMEM;

    sym_wipe((void *) (uintptr_t) token.data, token.len);

    if (status != SYM_OK) {
        (void) ngx_http_symbolicate_fetch_fail(fetch, "out of memory");
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_request_source_add_token(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    return ngx_http_symbolicate_request_source_add_bearer(g, g->token);
}


/* Called when the token was revoked. */
static void
ngx_http_symbolicate_request_source_revoked(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source)
{
    if (g->token.len && source->token.len == 0) {
        sym_google_token_forget(ngx_http_symbolicate_request_source_tokens,
                                &g->key);
    }
}


void
ngx_http_symbolicate_request_source_gcs_cancel(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_http_symbolicate_request_source_dequeue(g);
    ngx_http_symbolicate_request_source_wipe(g);
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_gcs =
{
    .try = ngx_http_symbolicate_request_source_try_google,
    .add_keys = ngx_http_symbolicate_request_source_add_token,
    .answered = ngx_http_symbolicate_request_source_answered,
    .max = SYM_GOOGLE_ANSWER_MAX,
    .too_long = "the answer about a token is too long",
    .refused = ngx_http_symbolicate_request_source_revoked,
    .has_places = 1
};
