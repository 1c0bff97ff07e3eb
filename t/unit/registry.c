/*
 * The table of APIs: names and endpoints are distinct, a path finds its route
 * wherever a location is mounted, and cached texts of different APIs never mix.
 */
#include "api/registry.h"

#include "tap.h"

static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return sym_str(NULL, 0);
}


static double
no_time(void)
{
    return 0;
}


static void
test_rows(void)
{
    static sym_metrics_endpoint_t endpoints[SYM_METRICS_ENDPOINTS];

    sym_api_endpoints(endpoints);

    for (size_t i = 0; sym_apis[i] != NULL; i++) {
        const sym_api_t *api = sym_apis[i];
        unsigned other = sym_api_endpoint(api, NULL);

        ok(sym_api_find(sym_cstr(api->name)) == api, "%s is found by its name",
           api->name);
        ok(strcmp(endpoints[other].api, api->name) == 0
               && endpoints[other].version == NULL,
           "%s counts requests without a route", api->name);
        ok(api->answers[0] != NULL && api->routes[0].suffix != NULL,
           "%s has a path and an answer", api->name);

        for (const sym_api_route_t *r = api->routes; r->suffix != NULL; r++) {
            unsigned e = sym_api_endpoint(api, r);

            ok(strcmp(endpoints[e].api, api->name) == 0
                   && strcmp(endpoints[e].version, r->version) == 0
                   && r->methods != 0,
               "%s %s has counters of its version", api->name, r->suffix);
            ok((r->ops != NULL) == (r->kind == SYM_ROUTE_REQUEST)
                   && (r->read_file != NULL) == (r->kind == SYM_ROUTE_FILE)
                   && (r->text != NULL) == (r->kind == SYM_ROUTE_TEXT)
                   && (api->read_wait != NULL || r->kind != SYM_ROUTE_RESULT),
               "... and the functions of its kind");
        }
    }

    ok(sym_api_find(SYM_STR("klingon")) == NULL, "no such API");
    ok(sym_api_find(SYM_STR("")) == NULL, "no name");
}


static void
test_one_series_a_version(void)
{
    static sym_metrics_endpoint_t e[SYM_METRICS_ENDPOINTS];
    bool is_distinct = true;

    sym_api_endpoints(e);

    for (unsigned i = 0; i < SYM_METRICS_ENDPOINTS; i++) {
        for (unsigned k = 0; k < i && e[i].api != NULL; k++) {
            is_distinct =
                is_distinct
                && (e[k].api == NULL || strcmp(e[i].api, e[k].api) != 0
                    || (e[i].version == NULL) != (e[k].version == NULL)
                    || (e[i].version != NULL
                        && strcmp(e[i].version, e[k].version) != 0));
        }
    }

    ok(is_distinct, "no two counters have the same labels");
}


typedef struct {
    const char *api, *base, *path; /* base NULL: a regular expression */
    const char *version;           /* NULL: not accepted */
} path_case_t;

