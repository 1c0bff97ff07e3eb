
/*
 * ngx_http_symbolicate_request_sources.c - sources defined by a request.
 *
 * Fetches treat them like configured sources, but with their own policy.
 * Clients determine how many there are, so there are common limits for the
 * memory, the lanes and the scope numbers of all of them.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/arena.h"
#include "sources/request/sources.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request_sources/ngx_http_symbolicate_request_sources.h"
#include "request_sources/ngx_http_symbolicate_request_source_fetch.h"


/* Maximum size of the sources of all requests in a worker. */
#define NGX_SYMBOLICATE_REQUEST_SOURCE_MEMORY  (64 * 1024 * 1024)

/* Number of lists of scopes whose numbers are remembered. */
#define NGX_SYMBOLICATE_REQUEST_SOURCE_LISTS   64

/* Configured lists have smaller numbers. */
#define NGX_SYMBOLICATE_REQUEST_SOURCE_NUMBER  0x80000000u


struct ngx_http_symbolicate_request_sources_s {
    ngx_http_symbolicate_fetch_policy_t  policy;
    ngx_array_t                     sources;    /* sources for the policy */
    ngx_http_symbolicate_source_t   links;      /* the same */
    ngx_http_symbolicate_source_t   artifacts;  /* the same */
    ngx_http_symbolicate_metric_t  *metrics;    /* one for each source */
    sym_scopes_t                    scopes;
    sym_request_sources_t                     list;
    sym_arena_t                     arena;      /* contains all of this */
    ngx_uint_t                      nrefs;
    size_t                          bytes;
};


/* A numbered list of scopes. */
typedef struct {
    u_char                          scopes[SYM_REQUEST_SOURCES_MAX]
                                          [SYM_REQUEST_SOURCE_SCOPE_LEN];
    ngx_uint_t                      n;
    uint32_t                        number;     /* 0: unused */
    ngx_uint_t                      used;
} ngx_http_symbolicate_request_sources_number_t;


static size_t  ngx_http_symbolicate_request_sources_bytes;
static ngx_http_symbolicate_request_sources_number_t
    *ngx_http_symbolicate_request_sources_numbers;
static ngx_uint_t  ngx_http_symbolicate_request_sources_uses;
static uint32_t  ngx_http_symbolicate_request_sources_last =
    NGX_SYMBOLICATE_REQUEST_SOURCE_NUMBER;


static ngx_uint_t
ngx_http_symbolicate_request_source_is(
    ngx_http_symbolicate_request_sources_number_t *number,
    const sym_request_sources_t *list)
{
    ngx_uint_t  i;

    if (number->number == 0 || number->n != list->n) {
        return 0;
    }

    for (i = 0; i < number->n; i++) {
        if (ngx_memcmp(number->scopes[i], list->sources[i].scope.data,
                       SYM_REQUEST_SOURCE_SCOPE_LEN)
            != 0)
        {
            return 0;
        }
    }

    return 1;
}


/*
 * Returns the number of a list, which is a key in the worker's caches.  A
 * number is never reused for another list; a forgotten list gets a new one.  0:
 * out of memory.
 */
static uint32_t
ngx_http_symbolicate_request_sources_number(const sym_request_sources_t *list)
{
    ngx_uint_t                            i;
    ngx_http_symbolicate_request_sources_number_t  *number, *oldest;

    number = ngx_http_symbolicate_request_sources_numbers;

    if (number == NULL) {
        number = ngx_calloc(NGX_SYMBOLICATE_REQUEST_SOURCE_LISTS
                       * sizeof(ngx_http_symbolicate_request_sources_number_t),
                            ngx_cycle->log);
        if (number == NULL) {
            return 0;
        }

        ngx_http_symbolicate_request_sources_numbers = number;
    }

    oldest = number;

    for (i = 0; i < NGX_SYMBOLICATE_REQUEST_SOURCE_LISTS; i++, number++) {

        if (ngx_http_symbolicate_request_source_is(number, list)) {
            number->used = ++ngx_http_symbolicate_request_sources_uses;
            return number->number;
        }

        if (number->used < oldest->used) {
            oldest = number;
        }
    }

    if (ngx_http_symbolicate_request_sources_last == UINT32_MAX) {
        return 0;
    }

    for (i = 0; i < list->n; i++) {
        ngx_memcpy(oldest->scopes[i], list->sources[i].scope.data,
                   SYM_REQUEST_SOURCE_SCOPE_LEN);
    }

    oldest->n = list->n;
    oldest->number = ++ngx_http_symbolicate_request_sources_last;
    oldest->used = ++ngx_http_symbolicate_request_sources_uses;

    return oldest->number;
}


