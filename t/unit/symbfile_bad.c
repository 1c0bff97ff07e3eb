/*
 * Symbfiles that break the format's rules: t/bad/symbfile/CASE/input must fail
 * with exactly the text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_symbfile;
    bad_cases("t/bad/symbfile", 33, bad_format_case);
    return done_testing();
}
