/*
 * Minidumps that no program writes: t/bad/minidump/CASE/input must fail with
 * exactly the text in .../error when it is converted.  The error texts are
 * Symbolicator's.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_minidump;
    bad_cases("t/bad/minidump", 8, bad_format_case);
    return done_testing();
}
