/*
 * Any bytes as the sources of a request.  An accepted source must have a scope
 * that the store accepts, a path for a file unless a list is fetched first, and
 * the same path as a copy.
 */
#include "check.h"
#include "json/load.h"
#include "sources/request/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_source(sym_arena_t *arena, const sym_request_source_t *s,
             const sym_request_source_t *copy)
{
    static const sym_url_t storage = { .is_https = true,
                                       .port = 443,
                                       .host = { "storage.test", 12 },
                                       .path = { "/", 1 } };
    sym_str_t path = SYM_STR("a%2B/b"), key = SYM_STR("a+/b");
    sym_error_t err = { 0 };
    sym_request_source_place_t place, again;
    sym_status_t rc;

    check(s->scope.len > 0 && s->scope.len <= SYM_SCOPE_MAX);
    check(sym_str_eq(s->scope, copy->scope) && s->type == copy->type);
    if (s->type == SYM_REQUEST_SOURCE_SENTRY) {
        return;
    }

    rc = sym_request_source_place(arena, s, &storage, path, key, &place, &err);
    check(
        sym_request_source_place(arena, copy, &storage, path, key, &again, &err)
        == rc);
    if (rc == SYM_OK) {
        check(sym_str_eq(place.shown, again.shown));
        check(sym_str_eq(place.url.host, again.url.host));
        check((place.file.len > 0)
              == (s->type == SYM_REQUEST_SOURCE_FILESYSTEM));
    }
}


static void
check_list(sym_arena_t *arena, const json_t *list)
{
    sym_request_source_realm_t realm = { SYM_STR("scope"), SYM_STR("policy") };
    sym_str_t message = { NULL, 0 };
    sym_request_sources_t given, copy;
    sym_status_t rc =
        sym_request_sources_read(arena, list, &realm, &given, &message);

    if (rc != SYM_OK) {
        check(rc == SYM_NOMEM || message.len > 0);
        return;
    }

    if (sym_request_sources_copy(arena, &given, &copy)) {
        check(copy.n == given.n);
        for (uint32_t i = 0; i < given.n; i++) {
            check_source(arena, &given.sources[i], &copy.sources[i]);
        }
        sym_request_sources_wipe(&copy);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_json_t json;

    sym_arena_init(&arena, (size_t) 16 << 20);
    if (sym_json_load(&json, sym_str((const char *) data, size),
                      (size_t) 16 << 20, JSON_ALLOW_NUL, "not JSON", &err)
        == SYM_OK)
    {
        check_list(&arena, json.root);
    }

    sym_json_drop(&json);
    sym_arena_drop(&arena);
    return 0;
}
