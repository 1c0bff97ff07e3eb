
/*
 * ngx_http_symbolicate_missing_search.c - searches the sources of a request for
 * its missing modules.
 *
 * The search ends when it finds a module with names of functions.  After a
 * poorer module, an absent one or a failure, it continues with the next source.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request/ngx_http_symbolicate_missing_state.h"
#include "counters/ngx_http_symbolicate_meter.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending.h"


/*
 * Numbers of steps (base/steps.h) in addition to those of patterns: for a
 * source that is considered, and for one that is searched.  The last source of
 * a turn may exceed the turn's steps by 2 million.
 */
#define NGX_SYMBOLICATE_LOOK  20
#define NGX_SYMBOLICATE_ASK   1500


void
ngx_http_symbolicate_missing_failed(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m, time_t seconds)
{
    uint32_t                         n;
    sym_need_t                      *modules;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    modules = sym_request_modules(lookup->asked, &n);

    if (m >= modules + n) {

        /*
         * without the needs of a later round, the answer has fewer details but
         * is valid
         */

        missing->late++;
        return;
    }

    seconds = ngx_max(seconds, 1);

    missing->retry = missing->failed++ ? ngx_min(missing->retry, seconds)
                                       : seconds;
}


void
ngx_http_symbolicate_missing_waited(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    if (!search->waited) {
        return;
    }

    search->waited = 0;

    sym_request_waited_for(lookup->asked, i,
                           (double) (ngx_current_msec - search->began) / 1000);
}


void
ngx_http_symbolicate_missing_put_off(ngx_http_symbolicate_lookup_t *lookup,
    sym_need_t *m)
{
    m->is_settled = 1;

    if (m->found != SYM_NEED_FOUND) {
        m->found = SYM_NEED_PENDING;
        lookup->missing->late++;
    }
}


void
ngx_http_symbolicate_missing_found(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    sym_need_t                     *m;
    ngx_http_symbolicate_search_t  *search;

    ngx_http_symbolicate_missing_waited(lookup, i);

    search = &lookup->missing->searches[i];
    m = &sym_request_needs(lookup->asked, &n)[i];

    if (search->ready) {

        if (!search->better) {
            sym_request_fetched(lookup->asked, i);
        }

        return;
    }

    m->is_settled = 1;

    if (m->missing.state == SYM_MODULE_FAILED && !search->better) {
        ngx_http_symbolicate_missing_failed(lookup, m,
                                  (time_t) m->missing.expires_at - ngx_time());
    }
}


void
ngx_http_symbolicate_missing_weigh(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, sym_module_state_t state, uint32_t ttl, sym_str_t reason)
{
    uint32_t        n, until;
    sym_missing_t  *missing;

    missing = &sym_request_needs(lookup->asked, &n)[i].missing;
    until = (uint32_t) ngx_time() + ttl;

    if (state == missing->state) {
        missing->expires_at = ngx_min(missing->expires_at, until);
        return;
    }

    if (sym_module_state_weight(state)
        < sym_module_state_weight(missing->state))
    {
        return;
    }

    missing->state = state;
    missing->expires_at = until;
    missing->reason = sym_arena_copy(&lookup->arena, reason);

    if (missing->reason.data == NULL) {
        missing->reason = SYM_STR("");
    }
}


/* The text of a source link has only one path. */
static ngx_int_t
ngx_http_symbolicate_missing_ask_link(ngx_http_symbolicate_lookup_t *lookup,
    ngx_http_symbolicate_wait_t *wait, uint32_t i)
{
    uint32_t                          n;
    sym_need_t                       *m;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_wanted_t     wanted;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    m = &sym_request_needs(lookup->asked, &n)[i];
    source = m->is_artifact ? lookup->policy->artifacts : lookup->policy->links;

    if (source == NULL || lookup->missing->searches[i].step++ != 0) {
        return NGX_DONE;
    }

    ngx_memzero(&wanted, sizeof(ngx_http_symbolicate_wanted_t));

    wanted.source = source;
    wanted.kind = m->kind;
    wanted.ref = m->ref;

    return ngx_http_symbolicate_pending(
                              ngx_http_symbolicate_loader_of(slcf->loader),
                              lookup->policy, &wanted, wait, i);
}


/*
 * Whether the source may have the module.  Patterns are only checked in the
 * first of its two steps.
 */
static ngx_uint_t
ngx_http_symbolicate_missing_takes(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i, ngx_http_symbolicate_source_t *source, sym_need_t *m)
{
    uint64_t                         before;
    ngx_uint_t                       takes;
    ngx_http_symbolicate_missing_t  *missing;

    missing = lookup->missing;
    before = missing->patterns;

    takes = sym_source_takes(&source->rules, m->ref, &missing->patterns);

    (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                          before - missing->patterns);

    if (missing->patterns == 0 && source->rules.n_patterns) {
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                                 SYM_STR("the patterns of the sources take too "
                                         "long"));
        return 0;
    }

    return takes;
}


