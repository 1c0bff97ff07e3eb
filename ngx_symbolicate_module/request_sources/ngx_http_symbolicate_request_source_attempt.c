
/*
 * ngx_http_symbolicate_request_source_attempt.c - ends an attempt, and sets its
 * visible URL.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/outcomes.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_denied.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"


ngx_str_t
ngx_http_symbolicate_request_source_str(sym_str_t s)
{
    ngx_str_t  text;

    text.data = (u_char *) s.data;
    text.len = s.len;

    return text;
}


/*
 * Ends the attempt, but never before this function has returned.  trouble:
 * static text; NULL: fetch->status is set.
 */
ngx_int_t
ngx_http_symbolicate_request_source_stop(
    ngx_http_symbolicate_request_attempt_t *g,
    const char *trouble)
{
    if (trouble) {
        g->fetch->trouble = trouble;
    }

    ngx_post_event(&g->event, &ngx_posted_events);

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_request_source_restricted(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_str_set(&g->outcome, SYM_PLACE_RESTRICTED);

    return ngx_http_symbolicate_request_source_stop(g,
            NGX_SYMBOLICATE_RESTRICTED);
}


/*
 * Checks whether the source's host is blocked.  As in Symbolicator, hosts after
 * redirects do not matter.  NGX_DECLINED: it is not blocked.
 */
ngx_int_t
ngx_http_symbolicate_request_source_check_host(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_str_t                      outcome;
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    outcome.data = ngx_pnalloc(fetch->pool, NGX_SYMBOLICATE_BLOCKED_MAX);
    if (outcome.data == NULL) {
        return NGX_ERROR;
    }

    if (!ngx_http_symbolicate_denied_is(fetch->policy->request_sources_conf,
                                        fetch->source->request_source,
                                        &g->first,
                                        &outcome))
    {
        return NGX_DECLINED;
    }

    g->outcome = outcome;

    return ngx_http_symbolicate_request_source_stop(g,
                          "its host is blocked: too many downloads failed");
}


/* The URL must be one word in lines of logs, answers and the store. */
ngx_int_t
ngx_http_symbolicate_request_source_show(ngx_http_symbolicate_fetch_t *fetch,
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


/* Responses that are not files are kept in memory. */
ngx_int_t
ngx_http_symbolicate_request_source_read(
    ngx_http_symbolicate_request_attempt_t *g,
    ngx_http_symbolicate_request_source_step_e step)
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
