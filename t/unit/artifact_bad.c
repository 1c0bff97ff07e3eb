/*
 * Objects of a fleet's bucket that no node writes: t/bad/artifact/CASE/input must
 * fail with exactly the text in .../error when it is converted.  Checksums are
 * right, except in the cases "..._bit", so that the reader gets as far as the
 * fault.  "symcache_..." are faults in the artifact itself.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_artifact;
    bad_cases("t/bad/artifact", 50, bad_format_case);
    return done_testing();
}
