/*
 * Requests that must be refused: t/bad/atos/CASE/input with exactly the error
 * in .../error.
 */
#include "bad_cases.h"
#include "api/atos/atos.h"
#include "request_kit.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_atos_options_t options = { .common.now_s = kit_clock };
    sym_arena_t arena;
    sym_request_t *r;

    sym_arena_init(&arena, 0);
    r = sym_atos_create(&arena, &options, in);

    if (!ok(r != NULL && sym_request_parse(r, 1) == SYM_MALFORMED
                && sym_str_eq(sym_request_message(r), want),
            "%s", name)
        && r != NULL)
    {
        printf("#   got '%.*s', want '%.*s'\n",
               (int) sym_request_message(r).len, sym_request_message(r).data,
               (int) want.len, want.data);
    }

    sym_arena_drop(&arena);
}


int
main(void)
{
    bad_cases("t/bad/atos", 38, test_case);
    return done_testing();
}
