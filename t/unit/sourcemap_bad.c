/*
 * Source maps that no compiler writes: t/bad/sourcemap/CASE/input must fail with
 * exactly the text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_sourcemap;
    bad_cases("t/bad/sourcemap", 28, bad_format_case);
    return done_testing();
}
