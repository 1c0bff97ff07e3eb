/*
 * Posts that are not events, or only claim to be: t/bad/events/CASE/input must
 * fail with exactly the text in .../error, and name no module.
 */
#include "bad_cases.h"
#include "sources/events/s3_events.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_s3_events_t out;
    sym_error_t err = { 0 };
    sym_arena_t arena;
    char text[256];

    sym_arena_init(&arena, 0);
    (void) sym_s3_events_read(&arena, in, &out, &err);
    (void) sym_error_text(&err, text, sizeof(text));
    if (!ok(sym_str_eq(sym_cstr(text), want), "%s", name)) {
        printf("#   got '%s', want '%.*s'\n", text, (int) want.len, want.data);
    }
    ok(out.n_keys == 0 && out.keys == NULL, "... no events");
    sym_arena_drop(&arena);
}


int
main(void)
{
    bad_cases("t/bad/events", 27, test_case);
    return done_testing();
}
