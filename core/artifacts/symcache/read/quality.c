#include "artifacts/symcache/format.h"


const char *
sym_quality_name(unsigned quality)
{
    static const char *const names[] = { "empty", "publics", "functions",
                                         "lines", "lines and inlines" };

    return quality < sizeof(names) / sizeof(names[0]) ? names[quality]
                                                      : "unknown";
}
