/*
 * clock.c - preloaded: moves the system clock by the seconds in a file.
 *
 * SYM_CLOCK names the file, eight bytes that may change at any time.  The
 * monotonic clock is not moved, as on a real machine.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t *shift;
static int (*next)(clockid_t clock, struct timespec *ts);


__attribute__((constructor)) static void
prepare(void)
{
    const char *name = getenv("SYM_CLOCK");
    int fd = name != NULL ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *p = MAP_FAILED;

    if (fd >= 0) {
        p = mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
    }

    next = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT,
                                                         "clock_gettime");
    shift = p != MAP_FAILED ? p : NULL;
}


int
clock_gettime(clockid_t clock, struct timespec *ts)
{
    int rc = next(clock, ts);

    if (rc == 0 && shift != NULL
        && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    {
        ts->tv_sec += (time_t) *shift;
    }

    return rc;
}


int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;
    int rc = clock_gettime(CLOCK_REALTIME, &ts);

    (void) zone;
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return rc;
}


time_t
time(time_t *t)
{
    struct timespec ts;

    (void) clock_gettime(CLOCK_REALTIME, &ts);
    if (t != NULL) {
        *t = ts.tv_sec;
    }

    return ts.tv_sec;
}
