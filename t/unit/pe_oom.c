/*
 * Memory runs out while a PE file is converted.
 */
#include "oom_format.h"

int
main(void)
{
    /* with DWARF; with exports and an exception table */
    oom_format(SYM_CONVERSION_pe, "pe", "mingw", 30);
    oom_format(SYM_CONVERSION_pe, "pe", "exports_x86_64", 30);
    return done_testing();
}
