
/*
 * ngx_http_symbolicate_fetch_report.c - reports to the loader the outcome of
 * each place, and why it failed.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_fetch_redirect.h"
#include "download/ngx_http_symbolicate_fetch_report.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"


/* Returns the outcome of the attempt; number: buffer for a status. */
static ngx_str_t
ngx_http_symbolicate_fetch_word(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble, u_char number[NGX_INT_T_LEN])
{
    ngx_str_t  word;

    ngx_str_set(&word, "unreachable");

    if (fetch->transport->outcome(fetch, &word)) {
        return word;

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

    return word;
}


static size_t
ngx_http_symbolicate_fetch_explain(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble, u_char text[SYM_RPC_REASON_MAX])
{
    u_char  *p;

    p = ngx_slprintf(text, text + SYM_RPC_REASON_MAX, "source \"%V\": %s",
                     &fetch->source->name, trouble);

    if (fetch->status && fetch->status != NGX_HTTP_OK) {
        p = ngx_slprintf(p, text + SYM_RPC_REASON_MAX, ": %ui", fetch->status);
    }

    return p - text;
}


void
ngx_http_symbolicate_fetch_reason(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    fetch->outcome.reason.len = ngx_http_symbolicate_fetch_explain(fetch,
                                                         trouble,
                                                         fetch->reason);
}


/* Adds the outcome of the current place. */
static void
ngx_http_symbolicate_fetch_place(ngx_http_symbolicate_fetch_t *fetch,
    sym_path_outcome_t outcome, ngx_str_t *word, sym_str_t reason)
{
    u_char               *p;
    u_char                path[SYM_PATH_URL_MAX];
    sym_place_outcome_t   place;

    ngx_memzero(&place, sizeof(sym_place_outcome_t));

    place.place = (uint8_t) ((fetch->next - 1) % SYM_PLAN_MAX);
    place.outcome = outcome;
    place.status = (uint16_t) fetch->status;
    place.ms = (uint32_t) (ngx_current_msec - fetch->started);
    place.bytes = fetch->received;
    place.reason = reason;

    /* otherwise the outcome is the status */

    if (word->data[0] < '0' || word->data[0] > '9') {
        place.word = sym_str((char *) word->data, word->len);
    }

    place.url = sym_str((char *) fetch->url.data, fetch->url.len);

    /* place numbers belong to one source */

    if (fetch->companion) {
        p = ngx_slprintf(path, path + SYM_PATH_URL_MAX, "%V\n%*s",
                         &fetch->source->name, fetch->place_path.len,
                         fetch->place_path.data);
        place.url = sym_str((char *) path, p - path);
    }

    sym_outcomes_add(&place, fetch->outcomes, &fetch->outcome.outcomes.len);
}


static void
ngx_http_symbolicate_fetch_count(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t outcome)
{
    ngx_http_symbolicate_count_fetch(fetch->source->metric->slot, outcome,
                                     fetch->received,
                                     ngx_current_msec - fetch->started);
}


void
ngx_http_symbolicate_fetch_found(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_str_t  word;
    u_char     number[NGX_INT_T_LEN];

    ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_FOUND);

    word = ngx_http_symbolicate_fetch_word(fetch, NULL, number);
    ngx_http_symbolicate_fetch_place(fetch, SYM_PATH_READ, &word, SYM_STR(""));
}


void
ngx_http_symbolicate_fetch_failed(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    size_t     len;
    ngx_str_t  word;
    u_char     number[NGX_INT_T_LEN], text[SYM_RPC_REASON_MAX];

    ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_FAILED);

    fetch->outcome.trouble = trouble;

    word = ngx_http_symbolicate_fetch_word(fetch, trouble, number);
    fetch->transport->failed(fetch, &word);

    len = ngx_http_symbolicate_fetch_explain(fetch, trouble, text);
    ngx_http_symbolicate_fetch_place(fetch, SYM_PATH_FAILED, &word,
                                     sym_str((char *) text, len));

    if (fetch->nfailed++ == 0) {
        ngx_memcpy(fetch->reason, text, len);
        fetch->outcome.reason.len = len;
    }

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "symbol source \"%V\": %s, status %ui: %V",
                  &fetch->source->name, trouble, fetch->status, &fetch->url);
}


/* Describes an unusual answer. */
static size_t
ngx_http_symbolicate_fetch_explain_odd(ngx_http_symbolicate_fetch_t *fetch,
    u_char text[SYM_RPC_REASON_MAX])
{
    u_char     *p, *last;
    ngx_str_t   host;

    last = text + SYM_RPC_REASON_MAX;
    p = ngx_slprintf(text, last, "source \"%V\": ", &fetch->source->name);

    if (fetch->status == NGX_HTTP_OK) {
        return ngx_slprintf(p, last, "the object is empty") - text;
    }

    p = ngx_slprintf(p, last, "it answered %ui", fetch->status);

    if (fetch->leads.len == 0) {
        return p - text;
    }

    host = fetch->leads;

    if (ngx_http_symbolicate_fetch_host(&fetch->leads, &host, NULL) != NGX_OK) {
        return ngx_slprintf(p, last, ", to an unusable address") - text;
    }

    return ngx_slprintf(p, last, " to %V; %s", &host,
                        fetch->hops == NGX_SYMBOLICATE_HOPS
                        ? "too many redirects" : "name it with redirect=")
           - text;
}


void
ngx_http_symbolicate_fetch_absent(ngx_http_symbolicate_fetch_t *fetch)
{
    size_t     len;
    ngx_str_t  word;
    ngx_uint_t odd;
    u_char     number[NGX_INT_T_LEN], text[SYM_RPC_REASON_MAX];

    ngx_http_symbolicate_fetch_count(fetch, SYM_OUTCOME_ABSENT);

    odd = !ngx_http_symbolicate_fetch_is_absent(fetch);
    len = odd ? ngx_http_symbolicate_fetch_explain_odd(fetch, text) : 0;

    word = ngx_http_symbolicate_fetch_word(fetch, NULL, number);
    ngx_http_symbolicate_fetch_place(fetch, SYM_PATH_ABSENT, &word,
                                     sym_str((char *) text, len));

    /* keeps the first reason, unless a later attempt failed */

    if (!odd || fetch->nodd++ || fetch->nfailed) {
        return;
    }

    ngx_memcpy(fetch->reason, text, len);
    fetch->outcome.reason.len = len;

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0, "symbol %V: %V",
                  &fetch->outcome.reason, &fetch->url);
}