static void
test_paths(void)
{
    static const path_case_t cases[] = {
        { "tecken", "", "/v5", "5" },
        { "tecken", "", "/v4", "4" },
        { "tecken", "", "/symbolicate/v5", "5" },
        { "tecken", "", "/", NULL },
        { "tecken", "", "/v6", NULL },
        { "tecken", "", "v5", NULL },
        { "tecken", "", "", NULL },
        { "tecken", "", "/a/v5", NULL },
        { "tecken", "", "/a/symbolicate/v5", NULL },
        { "tecken", "/a", "/a/v4", "4" },
        { "tecken", "/a", "/a/symbolicate/v4", "4" },
        { "tecken", "/a", "/a/b/symbolicate/v4", NULL },
        { "tecken", "/a", "/a/v5/", NULL },
        { "tecken", "/a/v5", "/a/v5", "5" },
        { "tecken", "/a/symbolicate", "/a/symbolicate/v5", "5" },
        { "tecken", "/a/sym", "/a/symbolicate/v5", "5" },
        { "tecken", "/a/symbolicate/v5", "/a/symbolicate/v5", "5" },
        { "tecken", NULL, "/any/where/symbolicate/v5", "5" },
        { "tecken", NULL, "/any/where/v5", NULL },
        { "atos", "/atos", "/atos", "1" },
        { "atos", "/x", "/x", "1" },
        { "atos", "/x", "/x/", "1" },
        { "atos", "/x", "/x/atos", "1" },
        { "atos", "/x", "/x/other", NULL },
        { "atos", "/x", "/x/y/atos", NULL },
        { "atos", NULL, "/what/ever", "1" },
        { "profiler", "", "/source/v1", "source" },
        { "profiler", "", "/asm/v1", "asm" },
        { "profiler", "", "/source/v2", NULL },
        { "profiler", "", "/source/v1/", NULL },
        { "profiler", "/p", "/p/source/v1", "source" },
        { "profiler", "/source", "/source/v1", "source" },
        { "profiler", NULL, "/any/where/asm/v1", "asm" },
        { "profile", "", "/symbolicate/profile", "pprof" },
        { "profile", "/symbolicate", "/symbolicate/profile", "pprof" },
        { "profile", "/p", "/p/profile", NULL },
        { "peer", "/_peer", "/_peer/artifact", "1" },
        { "files", "", "/buildid/ab/debuginfo", "buildid" },
        { "files", "/d", "/d/buildid/", "buildid" },
        { "files", "", "/buildid", "symbols" },
        { "files", "", "/api/syminfo/a/1", "syminfo" },
        { "files", "/d", "/d/api/syminfo/a/1", "syminfo" },
        { "files", "", "/metadata", "metadata" },
        { "files", "/d", "/d/metadata", "metadata" },
        { "files", "", "/metadata/a", "symbols" },
        { "files", "/d", "/d/a/b/c", "symbols" },
        { "sentry", "", "/symbolicate", "native" },
        { "sentry", "", "/symbolicate-js", "js" },
        { "sentry", "", "/requests", NULL },
        { "sentry", "", "/requests/", "requests" },
        { "sentry", "", "/requests/a/b", "requests" },
        { "sentry", "", "/a/requests/b", NULL },
        { "sentry", "/a", "/a/requests/b", "requests" },
        { "sentry", "/a/req", "/a/requests/b", "requests" },
        { "sentry", "/requests", "/requests/b", "requests" },
        { "sentry", NULL, "/any/requests/b", "requests" },
        { "sentry", "", "/healthcheck", "healthcheck" },
        { "sentry", "", "/healthcheck/", NULL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const path_case_t *c = &cases[i];
        const sym_api_location_t at = {
            .has_base = c->base != NULL,
            .base = sym_cstr(c->base != NULL ? c->base : ""),
        };
        const sym_api_route_t *r = sym_api_route(sym_api_find(sym_cstr(c->api)),
                                                 &at, sym_cstr(c->path));

        ok(r == NULL || c->version == NULL
               ? r == NULL && c->version == NULL
               : strcmp(r->version, c->version) == 0,
           "%s below %s: %s", c->api,
           c->base != NULL ? c->base : "a regular expression", c->path);
    }
}


static void
test_root(void)
{
    const sym_api_location_t root = { .has_base = true,
                                      .is_root = true,
                                      .base = SYM_STR("") };
    const sym_api_route_t *r =
        sym_api_route(&sym_tecken_api, &root, SYM_STR("/"));

    ok(r != NULL && strcmp(r->version, "4") == 0, "location = / is v4's");
}


static void
test_content_types(void)
{
    const sym_api_route_t any = { .suffix = "/" },
                          json = { .suffix = "/",
                                   .accepts = "application/json" };
    const sym_api_t *atos = &sym_atos_api;

    ok(sym_api_accepts(&any, sym_str(NULL, 0)), "any type: none");
    ok(!sym_api_accepts(&json, sym_str(NULL, 0)), "a type: none");
    ok(sym_api_accepts(&json, SYM_STR("Application/JSON; charset=utf-8")),
       "parameters and case do not count");
    ok(sym_api_accepts(&json, SYM_STR("application/problem+JSON;x=y")),
       "types with the same suffix");
    ok(!sym_api_accepts(&json, SYM_STR("application/json5")), "another type");
    ok(!sym_api_accepts(&json, SYM_STR("application/+json")), "no type");
    ok(!sym_api_accepts(&json, SYM_STR("text/problem+json")),
       "the same suffix, but not application/");
    ok(!sym_api_accepts(&json, SYM_STR("")), "an empty type");

    is_u64(sym_api_answer(atos, sym_str(NULL, 0)), 0, "no Accept: the first");
    is_u64(sym_api_answer(atos, SYM_STR("*/*")), 0, "any: the first");
    is_u64(sym_api_answer(atos, SYM_STR("TEXT/Plain;q=1")), 1, "the second");
    is_u64(sym_api_answer(atos, SYM_STR("text/plain, application/json")), 0,
           "both: the first");
    is_u64(sym_api_answer(atos, SYM_STR("text/plai")), 0, "neither: the first");
    is_u64(sym_api_answer(&sym_tecken_api, SYM_STR("text/plain")), 0,
           "a type that exists");
}


static void
test_cache_tags(void)
{
    const sym_request_options_t options = { .now_s = no_time };
    uint32_t tags[SYM_METRICS_ENDPOINTS];
    bool is_distinct = true;
    unsigned n = 0;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    for (unsigned i = 0; sym_apis[i] != NULL; i++) {
        const sym_api_call_t call = { .route = sym_apis[i]->routes,
                                      .body = SYM_STR("{}"),
                                      .header = no_header };
        sym_request_t *r;

        if (call.route->kind != SYM_ROUTE_REQUEST) {
            continue; /* it has no requests */
        }

        r = sym_api_create(sym_apis[i], &arena, &options, &call);
        ok(r != NULL
               && (r->cache_tag & ((1u << SYM_REQUEST_FORM_BITS) - 1)) == 0,
           "%s has a tag, with room for its own forms", sym_apis[i]->name);
        tags[n] = r != NULL ? r->cache_tag : 0;
        for (unsigned k = 0; k < n; k++) {
            is_distinct = is_distinct && tags[k] != tags[n];
        }
        n++;
    }

    ok(n >= 2 && is_distinct, "each another");
    sym_arena_drop(&arena);
}


int
main(void)
{
    test_rows();
    test_one_series_a_version();
    test_paths();
    test_root();
    test_content_types();
    test_cache_tags();
    return done_testing();
}
