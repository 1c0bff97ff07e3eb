/*
 * Patterns of paths: the expected results of Symbolicator's own tests
 * (symbolicator-sources, paths.rs), those of the crate that it matches with
 * (glob 0.3, lib.rs), and hostile patterns.
 */
#include "sources/paths/glob.h"
#include "tap.h"

static bool
matches(sym_str_t pattern, sym_str_t name)
{
    uint64_t steps = UINT64_MAX;

    return sym_glob_matches(pattern, name, &steps);
}


static void
test(const char *pattern, const char *name, bool want)
{
    ok(matches(sym_cstr(pattern), sym_cstr(name)) == want, "%s%s: %s", pattern,
       want ? "" : ", not", name);
}


/* Steps of a match of hostile texts, each of one repeated character. */
static uint64_t
steps_of(sym_str_t pattern, char c)
{
    char name[SYM_GLOB_NAME_MAX];
    uint64_t steps = UINT64_MAX;

    memset(name, c, sizeof(name));
    ok(!sym_glob_matches(pattern, sym_str(name, sizeof(name)), &steps),
       "no match");
    return UINT64_MAX - steps;
}


static void
test_case(void)
{
    static const struct {
        const char *pattern, *name;
        bool want;
    } cases[] = {
        { "lib*.so.[0-9]", "libc.so.6", true },
        { "Lib*", "libc.so.6", false },
        { "*[A-Z]", "a", false },
        { "*[A-Z]", "A", true },
        { "a/b", "a\\b", false },
        { "a\\b", "a\\b", true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t steps = UINT64_MAX;

        ok(sym_glob_matches_case(sym_cstr(cases[i].pattern),
                                 sym_cstr(cases[i].name), &steps)
               == cases[i].want,
           "case counts: %s, %s", cases[i].pattern, cases[i].name);
    }
}


static void
test_steps(void)
{
    const uint64_t most = UINT64_C(5) * (SYM_GLOB_MAX + SYM_GLOB_NAME_MAX);
    char stars[SYM_GLOB_MAX], set[SYM_GLOB_MAX];
    uint64_t steps = 10;

    for (size_t i = 0; i < sizeof(stars); i++) {
        stars[i] = i % 2 ? 'a' : '*';
    }
    stars[sizeof(stars) - 1] = 'b';
    memset(set, 'b', sizeof(set));
    set[0] = '*';
    set[1] = '[';
    set[sizeof(set) - 1] = ']';

    ok(steps_of(sym_str(stars, sizeof(stars)), 'a') <= most, "many stars");
    ok(steps_of(sym_str(set, sizeof(set)), 'a') >= most / 2,
       "all characters of a set count");
    ok(steps_of(SYM_STR("*?b"), '\x80') <= most, "an unterminated set");

    ok(!sym_glob_matches(SYM_STR("*abcdefghijkl"), SYM_STR("abcdefghijkl"),
                         &steps)
           && steps == 0,
       "no character is left: no match");
}


int
main(void)
{
    static const char *const bad[] = { "[",     "[a",    "a**b", "***",
                                       "a/**b", "a**/b", "[!]",  "[]" };
    static const char *const good[] = {
        "", "*", "**", "a/**/b", "a/**", "**/b", "[]]", "[!]]", "[a-z]x", "a]b"
    };
    static const char *const electron[] = {
        ("C:\\Program "
         "Files\\WindowsApps\\91750D7E.Slack_4.35.126.0_x64__"
         "8she8kybcnzg4\\app\\Slack.exe"),
        ("/Applications/Program.app/Contents/Frameworks/Slack Helper "
         "(GPU).app/Contents/MacOS/Slack Helper (GPU)"),
        "/Applications/Program.app/Contents/MacOS/Slack",
    };
    char name[SYM_GLOB_NAME_MAX + 1];

    test("c:/windows/*", "C:\\Windows\\System32\\kernel32.dll", true);
    test("?:/windows/*", "C:\\Windows\\System32\\kernel32.dll", true);
    test("d:/windows/**", "C:\\Windows\\System32\\kernel32.dll", false);
    test("c:/windows/**", "C:\\Windows\\System32\\kernel32.dll", true);
    test("*libGLESv2*", "C:\\Users\\x\\app-5.23\\libglesv2.dll", true);
    test("*vk_swiftshader*", "vk_swiftshade.dll", false);
    for (size_t i = 0; i < sizeof(electron) / sizeof(electron[0]); i++) {
        test("*slack*", electron[i], true);
    }

    test("a*b*c", "abc", true);
    test("a*b*c", "a_b_c", true);
    test("a*b*c", "abcd", false);
    test("abc*abc*abc", "abcabcabcabcabcabcabc", true);
    test("abc*abc*abc", "abcabcabcabcabcabcabca", false);
    test("*hello.txt", "gareth_says_hello.txt", true);
    test("*hello.txt", "hello.txt", true);
    test("*hello.txt", "hello.txt-and-then-some", false);
    test("some/**/needle.txt", "some/needle.txt", true);
    test("some/**/needle.txt", "some/one/needle.txt", true);
    test("some/**/needle.txt", "some/one/two/needle.txt", true);
    test("some/**/needle.txt", "some/other/notthis.txt", false);
    test("some/**/needle.txt", "some/oneneedle.txt", false);
    test("**/test", "one/two/test", true);
    test("**/test", "one/test", true);
    test("**/test", "test", true);
    test("**/test", "onetest", false);
    test("a[0-9]b", "a5b", true);
    test("a[0-9]b", "aab", false);
    test("a[!0-9]b", "a_b", true);
    test("a[!0-9]b", "a4b", false);
    test("[a-cX-Z]?", "x\xc3\xa4", true);
    test("[!]]", "]", false);
    test("[]-]", "-", true);
    test("", "", true);
    test("", "a", false);
    test("*", "", true);
    test("?", "", false);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!sym_glob_is_pattern(sym_cstr(bad[i])), "no pattern: %s", bad[i]);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ok(sym_glob_is_pattern(sym_cstr(good[i])), "a pattern: %s", good[i]);
    }

    test_case();
    test_steps();
    memset(name, 'a', sizeof(name));
    ok(!matches(SYM_STR("*"), sym_str(name, SYM_GLOB_NAME_MAX + 1)),
       "a name beyond the limit");
    return done_testing();
}
