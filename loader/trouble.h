/*
 * trouble.h - a line in the log about trouble that may come a thousand times.
 *
 * The first is told at once, the next a minute later at the earliest, with how
 * many there were in between.
 */
#ifndef SYMLOADER_TROUBLE_H
#define SYMLOADER_TROUBLE_H

#include <stdint.h>

typedef struct {
    const char *subject; /* static text */
    int64_t quiet_until_ms;
    uint64_t held; /* that were not told */
} trouble_t;

void trouble_tell(trouble_t *t, int64_t now, const char *text);

#endif
