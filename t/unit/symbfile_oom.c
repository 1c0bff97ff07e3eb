/*
 * Memory runs out while a symbfile is converted.
 */
#include "oom_format.h"

int
main(void)
{
    /* ranges with lines and calls, and return pads */
    oom_format(SYM_CONVERSION_symbfile, "symbfile", "nested", 30);
    return done_testing();
}
