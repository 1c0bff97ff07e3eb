/*
 * JSON read without a tree: jansson must accept whatever this reader accepts,
 * and give the same string.  Input that is refused here may still be JSON; the
 * caller then uses jansson.
 */
#include "json/load.h"
#include "json/member.h"
#include "json/raw.h"
#include "tap.h"

#define FLAGS (JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL)

/* Text in a block of its own, so that nothing before or after it may be
 * read. */
typedef struct {
    char *text;
    const char *end;
} copy_t;


static copy_t
copy_of(sym_str_t text)
{
    copy_t copy = { .text = malloc(text.len == 0 ? 1 : text.len) };

    if (copy.text == NULL) {
        abort();
    }

    memcpy(copy.text, text.data, text.len);
    copy.end = copy.text + text.len;
    return copy;
}


static void
test_string(size_t number, sym_str_t text)
{
    copy_t copy = copy_of(text);
    json_t *value = json_loadb(copy.text, text.len, FLAGS, NULL);
    sym_raw_string_t string;
    const char *end = sym_raw_string(copy.text, copy.end, &string);
    sym_arena_t arena;

    if (value == NULL) {
        ok(end == NULL, "string %zu: refused, as jansson does", number);
    } else {
        sym_str_t decoded = { NULL, 0 };

        sym_arena_init(&arena, 0);
        if (end != NULL) {
            decoded = sym_raw_decode(&arena, &string);
        }
        ok(end == copy.end && decoded.data != NULL
               && sym_str_eq(decoded, sym_str(json_string_value(value),
                                              json_string_length(value))),
           "string %zu: accepted, as jansson does", number);
        sym_arena_drop(&arena);
    }

    json_decref(value);
    free(copy.text);
}


static void
test_strings(void)
{
    static const sym_str_t cases[] = {
#define CASE(literal) { (literal), sizeof(literal) - 1 }
        CASE("\"\""),
        CASE("\"plain\""),
        CASE("\"C:\\\\Windows\\\\System32\\\\ntdll.dll\""),
        CASE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        CASE("\"\\\\\""),
        CASE("\"a string of more than sixteen bytes\\\"\""),
        CASE("\"\\u0000\\u0041\\u00e9\\u07FF\\u0800\\uffff\""),
        CASE("\"\\ud83d\\udE00\""),
        CASE("\"\\ud800\""),
        CASE("\"\\udc00\""),
        CASE("\"\\ud800\\ud800\""),
        CASE("\"\\ud800\\u0041\""),
        CASE("\"\\ud800x\""),
        CASE("\"\\u12\""),
        CASE("\"\\u12g4\""),
        CASE("\"\\x41\""),
        CASE("\"\\U0041\""),
        CASE("\"\\\""),
        CASE("\"open"),
        CASE("\"\\"),
        CASE("\"\\u"),
        CASE("\"\\u0041"),
        CASE("\""),
        CASE(""),
        CASE("\"a\tb\""),
        CASE("\"a\nb\""),
        CASE("\"a\0b\""),
        CASE("\"\x7f\""),
        CASE("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""),
        CASE("\"\\n\xc3\xa9\""),
        CASE("\"\xc3\""),
        CASE("\"\xff\""),
        CASE("\"\xc0\xaf\""),
        CASE("\"\xed\xa0\x80\""),
        CASE("\"\xf4\x90\x80\x80\""),
        CASE("\"\\n\xe9\""),
#undef CASE
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_string(i, cases[i]);
    }
}


/* Returns whether all of the text is accepted; jansson must then accept it,
 * too. */
static bool
is_taken(const char *text, bool is_unique)
{
    copy_t copy = copy_of(sym_cstr(text));
    size_t flags = FLAGS | (is_unique ? JSON_REJECT_DUPLICATES : 0);
    const char *end = is_unique ? sym_raw_unique(copy.text, copy.end)
                                : sym_raw_value(copy.text, copy.end);
    json_t *value = json_loadb(text, strlen(text), flags, NULL);

    if (end == copy.end && value == NULL) {
        ok(false, "jansson refuses it: %s", text);
    }

    json_decref(value);
    free(copy.text);
    return end != NULL && end == copy.end;
}


static void
test_values(void)
{
    static const char *const taken[] = {
        "{}",
        "[]",
        "\"a\"",
        "true",
        "false",
        "null",
        "0",
        "-0",
        "12",
        "-12",
        "18446744073709551615",
        "1.5",
        "-0.25e+10",
        "1E5",
        "1e-99",
        "{\"a\": {\"b\": [1, {\"c\": null}, \"\\u00e9\"]}, \"\": 2}",
        " [ 1 ,\t2, [ ] , { } ]",
        "{\"a\": 1, \"a\": 2}",
    };
    static const char *const refused[] = {
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\": 1,}",
        "{a: 1}",
        "{1: 1}",
        "{\"a\" 1}",
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
        "{\"\\u0000\": 1}",
        "1e999",
        "[1e400]",
        "123456789012345678901234567890", /* that is valid JSON */
    };

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        ok(is_taken(taken[i], false), "taken: %s", taken[i]);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ok(!is_taken(refused[i], false), "refused: %s", refused[i]);
    }
}


