/*
 * now.h - time on the monotonic clock.
 */
#ifndef SYMLOADER_COMMON_NOW_H
#define SYMLOADER_COMMON_NOW_H

#include <stdint.h>
#include <time.h>

static inline int64_t
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


static inline int64_t
now_ms(void)
{
    return now_ns() / 1000000;
}

#endif
