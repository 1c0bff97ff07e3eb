
/*
 * ngx_http_symbolicate_missing_answer.c - reports missing modules in answers
 * and to the ledger.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_missing.h"
#include "request/ngx_http_symbolicate_missing_state.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_task.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_notes.h"


/* Retry-After, in seconds, of an answer without its pending modules */
#define NGX_SYMBOLICATE_RETRY   1

/*
 * Maximum number of a request's modules in the ledger, and maximum number of
 * frames that are counted for them.
 */
#define NGX_SYMBOLICATE_NOTED   64
#define NGX_SYMBOLICATE_FRAMES  65536


ngx_uint_t
ngx_http_symbolicate_missing_some(ngx_http_symbolicate_lookup_t *lookup)
{
    return lookup->stats->lost
           || (lookup->missing
               && (lookup->missing->late || lookup->missing->failed));
}


ngx_int_t
ngx_http_symbolicate_missing_headers(ngx_http_symbolicate_lookup_t *lookup)
{
    time_t   seconds;
    u_char  *p;

    if (!ngx_http_symbolicate_missing_some(lookup)) {
        return NGX_OK;
    }

    seconds = NGX_SYMBOLICATE_RETRY;

    if (lookup->missing && !lookup->missing->late && !lookup->stats->lost) {
        seconds = lookup->missing->retry;
    }

    p = ngx_pnalloc(lookup->task.request->pool, NGX_TIME_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_add_header(lookup->task.request, "Retry-After",
                                           (char *) p,
                                           ngx_sprintf(p, "%T", seconds) - p);
}


/*
 * Answers 503 with each module and its reason.  The body is made here, while
 * the request is still in memory; task.c sends it.
 */
ngx_int_t
ngx_http_symbolicate_missing_fail(ngx_http_symbolicate_lookup_t *lookup)
{
    size_t         size;
    uint32_t       i, n;
    sym_out_t      out;
    ngx_uint_t     first;
    ngx_chain_t   *body;
    sym_need_t    *m;
    sym_ref_key_t  k;

    m = sym_request_modules(lookup->asked, &n);
    size = 256;

    for (i = 0; i < n; i++) {
        if (m[i].is_settled && m[i].missing.state == SYM_MODULE_FAILED
            && sym_request_key(lookup->asked, &m[i], &k))
        {
            size += 6 * (k.key.name.len + k.sent.len
                         + m[i].missing.reason.len)
                    + 64;
        }
    }

    body = ngx_http_symbolicate_body_begin(lookup->task.request, size, &out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    sym_out_raw(&out, SYM_STR("{\"title\": \"503 Service Unavailable\", "
                              "\"description\": \"symbols could not be "
                              "fetched\", \"modules\": ["));
    first = 1;

    for (i = 0; i < n; i++) {

        if (!m[i].is_settled || m[i].missing.state != SYM_MODULE_FAILED
            || !sym_request_key(lookup->asked, &m[i], &k))
        {
            continue;
        }

        sym_out_raw(&out, first ? SYM_STR("{\"debug_file\": ")
                                : SYM_STR(", {\"debug_file\": "));
        sym_out_string(&out, k.key.name);
        sym_out_raw(&out, SYM_STR(", \"debug_id\": "));
        sym_out_string(&out, k.sent);
        sym_out_raw(&out, SYM_STR(", \"reason\": "));
        sym_out_string(&out, m[i].missing.reason);
        sym_out_raw(&out, SYM_STR("}"));

        first = 0;
    }

    sym_out_raw(&out, SYM_STR("]}"));

    if (ngx_http_symbolicate_body_end(lookup->task.request, body, &out)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    lookup->task.error_body = body;

    (void) ngx_http_symbolicate_fail(&lookup->task,
                                     NGX_HTTP_SERVICE_UNAVAILABLE,
                                     SYM_STR("503 Service Unavailable"), NULL);

    lookup->task.ctx->served = SYM_SERVED_FETCH_FAILED;
    *lookup->stats = *sym_request_stats(lookup->asked);
    ngx_http_symbolicate_lookup_count(lookup);

    return NGX_ERROR;
}


static void
ngx_http_symbolicate_missing_note_one(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, uint32_t frames)
{
    sym_ref_key_t                     k;
    sym_rpc_message_t                 note;
    sym_module_state_t                state;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (!sym_request_key(lookup->asked, m, &k)) {
        return;
    }

    ngx_memzero(&note, sizeof(sym_rpc_message_t));

    if (m->found == SYM_NEED_PENDING) {
        state = 0;

    } else {
        state = m->missing.state ? m->missing.state : SYM_MODULE_ABSENT;
        note.text = m->missing.reason;
    }

    if (state == SYM_MODULE_READY) {
        state = SYM_MODULE_FAILED;
    }

    note.flags = state << SYM_RPC_STATE_SHIFT | m->ref->type;
    note.offset = 1;
    note.length = frames;
    note.key = k.key;
    note.kind = m->kind;
    note.source = sym_str((char *) slcf->missing_in.data, slcf->missing_in.len);

    ngx_http_symbolicate_note(ngx_http_symbolicate_loader_of(slcf->loader),
                              &note);
}


/*
 * Records the missing modules.  If the request defines sources, its modules are
 * not recorded, because the sources belong to the client.  A request with very
 * many modules records some of them, starting at a random one.
 */
void
ngx_http_symbolicate_missing_note(ngx_http_symbolicate_lookup_t *lookup)
{
    uint32_t                          i, n, at, noted, *frames;
    sym_need_t                       *m;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    if (!slcf->missing || slcf->loader == NULL || lookup->request_sources) {
        return;
    }

    m = sym_request_modules(lookup->asked, &n);

    frames = sym_arena_calloc(&lookup->arena, n, sizeof(uint32_t));
    if (frames == NULL) {
        return;
    }

    if (lookup->asked->ops->count_frames) {
        lookup->asked->ops->count_frames(lookup->asked,
                                         NGX_SYMBOLICATE_FRAMES, frames);
    }

    at = (n > NGX_SYMBOLICATE_NOTED) ? (uint32_t) ngx_random() % n : 0;
    noted = 0;

    for (i = 0; i < n && noted < NGX_SYMBOLICATE_NOTED; i++) {

        if (sym_need_is_askable(&m[at])
            && (m[at].found == SYM_NEED_MISSING
                || m[at].found == SYM_NEED_PENDING))
        {
            ngx_http_symbolicate_missing_note_one(lookup, &m[at], frames[at]);
            noted++;
        }

        at = (at + 1 == n) ? 0 : at + 1;
    }
}
