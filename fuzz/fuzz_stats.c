/*
 * Any bytes as the text of STATS.  Statistics that are read must be written
 * again, and then read the same.
 */
#include <string.h>

#include "check.h"
#include "protocol/message.h"
#include "metrics/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[SYM_RPC_TEXT_MAX];
    sym_out_t out = sym_out_fixed(text, sizeof(text));
    sym_loader_stats_t stats, again;

    if (!sym_loader_read(sym_str((const char *) data, size), &stats)) {
        return 0;
    }

    /* incomplete buckets are not cumulative */
    if (!stats.has_seconds) {
        memset(&stats.conversions.seconds, 0,
               sizeof(stats.conversions.seconds));
    }

    sym_loader_write(&stats, &out);
    check(!out.failed);
    check(sym_loader_read(sym_str(text, (size_t) (out.pos - text)), &again));
    check(again.has_ended && again.has_seconds);
    check(memcmp(again.values, stats.values, sizeof(stats.values)) == 0);
    check(memcmp(&again.conversions, &stats.conversions,
                 sizeof(stats.conversions))
          == 0);
    return 0;
}
