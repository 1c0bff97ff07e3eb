/*
 * Which origins may receive the headers for source links: the results of
 * Symbolicator's own tests (symbolicator-service, utils/http.rs) that have an
 * http URL, and how its matching treats paths.
 */
#include "base/text.h"
#include "sources/guard/origins.h"
#include "tap.h"

static void
test(const char *text, const char *pattern, bool want)
{
    sym_arena_t arena;
    sym_str_t patterns[2] = { SYM_STR("other.org"), sym_cstr(pattern) };
    sym_error_t err = { 0 };
    sym_url_t url;

    sym_arena_init(&arena, 0);
    ok(sym_url_read(&arena, sym_cstr(text), &url, &err) == SYM_OK
           && sym_origins_have(patterns, 2, &url, sym_cstr(text)) == want,
       "%s%s: %s", pattern, want ? "" : ", not", text);
    sym_arena_drop(&arena);
}


int
main(void)
{
    test("http://example.com", "*", true);
    test("http://example.com", "*.example.com", true);
    test("http://example.com:80", "*.example.com", true);
    test("http://foo.example.com", "*.example.com", true);
    test("http://foo.example.com:80", "*.example.com", true);
    test("http://foo.com", "*.example.com", false);
    test("http://foo.example.com/foo/bar", "*.example.com", true);
    test("http://example.com", "example.com", true);
    test("http://example.com/foo/bar", "example.com", true);
    test("http://example.com:80", "example.com", true);
    test("http://example.com:80", "example.com:80", true);
    test("http://example.com:80", "example.com:443", false);
    test("http://example.com", "foo.example.com", false);
    test("http://example.com", "http://example.com", true);
    test("https://example.com", "http://example.com", false);
    test("http://example.com:80", "http://example.com", true);
    test("http://example.com/foo/bar", "http://example.com", true);
    test("http://xn--lcalhost-54a", "*.xn--lcalhost-54a", true);
    test("http://xn--lcalhost-54a:80", "xn--lcalhost-54a:80", true);
    test("http://xn--lcalhost-54a", "l\303\266calhost", false);
    test("http://xn--lcalhost-54a", "*.l\303\266calhost", false);
    test("http://example.com", ".", false);
    test("http://example.com:1234", "*:1234", true);

    test("http://example.com:1234", "*:80", false);
    test("https://example.com", "*:443", true);
    test("http://badexample.com", "*.example.com", false);
    test("http://example.com", "*.EXAMPLE.com", true);
    test("http://example.com/a", "http://example.com/", true);
    test("http://example.com/a", "http://example.com/*", true);
    test("http://example.com/a", "http://example.com/a", true);
    test("http://example.com/a/b", "http://example.com/a*", false);
    test("http://example.com:81/a", "example.com:81/", false);
    test("http://example.com:81/", "*.example.com:81", false);
    test("http://example.com", "", false);
    test("http://example.com", "://", false);
    test("http://example.com", "*:", false);

    return done_testing();
}
