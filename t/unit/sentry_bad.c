/*
 * Requests of Sentry's API that must be refused: t/bad/sentry/CASE/input with
 * exactly the sentence in .../error, by both readers and in slices of any size.
 */
#include "bad_cases.h"
#include "sentry_kit.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    static const sym_request_limits_t limits = { 0, 2, 3, 2 };

    for (unsigned i = 0; i < 3; i++) {
        kit_result_t r = kit_sentry_answer(&limits, in, i == 2, i, 0);

        if (!ok((r.status == SYM_MALFORMED || r.status == SYM_LIMIT)
                    && sym_str_eq(sym_str(r.text, r.len), want),
                "%s (%u)", name, i))
        {
            printf("#   got '%s', want '%.*s'\n", r.text, (int) want.len,
                   want.data);
        }
        free(r.text);
    }
}


int
main(void)
{
    bad_cases("t/bad/sentry", 40, test_case);
    return done_testing();
}
