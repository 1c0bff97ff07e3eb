
/*
 * ngx_http_symbolicate_source_names.c - the sources visible to a location, and
 * the check that a name means one source on each store.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_source_names.h"


/* A location that uses a source.  On one store, a name must mean one source. */
typedef struct {
    ngx_http_symbolicate_store_conf_t  *store;
    ngx_http_symbolicate_source_t  *source;
    sym_rpc_ttl_t                  ttl;        /* lifetime of absence at this
                                                * source */
    void                           *server;     /* where its location is */
    ngx_str_t                       location;
} ngx_http_symbolicate_use_t;


ngx_int_t
ngx_http_symbolicate_sources_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    sym_scopes_t  *local;

    if (ngx_array_init(&smcf->scopes, cf->pool, 4, sizeof(sym_scopes_t))
            != NGX_OK
        || ngx_array_init(&smcf->uses, cf->pool, 4,
                          sizeof(ngx_http_symbolicate_use_t))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    local = ngx_array_push(&smcf->scopes);
    if (local == NULL) {
        return NGX_ERROR;
    }

    *local = sym_scopes_local;

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_scopes_same(sym_scopes_t *a, sym_scopes_t *b)
{
    ngx_uint_t  i;

    if (a->n != b->n) {
        return 0;
    }

    for (i = 0; i < a->n; i++) {
        if (!sym_str_eq(a->names[i], b->names[i])) {
            return 0;
        }
    }

    return 1;
}


/*
 * Lists modules loaded by hand first, then the sources in order; each distinct
 * list has a number.
 */
ngx_int_t
ngx_http_symbolicate_scopes_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_uint_t                         i, n;
    sym_str_t                         *names;
    sym_scopes_t                      *known, *added;
    const sym_source_rules_t         **rules;
    ngx_http_symbolicate_source_t     *sources;
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);

    n = conf->policy.sources ? conf->policy.sources->nelts : 0;
    sources = conf->policy.sources ? conf->policy.sources->elts : NULL;

    names = ngx_palloc(cf->pool, (n + 1) * sizeof(sym_str_t));
    rules = ngx_pcalloc(cf->pool, (n + 1) * sizeof(sym_source_rules_t *));

    if (names == NULL || rules == NULL) {
        return NGX_ERROR;
    }

    names[0] = SYM_STR(SYM_SCOPE_LOCAL);

    for (i = 0; i < n; i++) {
        names[i + 1] = sym_str((char *) sources[i].name.data,
                               sources[i].name.len);
        rules[i + 1] = &sources[i].rules;
    }

    conf->scopes.names = names;
    conf->scopes.rules = rules;
    conf->scopes.n = n + 1;

    known = smcf->scopes.elts;

    for (i = 0; i < smcf->scopes.nelts; i++) {
        if (ngx_http_symbolicate_scopes_same(&known[i], &conf->scopes)) {
            conf->scopes.number = known[i].number;
            return NGX_OK;
        }
    }

    conf->scopes.number = smcf->scopes.nelts;

    added = ngx_array_push(&smcf->scopes);
    if (added == NULL) {
        return NGX_ERROR;
    }

    *added = conf->scopes;

    return NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_patterns_same(sym_source_rules_t *x,
    sym_source_rules_t *y)
{
    ngx_uint_t  i;

    if (x->n_patterns != y->n_patterns) {
        return 0;
    }

    for (i = 0; i < x->n_patterns; i++) {
        if (!sym_str_eq(x->patterns[i], y->patterns[i])) {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
ngx_http_symbolicate_redirects_same(ngx_array_t *a, ngx_array_t *b)
{
    ngx_uint_t                        i;
    ngx_http_symbolicate_redirect_t  *x, *y;

    if (a == NULL || b == NULL || a->nelts != b->nelts) {
        return a == b;
    }

    x = a->elts;
    y = b->elts;

    for (i = 0; i < a->nelts; i++) {
        if (x[i].host.len != y[i].host.len || x[i].uri.len != y[i].uri.len
            || ngx_memcmp(x[i].host.data, y[i].host.data, x[i].host.len) != 0
            || ngx_memcmp(x[i].uri.data, y[i].uri.data, x[i].uri.len) != 0)
        {
            return 0;
        }
    }

    return 1;
}


/* Describes how two sources with one name differ; NULL: they are equal. */
static const char *
ngx_http_symbolicate_use_differs(ngx_http_symbolicate_use_t *a,
    ngx_http_symbolicate_use_t *b)
{
    ngx_http_symbolicate_source_t  *x, *y;

    x = a->source;
    y = b->source;

    if (x->uri.len != y->uri.len
        || ngx_strncmp(x->uri.data, y->uri.data, x->uri.len) != 0)
    {
        return "uri=";
    }

    if (a->server != b->server) {
        return "the server that uri= is a location of";
    }

    if (x->rules.layout != y->rules.layout) {
        return "layout=";
    }

    if (x->rules.files != y->rules.files) {
        return "kinds=";
    }

    if (x->rules.ids != y->rules.ids) {
        return "ids=";
    }

    if (x->rules.casing != y->rules.casing) {
        return "casing=";
    }

    if (!ngx_http_symbolicate_patterns_same(&x->rules, &y->rules)) {
        return "path=";
    }

    if (x->rules.requires_checksum != y->rules.requires_checksum) {
        return "checksum";
    }

    if (x->has_index != y->has_index) {
        return "index";
    }

    if (x->nabsent != y->nabsent
        || ngx_memcmp(x->absent, y->absent, x->nabsent * sizeof(ngx_uint_t))
           != 0)
    {
        return "absent=";
    }

    if (!ngx_http_symbolicate_redirects_same(x->redirects, y->redirects)) {
        return "redirect=";
    }

    if (x->is_public != y->is_public) {
        return "public";
    }

    if (a->ttl.absent != b->ttl.absent || a->ttl.malformed != b->ttl.malformed
        || a->ttl.failed != b->ttl.failed)
    {
        return "symbolicate_negative_ttl";
    }

    return NULL;
}


static ngx_int_t
ngx_http_symbolicate_use_add(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf, ngx_http_symbolicate_use_t *use)
{
    ngx_uint_t                      i;
    const char                     *what;
    ngx_http_symbolicate_use_t     *uses, *added;
    ngx_http_symbolicate_source_t  *source, *other;

    uses = smcf->uses.elts;
    source = use->source;

    for (i = 0; i < smcf->uses.nelts; i++) {
        other = uses[i].source;

        if (uses[i].store != use->store || other->name.len != source->name.len
            || ngx_strncmp(other->name.data, source->name.data,
                           source->name.len)
               != 0)
        {
            continue;
        }

        what = ngx_http_symbolicate_use_differs(&uses[i], use);

        if (what == NULL) {
            return NGX_OK;
        }

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "source \"%V\" of location \"%V\" (%V:%ui) is not that "
                      "of location \"%V\" (%V:%ui): they differ in %s; "
                      "within one store a name means one source",
                      &source->name, &use->location, &source->conf_file,
                      source->conf_line, &uses[i].location, &other->conf_file,
                      other->conf_line, what);
        return NGX_ERROR;
    }

    added = ngx_array_push(&smcf->uses);
    if (added == NULL) {
        return NGX_ERROR;
    }

    *added = *use;

    return NGX_OK;
}


ngx_int_t
ngx_http_symbolicate_uses_merge(ngx_conf_t *cf,
    ngx_http_symbolicate_loc_conf_t *conf)
{
    ngx_uint_t                         i;
    ngx_http_core_loc_conf_t          *clcf;
    ngx_http_symbolicate_use_t         use;
    ngx_http_symbolicate_source_t     *sources;
    ngx_http_symbolicate_main_conf_t  *smcf;

    if (conf->api == NULL || conf->store == NULL
        || conf->policy.sources == NULL)
    {
        return NGX_OK;
    }

    smcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_symbolicate_module);
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    use.store = conf->store;
    use.server = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    use.location = clcf->name;

    sources = conf->policy.sources->elts;

    for (i = 0; i < conf->policy.sources->nelts; i++) {
        use.source = &sources[i];
        use.ttl = conf->policy.ttl;

        if (sources[i].is_public) {
            use.ttl.absent = conf->policy.ttl_public;
        }

        if (ngx_http_symbolicate_use_add(cf, smcf, &use) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
