/*
 * Names that regular expressions rewrite: the rules are those in Rust's
 * documentation of Regex::replace() and Captures::expand().  Hostile
 * expressions end in bounded time and memory.
 */
#include "base/rewrite.h"

#include <time.h>

#include "tap.h"

static void
check(const char *from, const char *to, const char *name, const char *want)
{
    const sym_rewrite_t rule = { sym_cstr(from), sym_cstr(to) };
    sym_arena_t arena;
    sym_str_t out = SYM_STR("");
    sym_status_t rc;

    sym_arena_init(&arena, 16 << 20);
    rc = sym_rewrite(&arena, &rule, sym_cstr(name), &out);
    ok(want != NULL ? rc == SYM_OK && sym_str_eq(out, sym_cstr(want))
                    : rc == SYM_NOT_FOUND,
       "%s of %s to %s: %.*s", from, name, to, (int) out.len, out.data);
    sym_arena_drop(&arena);
}


static void
check_bad(const char *from)
{
    const sym_rewrite_t rule = { sym_cstr(from), SYM_STR("") };
    sym_arena_t arena;
    sym_str_t why = SYM_STR("");
    sym_status_t rc;

    sym_arena_init(&arena, 16 << 20);
    rc = sym_rewrite(&arena, &rule, SYM_STR("abc"), &why);
    ok(rc == SYM_MALFORMED && why.len != 0, "%s is none: %.*s", from,
       (int) why.len, why.data);
    sym_arena_drop(&arena);
}


/* The longest expression and replacement in a request. */
static void
check_hostile(const char *part, const char *subject)
{
    char from[SYM_REWRITE_TEXT_MAX + 1] = "", name[sizeof(from)] = "";
    sym_rewrite_t rule = { { from, 0 }, SYM_STR("$0$0$0") };
    struct timespec before, after;
    sym_arena_t arena;
    sym_str_t out = SYM_STR("");
    double s;

    while (strlen(from) + strlen(part) < sizeof(from)) {
        strcat(from, part);
    }
    while (strlen(name) + strlen(subject) < sizeof(name)) {
        strcat(name, subject);
    }
    rule.from = sym_cstr(from);

    sym_arena_init(&arena, 16 << 20);
    (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    (void) sym_rewrite(&arena, &rule, sym_cstr(name), &out);
    (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    s = (double) (after.tv_sec - before.tv_sec)
        + 1e-9 * (double) (after.tv_nsec - before.tv_nsec);
    ok(s < 1 && arena.taken < 8 << 20, "%.20s...: %.1f ms, %zu KiB", from,
       s * 1e3, arena.taken >> 10);
    sym_arena_drop(&arena);
}


int
main(void)
{
    check("b", "x", "abcb", "axcb");
    check("^b", "x", "abcb", NULL);
    check("^(?P<d>.*)/(c|cpp|rs)-(O\\d).*$", "$d/renamed-$3", "/t/bin/c-O0",
          "/t/bin/renamed-O0");
    check("(?<first>a)(b)?", "[${first}1-$2-$9-$none]", "ac", "[a1---]c");
    check("a", "$$1$", "a", "$1$");
    check("(a)", "$1b", "a", "");
    check("(a)", "${1}b", "a", "ab");
    check("a", "${", "a", "${");
    check("", "x", "ab", "xab");
    check("a$", "x", "a\n", NULL);
    check("\\w+$", "x", "caf\xc3\xa9", "x");
    check("b", "x",
          "a\xff"
          "bc",
          "a\xffxc");

    check_bad("(");
    check_bad("[");
    check_bad("a{2,1}");
    check_bad("\\C");

    check_hostile("(a*)*", "a");
    check_hostile("(a|a)*", "a");
    check_hostile("(.*)", "ab");
    check_hostile("((a{60}){60}){60}", "a");
    check_hostile("(?=", "a");
    check_hostile("a?", "a");
    check_hostile("(.*?,){11}", ",a");
    check_hostile("(?:x+x+)+y", "x");
    check_hostile("\\p{L}*", "\xc3\xa9");
    check_hostile("(?<=a{1,200})", "a");
    check_hostile("(?R)?a", "a");
    return done_testing();
}