static void
test_unique(void)
{
    ok(is_taken("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}", true),
       "the same key in two objects");
    ok(!is_taken("{\"a\": 1, \"b\": 2, \"a\": 3}", true), "a key given twice");
    ok(!is_taken("[{\"x\": {\"a\": 1, \"a\": 3}}]", true),
       "in a nested object");
    ok(!is_taken("{\"a\": 1, \"\\u0061\": 3}", true), "spelled with an escape");
}


/* [[[...]]] */
static bool
takes_depth(unsigned depth)
{
    char text[2 * SYM_RAW_DEPTH_MAX + 3] = "";

    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return is_taken(text, false);
}


static bool
takes_keys(unsigned n)
{
    char text[(SYM_RAW_KEYS_MAX + 1) * 16] = "{", *p = text + 1;

    for (unsigned i = 0; i < n; i++) {
        p += sprintf(p, "%s\"k%u\":1", i == 0 ? "" : ",", i);
    }
    *p = '}';
    return is_taken(text, true);
}


static bool
has_member(const char *object, const char *key, const char *want)
{
    sym_str_t value = sym_json_member(sym_cstr(object), key);

    return want == NULL ? value.data == NULL
                        : sym_str_eq(value, sym_cstr(want));
}


static void
test_members(void)
{
    static const char object[] = " { \"a\" : [1, {\"b\": 2}] , "
                                 "\"b\":\"x\",\"c\" : {\"a\": 3}, \"b\": 4}";

    ok(has_member(object, "a", "[1, {\"b\": 2}]"), "a member: a list");
    ok(has_member(object, "b", "\"x\""), "the first of two");
    ok(has_member(object, "c", "{\"a\": 3}"), "an object");
    ok(has_member(object, "d", NULL), "no such member");
    ok(has_member("{\"a\": [1,], \"b\": 2}", "b", NULL), "after a bad list");
    ok(has_member("{\"a\": [1[2], \"b\": 2}", "b", NULL), "after another");
    ok(has_member("{\"a\": [], \"b\": 2}", "b", "2"), "after an empty list");
    ok(has_member("{\"a\" 1, \"b\": 2}", "b", NULL), "after no value");
    ok(has_member("[\"a\"]", "a", NULL) && has_member("", "a", NULL)
           && has_member("{", "a", NULL),
       "no object");
}


static void
test_items(void)
{
    sym_json_items_t items =
        sym_json_items(SYM_STR(" [ \"a\\u00e9\" , {}, [2]]"));
    sym_arena_t arena;
    sym_str_t item;

    sym_arena_init(&arena, 0);
    ok(sym_json_next(&items, &item)
           && sym_str_eq(sym_json_text(&arena, item), SYM_STR("a\xc3\xa9")),
       "an item: a string");
    ok(sym_json_next(&items, &item) && sym_str_eq(item, SYM_STR("{}"))
           && sym_json_text(&arena, item).data == NULL,
       "an item that is no string");
    ok(sym_json_next(&items, &item) && sym_str_eq(item, SYM_STR("[2]")),
       "the last item");
    ok(!sym_json_next(&items, &item) && !sym_json_next(&items, &item),
       "no further one");
    items = sym_json_items(sym_str(NULL, 0));
    ok(!sym_json_next(&items, &item), "no list");
    sym_arena_drop(&arena);
}


/* Twice as long as a value that raw.h reads in one piece. */
static void
test_long_list(void)
{
    size_t n = SYM_RAW_BYTES_MAX, at = 0;
    char *text = malloc(2 * n + 32);

    if (text == NULL) {
        abort();
    }

    at += (size_t) sprintf(text, "{\"a\": [");
    for (size_t i = 0; i < n; i++) {
        text[at++] = '1';
        text[at++] = ',';
    }
    at += (size_t) sprintf(text + at, "2], \"b\": 3}");
    ok(sym_str_eq(sym_json_member(sym_str(text, at), "b"), SYM_STR("3")),
       "the member after a long list");
    free(text);
}


int
main(void)
{
    test_members();
    test_items();
    test_long_list();
    test_strings();
    test_values();
    test_unique();
    ok(takes_depth(SYM_RAW_DEPTH_MAX) && !takes_depth(SYM_RAW_DEPTH_MAX + 1),
       "a limit of depth");
    ok(takes_keys(SYM_RAW_KEYS_MAX) && !takes_keys(SYM_RAW_KEYS_MAX + 1),
       "a limit of distinct keys");
    return done_testing();
}
