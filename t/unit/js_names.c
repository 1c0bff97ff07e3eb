/*
 * URLs, paths and names of modules in answers for JavaScript.  Events are grouped by
 * them, so they follow Symbolicator's rules (symbolicator-js, utils.rs) where these
 * are odd, too.
 */
#include "api/js/js.h"
#include "tap.h"

static sym_arena_t arena;

static void
test_join(void)
{
    static const struct {
        const char *base, *right, *joined;
    } cases[] = {
        { "https://h.example/a/b.js?v=1", "c.map",
          "https://h.example/a/c.map" },
        { "https://h.example/a/b.js", "/c.map", "https://h.example/c.map" },
        { "https://h.example/a/b.js", "~/c.map", "https://h.example/c.map" },
        { "https://h.example/a/b.js", "//cdn/c.map", "https://cdn/c.map" },
        { "https://h.example/a/b.js", "../../../c.map",
          "https://h.example/c.map" },
        { "https://h.example/a/b.js", "x/./y//c.map",
          "https://h.example/a/x/y/c.map" },
        { "https://h.example/a//b.js", "c.map", "https://h.example/a/c.map" },
        { "https://h.example/a/../b/c.js", "d.map",
          "https://h.example/a/../b/d.map" },
        { "https://h.example/b.js", "/a/../c.map",
          "https://h.example/a/../c.map" },
        { "https://h.example", "c.map", "https://h.example/c.map" },
        { "app:///main.js", "../c.ts", "app:///../c.ts" },
        { "app:///main.js", "./x/./c.ts", "app:///x/./c.ts" },
        { "x://h/a/b.js", "/c.ts", "x://h/c.ts" },
        { "/srv/app/b.js", "../c.ts", "/srv/c.ts" },
        { "file:///srv/b.js", "c.ts", "/srv/c.ts" },
        { "b.js", "c.ts", "/c.ts" },
        { "https://h.example/b.js", "webpack:./c.ts", "webpack:./c.ts" },
        { "https://h.example/b.js", "turbopack:c.ts", "turbopack:c.ts" },
        { "https://h.example/b.js", "ng://core/c.ts", "ng://core/c.ts" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        is_str(
            js_join(&arena, sym_cstr(cases[i].base), sym_cstr(cases[i].right)),
            cases[i].joined, cases[i].base);
    }
}


static void
test_long(void)
{
    static char path[JS_URL_MAX + 2];

    memset(path, 'a', sizeof(path));
    ok(js_join(&arena, SYM_STR("https://h/b.js"), sym_str(path, JS_URL_MAX))
               .data
           == NULL,
       "a URL that is too long is refused");
    ok(js_join(&arena, sym_str(path, sizeof(path)), SYM_STR("c")).data == NULL,
       "nor is one with such a base");
}


static void
test_names(void)
{
    static const struct {
        const char *name, *shown;
        bool is_bundled;
    } cases[] = {
        { "webpack:///./src/a.ts", "./src/a.ts", true },
        { "webpack://my-app_1/./src/a.ts", "./src/a.ts", true },
        { "webpack://my app/./src/a.ts", "webpack://my app/./src/a.ts", true },
        { "webpack://ns/src/a.ts", "webpack://ns/src/a.ts", true },
        { "webpack:///x/~/y/~/a.js", "~/y/~/a.js", true },
        { "turbopack:///[project]/src/a.ts", "src/a.ts", true },
        { "turbopack:///src/a.ts", "src/a.ts", true },
        { "turbopack:///[project]/x/~/a.ts", "~/a.ts", true },
        { "turbopack://src/a.ts", "turbopack://src/a.ts", true },
        { "x/~/a.ts", "x/~/a.ts", false },
        { "src/a.ts", "src/a.ts", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool is_bundled;

        is_str(js_filename(sym_cstr(cases[i].name), &is_bundled),
               cases[i].shown, cases[i].name);
        ok(is_bundled == cases[i].is_bundled, "... of a bundler, or not");
    }
}


static void
test_modules(void)
{
    static const struct {
        const char *path, *module;
    } cases[] = {
        { "https://h.example/cart/view.min.js?v=1#x", "cart/view" },
        { "https://h.example/static/JS/v1.2/_next/cart.js", "cart" },
        { "https://h.example/abcdef0/cart.js", "cart" },
        { "https://h.example/abcdef/cart.js", "abcdef/cart" },
        { "https://h.example/x/0123456789abcdef0123456789abcdef/a/b.js",
          "a/b" },
        { "https://h.example/x/this-part-has-the-length-of-md5s/a/b.js",
          "a/b" },
        { "https://h.example/cart-0123abc.js", "cart" },
        { "https://h.example/cart-012.js", "cart-012" },
        { "https://h.example/.hidden", "" },
        { "https://h.example/js", "js" },
        { "app:///main.js", "main" },
        { "~/a/b.js", "a/b" },
        { "app:main.js", "app:main" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        is_str(js_module_name(sym_cstr(cases[i].path)), cases[i].module,
               cases[i].path);
    }
}


static void
test_stems(void)
{
    static const char *const cases[][2] = {
        { "https://h.example/a/b.min.js?v=1#x", "/a/b" },
        { "https://h.example/a.d.ts", "/a" },
        { "https://h.example/a.css", "/a.css" },
        { "~/a/b.js.map", "/a/b" },
        { "https://h.example", "h.example" },
        { "main.js", "main.js" },
        { "x/main.js", "x/main" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        is_str(js_stem(sym_cstr(cases[i][0])), cases[i][1], cases[i][0]);
    }
}


static void
test_candidates(void)
{
    sym_str_t names[JS_CANDIDATES];

    ok(js_candidates(&arena, SYM_STR("https://h/a.js?v=1#x"), names) == 4,
       "four names of a URL with a query");
    is_str(names[0], "https://h/a.js?v=1", "the URL without its fragment");
    is_str(names[1], "https://h/a.js", "... and without its query");
    is_str(names[2], "~/a.js?v=1", "... of any host");
    is_str(names[3], "~/a.js", "... of any host, without its query");
    ok(js_candidates(&arena, SYM_STR("main.js"), names) == 2,
       "two of one without");
    is_str(names[1], "~main.js", "a path without a folder");
}


int
main(void)
{
    sym_arena_init(&arena, 0);
    test_join();
    test_long();
    test_names();
    test_modules();
    test_stems();
    test_candidates();
    sym_arena_drop(&arena);
    return done_testing();
}
