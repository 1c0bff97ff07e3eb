#include "common/log_limiter.h"

#include <inttypes.h>

#include "common/say.h"

#define QUIET_MS 60000

void
log_limiter_tell(log_limiter_t *t, int64_t now, const char *text)
{
    if (now < t->quiet_until_ms) {
        t->held++;
        return;
    }

    if (t->held > 0) {
        complain_about(t->subject, "%s (and %" PRIu64 " times more before)",
                       text, t->held);
    } else {
        complain_about(t->subject, "%s", text);
    }

    t->held = 0;
    t->quiet_until_ms = now + QUIET_MS;
}
