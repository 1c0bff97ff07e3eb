/*
 * Answers and files that give no AWS keys: t/bad/aws/CASE/input must fail with
 * exactly the text in .../error.  Cases named json_ are answers; the others are
 * shared credentials files, from which the profile "default" is read.
 */
#include "sources/aws/credentials.h"
#include "bad_cases.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_aws_credentials_t keys;
    sym_error_t err = { 0 };
    sym_arena_t arena;
    char text[256];

    sym_arena_init(&arena, 0);
    if (strncmp(name, "json_", 5) == 0) {
        (void) sym_aws_credentials_json(&arena, in, &keys, &err);
    } else {
        (void) sym_aws_credentials_ini(&arena, in, SYM_STR("default"), &keys,
                                       &err);
    }

    (void) sym_error_text(&err, text, sizeof(text));
    if (!ok(sym_str_eq(sym_cstr(text), want), "%s", name)) {
        printf("#   got '%s', want '%.*s'\n", text, (int) want.len, want.data);
    }
    ok(keys.access_key.len == 0 && keys.secret_key.len == 0, "... no keys");

    sym_arena_drop(&arena);
}


int
main(void)
{
    bad_cases("t/bad/aws", 40, test_case);
    return done_testing();
}
