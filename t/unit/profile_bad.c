/*
 * Profiles that must be refused: t/bad/profile/CASE/input with exactly the error in
 * .../error, at once and in the smallest slices.
 */
#include "bad_cases.h"
#include "request_kit.h"

#include "api/registry.h"

static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return sym_str(NULL, 0);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    static const uint32_t budgets[] = { UINT32_MAX, 1 };
    const sym_api_t *api = sym_api_find(SYM_STR("profile"));
    const sym_request_options_t options = { .now_s = kit_clock };
    const sym_api_call_t call = { .route = &api->routes[0],
                                  .body = in,
                                  .header = no_header };

    for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
        sym_status_t rc;
        sym_arena_t arena;
        sym_request_t *r;
        sym_str_t got;

        sym_arena_init(&arena, 0);
        r = sym_api_create(api, &arena, &options, &call);

        do {
            rc = sym_request_parse(r, budgets[i]);
        } while (rc == SYM_AGAIN);

        got = sym_request_message(r);
        if (!ok(rc != SYM_OK && sym_str_eq(got, want), "%s, way %zu", name, i))
        {
            printf("#   got %s '%.*s', want '%.*s'\n", sym_status_name(rc),
                   (int) got.len, got.data, (int) want.len, want.data);
        }
        sym_arena_drop(&arena);
    }
}


int
main(void)
{
    bad_cases("t/bad/profile", 56, test_case);
    return done_testing();
}
