/*
 * Portable PDBs that no compiler writes: t/bad/ppdb/CASE/input must fail with exactly
 * the text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_ppdb;
    bad_cases("t/bad/ppdb", 29, bad_format_case);
    return done_testing();
}
