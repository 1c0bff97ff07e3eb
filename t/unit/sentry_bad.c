/*
 * Requests of Sentry's API that must be refused: t/bad/sentry/CASE/input with
 * exactly the error in .../error, by both readers and in slices of any size.
 * Also integers that must be accepted.
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


/* Addresses that are integers, as Symbolicator's HexValue reads them: 64 bits,
 * and negative ones as two's complement. */
static void
test_integers(void)
{
    static const char *const cases[][2] = {
        { "18446744073709551615", "0xffffffffffffffff" },
        { "-1", "0xffffffffffffffff" },
        { "9223372036854775808", "0x8000000000000000" },
        { "-9223372036854775808", "0x8000000000000000" },
        { "9223372036854775807", "0x7fffffffffffffff" },
        { "0", "0x0" },
    };
    static const sym_request_limits_t limits = { 0 };

    for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        char body[128], want[128];
        kit_result_t r;

        (void) snprintf(
            body, sizeof(body),
            "{\"stacktraces\": [{\"frames\": [{\"instruction_addr\": "
            "%s}]}]}",
            cases[i / 2][0]);
        (void) snprintf(want, sizeof(want), "\"instruction_addr\": \"%s\"",
                        cases[i / 2][1]);
        r = kit_sentry_answer(&limits, sym_cstr(body), i % 2 == 1, 0, 0);
        ok(r.status == SYM_OK
               && memmem(r.text, r.len, want, strlen(want)) != NULL,
           "%s is %s", cases[i / 2][0], cases[i / 2][1]);
        free(r.text);
    }
}


int
main(void)
{
    test_integers();
    bad_cases("t/bad/sentry", 40, test_case);
    return done_testing();
}