/*
 * All request sources share a few lanes; downloads of one source are in the
 * same lane.
 */
static ngx_uint_t
ngx_http_symbolicate_request_sources_lane(
    ngx_http_symbolicate_main_conf_t *smcf,
    const sym_request_source_t *source)
{
    return smcf->request_source_lanes
           + ngx_crc32_short((u_char *) source->scope.data, source->scope.len)
             % NGX_SYMBOLICATE_REQUEST_SOURCE_LANES;
}


static void
ngx_http_symbolicate_request_source_init(ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_request_sources_conf_t *conf,
    const sym_request_source_t *from,
    ngx_http_symbolicate_metric_t *metric,
    ngx_http_symbolicate_source_t *source)
{
    source->request_source = from;
    source->transport = &ngx_http_symbolicate_request_source_transport;
    source->name.data = (u_char *) from->scope.data;
    source->name.len = from->scope.len;
    source->rules = from->rules;
    source->rules.requires_checksum = from->requires_checksum;
    source->rules.patterns = from->patterns;
    source->rules.n_patterns = from->n_patterns;
    source->is_public = from->is_public;
    source->has_index = from->has_index && from->type
        != SYM_REQUEST_SOURCE_SENTRY
                        && from->rules.layout == SYM_LAYOUT_SYMSTORE;
    source->metric = metric;

    source->is_denied = conf == NULL || !(conf->types & (1 << from->type));

    if (source->is_denied) {
        return;
    }

    source->uri = from->takes_any_certificate && conf->unverified.len
                  ? conf->unverified : conf->uri;

    *metric = *conf->metrics[from->type];
    metric->lane = ngx_http_symbolicate_request_sources_lane(smcf, from);
}


