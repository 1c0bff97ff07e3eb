/*
 * log_limiter.h - log lines for errors that may occur a thousand times.
 *
 * The first error is logged at once.  The next line follows a minute later at
 * the earliest, with the number of errors since the first.
 */
#ifndef SYMLOADER_COMMON_LOG_LIMITER_H
#define SYMLOADER_COMMON_LOG_LIMITER_H

#include <stdint.h>

typedef struct {
    const char *subject; /* static text */
    int64_t quiet_until_ms;
    uint64_t held; /* number of errors not logged */
} log_limiter_t;

void log_limiter_tell(log_limiter_t *t, int64_t now, const char *text);

#endif
