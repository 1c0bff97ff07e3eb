/*
 * Memory runs out while a portable PDB is converted.
 */
#include "oom_format.h"

int
main(void)
{
    /* with lines, texts and links */
    oom_format(SYM_CONVERSION_ppdb, "ppdb", "sources", 10);
    return done_testing();
}
