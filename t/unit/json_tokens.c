/*
 * JSON read token by token: exactly the texts that jansson reads, from any token on, and
 * in parts of a limited length.
 */
#include <string.h>

#include "json/load.h"
#include "json/tokens.h"
#include "tap.h"

#define FLAGS (JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL)

/* Reads to the end, and writes a letter for each token. */
static sym_status_t
read_all(sym_str_t text, char *letters, size_t size, sym_error_t *err)
{
    static const char names[] = {
        [SYM_JSON_PART] = 'p',   [SYM_JSON_KEY] = 'k',  [SYM_JSON_STRING] = 's',
        [SYM_JSON_NUMBER] = 'n', [SYM_JSON_WORD] = 'w', [SYM_JSON_OPEN] = '(',
        [SYM_JSON_CLOSE] = ')'
    };
    sym_json_tokens_t t = sym_json_tokens(text);
    sym_json_token_t token;
    size_t n = 0;

    while (sym_json_token(&t, &token, err)) {
        if (n + 1 < size) {
            letters[n++] = names[token.type];
        }
    }

    letters[n] = '\0';
    return err->status;
}


/* In a block of its own: a sanitizer sees every byte past it. */
static bool
is_taken(sym_str_t text)
{
    char *copy = malloc(text.len == 0 ? 1 : text.len), letters[64];
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (copy == NULL) {
        abort();
    }

    memcpy(copy, text.data, text.len);
    rc = read_all(sym_str(copy, text.len), letters, sizeof(letters), &err);
    free(copy);
    return rc == SYM_OK;
}


static void
test_as_jansson(void)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "\"a\"",
        "true",
        "false",
        "null",
        "0",
        "-0",
        "-12",
        "18446744073709551616",
        "1.5",
        "-0.25e+10",
        "1E5",
        "1e-99",
        "{\"a\": {\"b\": [1, {\"c\": null}, \"\\u00e9\"]}, \"\": 2}",
        " [ 1 ,\t2, [ ] , { } ] \n",
        "{\"a\": 1, \"a\": 2}",
        "\"\\ud83d\\ude00\"",
        "\"\xe2\x82\xac\"",
        "123456789012345678901234567890",
        "1e00000000000000000001",
        "",
        " ",
        "{",
        "[",
        "}",
        "]",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[]]",
        "{}}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\": 1,}",
        "{a: 1}",
        "{1: 1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "[1}",
        "{\"a\": 1]",
        "01",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "-",
        "nul",
        "True",
        "NaN",
        "1x",
        "[\"\\ud800\"]",
        "\"\\x\"",
        "\"open",
        "\"\\",
        "\"\\u00",
        "\"\t\"",
        "\"\xff\"",
        "\"\xc3\"",
        "1 2",
        "[] []",
        "{\"a\": 1} x",
        "{\"a\",\"b\"}",
        "[\"a\":1]",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const sym_str_t text = sym_cstr(texts[i]);
        json_t *value = json_loadb(text.data, text.len, FLAGS, NULL);

        ok(is_taken(text) == (value != NULL), "as jansson: %s", texts[i]);
        json_decref(value);
    }
}


static void
test_order(void)
{
    char letters[64];
    sym_error_t err = { 0 };

    (void) read_all(SYM_STR(" {\"a\" : [1,\"x\",null, {}] , \"b\":{\"c\":-1}}"),
                    letters, sizeof(letters), &err);
    ok(strcmp(letters, "(k(nsw())k(kn))") == 0, "tokens in their order");

    err = (sym_error_t){ 0 };
    (void) read_all(SYM_STR("[1, 2, x]"), letters, sizeof(letters), &err);
    /*                             ^ 7 */
    ok(err.status == SYM_MALFORMED && err.offset == 7, "the byte of an error");
}


/* A string of `n` characters, which are `unit`. */
static char *
long_string(const char *unit, size_t n, size_t *len)
{
    const size_t unit_len = strlen(unit);
    char *text = malloc(n * unit_len + 3), *p = text;

    if (text == NULL) {
        abort();
    }

    *p++ = '"';
    for (size_t i = 0; i < n; i++, p += unit_len) {
        memcpy(p, unit, unit_len);
    }
    *p++ = '"';
    *len = (size_t) (p - text);
    return text;
}


static void
test_parts(const char *unit)
{
    size_t len, longest = 0, n = 0;
    char *text = long_string(unit, 20000, &len);
    sym_json_tokens_t t = sym_json_tokens(sym_str(text, len));
    sym_json_token_t token, last = { .type = SYM_JSON_PART };
    sym_error_t err = { 0 };
    const char *at = t.p;

    while (sym_json_token(&t, &token, &err)) {
        /* a copy continues, as the structure itself does */
        sym_json_tokens_t copy = t;

        longest = (size_t) (t.p - at) > longest ? (size_t) (t.p - at) : longest;
        at = t.p;
        t = copy;
        last = token;
        n++;
    }

    ok(err.status == SYM_OK && n > 4 && longest <= SYM_JSON_PART_MAX + 16,
       "a long string of %s: %zu parts, %zu bytes", unit, n, longest);
    ok(last.type == SYM_JSON_STRING && last.text.len == len - 2
           && last.has_escapes == (*unit == '\\'),
       "... and all of it");
    free(text);
}


static void
test_limits(void)
{
    char text[2 * SYM_JSON_DEPTH_MAX + 3];
    char *space = malloc(SYM_JSON_SPACE_MAX + 2);

    for (unsigned depth = SYM_JSON_DEPTH_MAX; depth <= SYM_JSON_DEPTH_MAX + 1;
         depth++)
    {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        ok(is_taken(sym_str(text, 2 * (size_t) depth))
               == (depth == SYM_JSON_DEPTH_MAX),
           "%u levels", depth);
    }

    if (space == NULL) {
        abort();
    }

    memset(space, ' ', SYM_JSON_SPACE_MAX + 2);
    space[SYM_JSON_SPACE_MAX - 1] = '1';
    ok(is_taken(sym_str(space, SYM_JSON_SPACE_MAX)), "much white space");
    space[SYM_JSON_SPACE_MAX - 1] = ' ';
    space[SYM_JSON_SPACE_MAX + 1] = '1';
    ok(!is_taken(sym_str(space, SYM_JSON_SPACE_MAX + 2)), "too much");
    free(space);
}


static void
test_keys(void)
{
    static const struct {
        const char *text;
        bool is_equal;
    } cases[] = {
        { "{\"lines\":1}", true },         { "{\"l\\u0069nes\":1}", true },
        { "{\"line\":1}", false },         { "{\"lines\\n\":1}", false },
        { "{\"\\u006cines \":1}", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sym_json_tokens_t t = sym_json_tokens(sym_cstr(cases[i].text));
        sym_error_t err = { 0 };
        sym_json_token_t token;

        (void) sym_json_token(&t, &token, &err);
        (void) sym_json_token(&t, &token, &err);
        ok(sym_json_is(&token, "lines") == cases[i].is_equal, "a key of %s",
           cases[i].text);
    }
}


int
main(void)
{
    test_as_jansson();
    test_order();
    test_parts("x");
    test_parts("\\u00e9");
    test_parts("\\ud83d\\ude00");
    test_parts("\xe2\x82\xac");
    test_parts("\x7f");
    test_limits();
    test_keys();
    return done_testing();
}
