/* Paths, by the examples of symbolic's own tests (symbolic-common, path.rs). */
#include <stdio.h>
#include <stdlib.h>

#include "api/sentry/path.h"
#include "tap.h"

static const char *const clean[][2] = {
    { "/foo/bar/baz/./blah", "/foo/bar/baz/blah" },
    { "/foo/bar/baz/./blah/", "/foo/bar/baz/blah" },
    { "foo/bar/baz/./blah/", "foo/bar/baz/blah" },
    { "foo/bar/baz/../blah/", "foo/bar/blah" },
    { "../../blah/", "../../blah" },
    { "..\\../blah/", "..\\..\\blah" },
    { "foo\\bar\\baz/../blah/", "foo\\bar\\blah" },
    { "foo\\bar\\baz/../../../../blah/", "..\\blah" },
    { "foo/bar/baz/../../../../blah/", "../blah" },
    { "..\\foo", "..\\foo" },
    { "foo", "foo" },
    { "foo\\bar\\baz/../../../blah/", "blah" },
    { "foo/bar/baz/../../../blah/", "blah" },
    { "\\\\foo\\..\\bar", "\\\\bar" },
    { "c:/a/b", "c:\\a\\b" },
    { "", "" },
};

static const char *const names[][2] = {
    { "C:\\a\\b", "b" }, { "C:/a\\b", "b" }, { "\\\\UNC\\a", "a" },
    { "/a/b/c", "c" },   { "a", "a" },       { "a/", "a" },
    { "/a", "a" },       { "", "" },
};


int
main(void)
{
    for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++) {
        sym_str_t path = sym_cstr(clean[i][0]), want = sym_cstr(clean[i][1]);
        char *out = malloc(path.len + 1); /* as large as the result may be */
        sym_str_t got = sym_str(out, sentry_path_clean(path, out));

        if (!ok(sym_str_eq(got, want), "clean: %s", path.data)) {
            printf("#   got %.*s\n", (int) got.len, got.data);
        }
        ok(!sentry_path_is_clean(path) || sym_str_eq(path, want),
           "... a path that counts as clean is clean");
        free(out);
    }

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ok(sym_str_eq(sentry_path_name(sym_cstr(names[i][0])),
                      sym_cstr(names[i][1])),
           "name: %s", names[i][0]);
    }

    return done_testing();
}
