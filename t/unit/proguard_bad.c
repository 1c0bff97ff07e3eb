/*
 * Mappings that cannot be used: t/bad/proguard/CASE/input must fail with exactly the
 * text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_proguard;
    bad_cases("t/bad/proguard", 6, bad_format_case);
    return done_testing();
}
