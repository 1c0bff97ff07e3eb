/*
 * Source bundles that no tool should write: t/bad/sourcebundle/CASE/input must
 * fail with exactly the text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_sourcebundle;
    bad_cases("t/bad/sourcebundle", 14, bad_format_case);
    return done_testing();
}