static ngx_int_t
ngx_http_symbolicate_request_sources_init(
    ngx_http_symbolicate_request_sources_t *set,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy)
{
    sym_str_t                          *names;
    ngx_uint_t                          i, n;
    const sym_source_rules_t          **rules;
    ngx_http_symbolicate_source_t      *source;
    ngx_http_symbolicate_request_sources_conf_t  *conf;

    conf = policy->request_sources_conf;
    n = set->list.n;

    set->policy = *policy;
    set->policy.request_sources = set;
    set->policy.sources = &set->sources;
    set->policy.hold = ngx_http_symbolicate_request_sources_hold;
    set->policy.release = ngx_http_symbolicate_request_sources_release;

    set->sources.nelts = n;
    set->sources.nalloc = n;
    set->sources.size = sizeof(ngx_http_symbolicate_source_t);
    set->sources.elts = sym_arena_calloc(&set->arena, n + 1,
                                       sizeof(ngx_http_symbolicate_source_t));
    set->metrics = sym_arena_calloc(&set->arena, n + 2,
                                    sizeof(ngx_http_symbolicate_metric_t));
    names = sym_arena_calloc(&set->arena, n + 1, sizeof(sym_str_t));
    rules = sym_arena_calloc(&set->arena, n + 1,
                             sizeof(sym_source_rules_t *));

    if (set->sources.elts == NULL || set->metrics == NULL || names == NULL
        || rules == NULL)
    {
        return NGX_ERROR;
    }

    names[0] = SYM_STR(SYM_SCOPE_LOCAL);
    source = set->sources.elts;

    for (i = 0; i < n; i++) {
        ngx_http_symbolicate_request_source_init(smcf, conf,
                                                 &set->list.sources[i],
                                                 &set->metrics[i], &source[i]);
        names[i + 1] = set->list.sources[i].scope;
        rules[i + 1] = &source[i].rules;
    }

    if (set->list.links) {
        ngx_http_symbolicate_request_source_init(smcf, conf, set->list.links,
                                                 &set->metrics[n], &set->links);

        if (!set->links.is_denied) {
            set->policy.links = &set->links;
        }
    }

    if (set->list.artifacts) {
        ngx_http_symbolicate_request_source_init(smcf, conf,
                                                 set->list.artifacts,
                                                 &set->metrics[n + 1],
                                                 &set->artifacts);

        if (!set->artifacts.is_denied) {
            set->policy.artifacts = &set->artifacts;
        }
    }

    set->scopes.names = names;
    set->scopes.rules = rules;
    set->scopes.n = n + 1;
    set->scopes.number =
        ngx_http_symbolicate_request_sources_number(&set->list);

    return set->scopes.number ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_request_sources_create(ngx_http_request_t *r,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy,
    const sym_request_sources_t *list,
    ngx_http_symbolicate_request_sources_t **out)
{
    sym_account_t                 *memory;
    ngx_http_core_loc_conf_t      *clcf;
    ngx_http_symbolicate_loc_conf_t  *slcf;
    ngx_http_symbolicate_request_sources_t  *set;

    if (ngx_http_symbolicate_request_sources_bytes
        >= NGX_SYMBOLICATE_REQUEST_SOURCE_MEMORY)
    {
        return NGX_BUSY;
    }

    set = ngx_calloc(sizeof(ngx_http_symbolicate_request_sources_t),
                     ngx_cycle->log);
    if (set == NULL) {
        return NGX_ERROR;
    }

    memory = &smcf->worker->memory;
    memory->refused = SYM_REFUSED_NOTHING;

    sym_arena_init(&set->arena, 0);
    set->arena.account = memory;
    set->nrefs = 1;

    if (!sym_request_sources_copy(&set->arena, list, &set->list)
        || ngx_http_symbolicate_request_sources_init(set, smcf,
                                                     policy) != NGX_OK)
    {
        ngx_http_symbolicate_request_sources_release(set);
        return memory->refused ? NGX_BUSY : NGX_ERROR;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    set->policy.resolver = clcf->resolver;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);
    set->policy.store = slcf->store;
    set->policy.resolver_timeout = clcf->resolver_timeout;

    set->bytes =
        sizeof(ngx_http_symbolicate_request_sources_t) + set->arena.taken;
    ngx_http_symbolicate_request_sources_bytes += set->bytes;

    *out = set;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_request_sources_confined(ngx_http_request_t *r,
    ngx_http_symbolicate_main_conf_t *smcf,
    ngx_http_symbolicate_fetch_policy_t *policy, const sym_str_t *hosts,
    uint32_t nhosts, ngx_http_symbolicate_request_sources_t **set)
{
    ngx_int_t                   rc;
    sym_arena_t                 arena;
    sym_request_sources_t       list;
    sym_request_source_realm_t  realm;

    ngx_memzero(&list, sizeof(sym_request_sources_t));
    ngx_memzero(&realm, sizeof(sym_request_source_realm_t));

    realm.policy = sym_str((char *) policy->request_sources_conf->text.data,
                           policy->request_sources_conf->text.len);

    sym_arena_init(&arena, 0);

    rc = sym_request_sources_add_confined(&arena, hosts, nhosts, &realm, &list)
         == SYM_OK
         ? ngx_http_symbolicate_request_sources_create(r, smcf, policy, &list,
                                                       set)
         : NGX_ERROR;

    sym_arena_drop(&arena);

    return rc;
}


void
ngx_http_symbolicate_request_sources_hold(
    ngx_http_symbolicate_request_sources_t *set)
{
    set->nrefs++;
}


void
ngx_http_symbolicate_request_sources_release(
    ngx_http_symbolicate_request_sources_t *set)
{
    if (--set->nrefs) {
        return;
    }

    ngx_http_symbolicate_request_sources_bytes -= set->bytes;

    sym_request_sources_wipe(&set->list);
    sym_arena_drop(&set->arena);
    ngx_free(set);
}


ngx_http_symbolicate_fetch_policy_t *
ngx_http_symbolicate_request_sources_policy(
    ngx_http_symbolicate_request_sources_t *set)
{
    return &set->policy;
}


const sym_scopes_t *
ngx_http_symbolicate_request_sources_scopes(
    ngx_http_symbolicate_request_sources_t *set)
{
    return &set->scopes;
}
