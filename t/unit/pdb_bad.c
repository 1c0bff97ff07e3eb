/*
 * PDBs that no linker should write: t/bad/pdb/CASE/input must fail with exactly
 * the text in .../error when it is converted.
 */
#include "bad_formats.h"

int
main(void)
{
    bad_format = SYM_CONVERSION_pdb;
    bad_cases("t/bad/pdb", 36, bad_format_case);
    return done_testing();
}
