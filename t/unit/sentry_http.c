/*
 * Symbolicator's errors, word for word, and its query.
 */
#include "tap.h"
#include "api/sentry/http.h"

typedef struct {
    unsigned status;
    const char *title, *description, *type, *body;
} error_case_t;


static void
test_errors(void)
{
    static const char plain[] = "text/plain; charset=utf-8";
    static const error_case_t cases[] = {
        { 400, "no JSON: line 1", "", plain, "no JSON: line 1" },
        { 404, "404 Not Found", "", plain, "" },
        { 404, "404 Not Found", "not here", plain, "not here" },
        { 405, "405 Method Not Allowed", "", plain, "" },
        { 413, "413 Request Entity Too Large", "", plain,
          "Failed to buffer the request body: length limit exceeded" },
        { 413, "too many frames", "", plain, "too many frames" },
        { 415, "415 Unsupported Media Type", "Expected another", plain,
          "Expected another" },
        { 422, "wrong \"shape\"", "", plain, "wrong \"shape\"" },
        { 500, "500 Internal Server Error", "", "application/json",
          "{\"detail\": \"500 Internal Server Error\"}" },
        { 503, "503 Service Unavailable", "the \"store\"", "application/json",
          "{\"detail\": \"the \\\"store\\\"\"}" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const error_case_t *c = &cases[i];
        const sym_api_error_t error = {
            .status = c->status,
            .title = sym_cstr(c->title),
            .description = sym_cstr(c->description),
        };
        char text[256];
        sym_out_t out = sym_out_fixed(text, sizeof(text));

        is_str(sym_cstr(sentry_write_error(&error, &out)), c->type,
               "content type");
        is_str(sym_str(text, (size_t) (out.pos - text)), c->body, "body");
    }
}


typedef struct {
    const char *query, *refusal;
    bool has_timeout;
    uint64_t timeout_s;
} query_case_t;


static void
test_queries(void)
{
#define NO "Failed to deserialize query string: "
    static const query_case_t cases[] = {
        { "", NULL, false, 0 },
        { "timeout=5", NULL, true, 5 },
        { "timeout=0&scope=1", NULL, true, 0 },
        { "scope=a%26timeout=b&timeout=7", NULL, true, 7 },
        { "&&timeout=7&", NULL, true, 7 },
        { "%74imeout=%37", NULL, true, 7 },
        { "timeout=%2B7", NULL, true, 7 },
        { "timeouts=x&time=1", NULL, false, 0 },
        { "timeout=18446744073709551615", NULL, true, UINT64_MAX },
        { "timeout=18446744073709551616",
          NO "timeout: number too large to fit in target type", false, 0 },
        { "timeout=", NO "timeout: cannot parse integer from empty string",
          false, 0 },
        { "timeout", NO "timeout: cannot parse integer from empty string",
          false, 0 },
        { "timeout=5s", NO "timeout: invalid digit found in string", false, 0 },
        { "timeout=-1", NO "timeout: invalid digit found in string", false, 0 },
        { "timeout=+7", NO "timeout: invalid digit found in string", false, 0 },
        { "timeout=1.5", NO "timeout: invalid digit found in string", false,
          0 },
        { "timeout=1&timeout=2", NO "duplicate field `timeout`", false, 0 },
        { "scope=1&scope=2", NO "duplicate field `scope`", false, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const query_case_t *c = &cases[i];
        const char *refusal;
        sym_api_wait_t wait;
        bool is_read = sentry_read_wait(sym_cstr(c->query), &wait, &refusal);

        if (c->refusal != NULL) {
            ok(!is_read && strcmp(refusal, c->refusal) == 0, "\"%s\": %s",
               c->query, c->refusal);
        } else {
            ok(is_read && wait.has_timeout == c->has_timeout
                   && (!wait.has_timeout || wait.timeout_s == c->timeout_s),
               "\"%s\" is read", c->query);
        }
    }
}


static void
test_scopes(void)
{
    static const struct {
        const char *query, *scope;
    } cases[] = {
        { "", "" },
        { "timeout=5", "" },
        { "scope", "" },
        { "scope=", "" },
        { "timeout=5&scope=a", "a" },
        { "scope=a+b%26c&timeout=5", "a b&c" },
        { "sc%6Fpe=a", "a" },
        { "timeout=scope=b&scope=a", "a" },
        { "scopes=b&xscope=c&&scope=a=b", "a=b" },
        { "scope=%4", "%4" },
        { "scope=%zz", "%zz" },
    };
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        is_str(sentry_read_scope(&arena, sym_cstr(cases[i].query)),
               cases[i].scope, "scope");
    }

    sym_arena_drop(&arena);
}


int
main(void)
{
    test_errors();
    test_queries();
    test_scopes();
    return done_testing();
}
