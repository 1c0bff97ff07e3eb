/*
 * log_limiter.h - a line in the log about trouble that may come a thousand times.
 *
 * The first is told at once, the next a minute later at the earliest, with how
 * many there were in between.
 */
#ifndef SYMLOADER_COMMON_LOG_LIMITER_H
#define SYMLOADER_COMMON_LOG_LIMITER_H

#include <stdint.h>

typedef struct {
    const char *subject; /* static text */
    int64_t quiet_until_ms;
    uint64_t held; /* that were not told */
} log_limiter_t;

void log_limiter_tell(log_limiter_t *t, int64_t now, const char *text);

#endif
