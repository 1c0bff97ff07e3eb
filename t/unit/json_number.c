/*
 * Numbers of JSON as Rust's serde_json reads them, and as serde's messages show
 * them: a double as Display of f64 does, with ".0" if it is whole (serde's
 * WithDecimalPoint).
 */
#include "json/load.h"
#include "json/number.h"
#include "tap.h"

static void
is_text(const char *text, const char *want)
{
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    is_str(sym_json_integers(&arena, sym_cstr(text), SYM_STR("\"vars\"")), want,
           text);
    sym_arena_drop(&arena);
}


static void
is_real(double value, const char *want)
{
    char out[SYM_JSON_REAL_MAX];
    size_t len = sym_json_real(value, out);

    ok(strlen(out) == len && strcmp(out, want) == 0, "%s", want);
}


/* Numbers that are not large integers do not change. */
static void
test_same(void)
{
    is_text("", "");
    is_text("[0, 1, -1, 9223372036854775807, -9223372036854775808]",
            "[0, 1, -1, 9223372036854775807, -9223372036854775808]");
    is_text("18446744073709551615.5", "18446744073709551615.5");
    is_text("18446744073709551615e0", "18446744073709551615e0");
    is_text("[1.18446744073709551615]", "[1.18446744073709551615]");
    is_text("[1e-0, -0.0, 0]", "[1e-0, -0.0, 0]");
    is_text("\"18446744073709551615\"", "\"18446744073709551615\"");
    is_text("\"\\\"18446744073709551615\"", "\"\\\"18446744073709551615\"");
    is_text("\"18446744073709551615", "\"18446744073709551615");
    is_text("\"\\", "\"\\");
    is_text("-", "-");
    is_text("00000000000000000000001", "00000000000000000000001");
}


static void
test_large(void)
{
    is_text("18446744073709551615", "-1");
    is_text("[9223372036854775808,18446744073709551614]",
            "[-9223372036854775808,-2]");
    is_text("{\"a\": 10000000000000000000}", "{\"a\": -8446744073709551616}");
    is_text("18446744073709551616", "18446744073709551616e0");
    is_text("-9223372036854775809", "-9223372036854775809e0");
    is_text("[-0,-0]", "[-0e0,-0e0]");
}


/* The values of variables are passed. */
static void
test_exact(void)
{
    is_text("{\"vars\": {\"a\": [18446744073709551615], \"b\": -1}, "
            "\"c\": 18446744073709551615}",
            "{\"vars\": {\"a\": [18446744073709551615e0], \"b\": -1}, "
            "\"c\": -1}");
    is_text("{\"vars\":{\"}\":9223372036854775808,\"vars\":{}},"
            "\"c\":9223372036854775808}",
            "{\"vars\":{\"}\":9223372036854775808e0,\"vars\":{}},"
            "\"c\":-9223372036854775808}");
    is_text("{\"v\\u0061rs\" : {\"a\": 18446744073709551615}}",
            "{\"v\\u0061rs\" : {\"a\": 18446744073709551615e0}}");
    is_text("{\"vars\": 18446744073709551615}", "{\"vars\": -1}");
    is_text("{\"vars\": {\"a\": [18446744073709551615",
            "{\"vars\": {\"a\": [18446744073709551615e0");
    is_text("18446744073709551615, \"vars\"", "-1, \"vars\"");
}


static void
test_reals(void)
{
    is_real(0.0, "0.0");
    is_real(-0.0, "-0.0");
    is_real(1.5, "1.5");
    is_real(-0.5, "-0.5");
    is_real(0.05, "0.05");
    is_real(100.0, "100.0");
    is_real(120.25, "120.25");
    is_real(0.1 + 0.2, "0.30000000000000004");
    is_real(1e21, "1000000000000000000000.0");
    is_real(18446744073709551616.0, "18446744073709552000.0");
    is_real(1.7976931348623157e308,
            "179769313486231570000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000.0");
    {
        char out[SYM_JSON_REAL_MAX];

        is_u64(sym_json_real(-4.9406564584124654e-324, out), 3 + 323 + 1,
               "the smallest: a sign, 323 zeros, a 5");
        is_u64(sym_json_real(-2.2250738585072014e-308, out), 3 + 307 + 17,
               "the longest");
    }
}


int
main(void)
{
    test_same();
    test_large();
    test_exact();
    test_reals();
    return done_testing();
}
