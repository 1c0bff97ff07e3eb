/*
 * Memory runs out while a source map is converted.
 */
#include "oom_format.h"

int
main(void)
{
    /* with texts, functions, escapes, and tokens out of order */
    oom_format(SYM_CONVERSION_sourcemap, "sourcemap", "functions", 10);
    oom_format(SYM_CONVERSION_sourcemap, "sourcemap", "unsorted", 10);
    return done_testing();
}