ngx_int_t
ngx_http_symbolicate_missing_ask(ngx_http_symbolicate_lookup_t *lookup,
    ngx_http_symbolicate_wait_t *wait, uint32_t i)
{
    uint32_t                          n;
    sym_need_t                       *m;
    sym_ref_key_t                     k;
    ngx_http_symbolicate_wanted_t     wanted;
    ngx_http_symbolicate_loader_t    *loader;
    ngx_http_symbolicate_source_t    *source;
    ngx_http_symbolicate_search_t    *search;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(lookup->task.request,
                                        ngx_http_symbolicate_module);

    m = &sym_request_needs(lookup->asked, &n)[i];

    if (m->ref->url.len && lookup->request_sources) {
        return ngx_http_symbolicate_missing_ask_link(lookup, wait, i);
    }

    search = &lookup->missing->searches[i];
    loader = ngx_http_symbolicate_loader_of(slcf->loader);

    ngx_memzero(&wanted, sizeof(ngx_http_symbolicate_wanted_t));

    if (!sym_request_key(lookup->asked, m, &k)) {
        return NGX_ERROR;
    }

    while (search->step < lookup->policy->sources->nelts) {

        if (ngx_http_symbolicate_turn_steps == 0) {
            return NGX_AGAIN;
        }

        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              NGX_SYMBOLICATE_LOOK);

        source = (ngx_http_symbolicate_source_t *) lookup->policy->sources->elts
                 + search->step++;

        /*
         * the source has no path for any file that could contain such an
         * artifact
         */

        if (!sym_layout_takes(source->rules.layout, m->ref)
            || (m->ref->url.len == 0
                && !(source->rules.files & ~m->without
                     & sym_kind_files(m->kind, m->ref->type))))
        {
            continue;
        }

        if (source->is_denied) {
            ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                                 SYM_STR("sources of this type are not allowed "
                                         "in requests"));
            continue;
        }

        if (!ngx_http_symbolicate_missing_takes(lookup, i, source, m)) {
            continue;
        }

        wanted.source = source;
        wanted.kind = m->kind;
        wanted.ref = m->ref;
        wanted.without = m->without;
        wanted.thorough = m->is_thorough && !m->ref->is_either;

        (void) sym_steps_take(&ngx_http_symbolicate_turn_steps,
                              NGX_SYMBOLICATE_ASK);

        return ngx_http_symbolicate_pending(loader, lookup->policy,
                                            &wanted, wait, i);
    }

    return NGX_DONE;
}


/* Searches all sources in parallel, because the files of each are needed. */
static ngx_int_t
ngx_http_symbolicate_missing_search_all(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    ngx_int_t                       rc;
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    do {
        rc = ngx_http_symbolicate_missing_ask(lookup, &lookup->missing->wait,
                                              i);
        if (rc == NGX_OK) {
            search->open++;
            search->waited = 1;
        }

    } while (rc == NGX_OK);

    if (rc == NGX_ERROR || rc == NGX_AGAIN) {
        return rc;
    }

    if (search->open) {
        return NGX_OK;
    }

    if (rc == NGX_BUSY) {
        ngx_http_symbolicate_missing_put_off(lookup,
                                   &sym_request_needs(lookup->asked, &n)[i]);
        return NGX_OK;
    }

    if (rc == NGX_DECLINED) {
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                               SYM_STR("the symbol loader is not running"));
    }

    ngx_http_symbolicate_missing_found(lookup, i);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_missing_search_better(
    ngx_http_symbolicate_lookup_t *lookup, uint32_t i)
{
    ngx_int_t                    rc;
    ngx_http_symbolicate_wait_t  wait;

    ngx_memzero(&wait, sizeof(ngx_http_symbolicate_wait_t));

    ngx_queue_init(&wait.waiters);
    ngx_queue_init(&wait.shares);

    do {
        rc = ngx_http_symbolicate_missing_ask(lookup, &wait, i);
    } while (rc == NGX_OK);

    ngx_http_symbolicate_pending_leave(&wait, 1);

    return rc == NGX_AGAIN ? NGX_AGAIN : NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_missing_search(ngx_http_symbolicate_lookup_t *lookup,
    uint32_t i)
{
    uint32_t                        n;
    ngx_http_symbolicate_search_t  *search;

    search = &lookup->missing->searches[i];

    if (search->upgrade) {
        return ngx_http_symbolicate_missing_search_better(lookup, i);
    }

    if (search->all) {
        return ngx_http_symbolicate_missing_search_all(lookup, i);
    }

    switch (ngx_http_symbolicate_missing_ask(lookup, &lookup->missing->wait,
                                             i))
    {

    case NGX_OK:
        search->waited = 1;
        return NGX_OK;

    case NGX_AGAIN:
        return NGX_AGAIN;

    case NGX_BUSY:
        ngx_http_symbolicate_missing_waited(lookup, i);
        ngx_http_symbolicate_missing_put_off(lookup,
                                   &sym_request_needs(lookup->asked, &n)[i]);
        return NGX_OK;

    case NGX_DECLINED:
        ngx_http_symbolicate_missing_weigh(lookup, i, SYM_MODULE_FAILED, 1,
                               SYM_STR("the symbol loader is not running"));
        break;

    case NGX_DONE:
        break;

    default:
        return NGX_ERROR;
    }

    ngx_http_symbolicate_missing_found(lookup, i);

    return NGX_OK;
}
