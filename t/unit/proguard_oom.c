/*
 * Memory runs out while a mapping is converted.
 */
#include "oom_format.h"

int
main(void)
{
    oom_format(SYM_CONVERSION_proguard, "jvm", "r8", 10);
    return done_testing();
}
